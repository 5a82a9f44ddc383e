/* Random numbers, and random delays before retries. Clients that fail at the same time then retry
 * at different times. */
#ifndef EXPORTER_CORE_RANDOM_SHARE_H
#define EXPORTER_CORE_RANDOM_SHARE_H

/* Returns a random number in 0 <= number < 1. Never blocks. Any thread. */
double random_share(void);

/* Returns how many seconds to wait before the next attempt, after `failures` failures in a row. The
 * delay is `first` after the first failure and doubles with each further one, up to `longest`. The
 * result is random, between half the delay and the whole delay. Any thread. */
double retry_delay(unsigned failures, double first, double longest);

#endif
