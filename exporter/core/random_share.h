/* Random numbers, and random delays before retries. The delays are random so that clients that fail
 * together do not retry together. */
#ifndef EXPORTER_CORE_RANDOM_SHARE_H
#define EXPORTER_CORE_RANDOM_SHARE_H

/* Returns a random number in 0 <= number < 1. Never blocks. Any thread. */
double random_share(void);

/* Returns the seconds to wait after `failures` failures in a row: a random time between the half
 * and the whole of a delay that begins with `first` and doubles with each failure, up to
 * `longest`. Any thread. */
double retry_delay(unsigned failures, double first, double longest);

#endif
