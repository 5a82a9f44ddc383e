/* Random numbers for retry delays. With random delays, clients that fail together do not retry
 * together. */
#ifndef EXPORTER_CORE_RANDOM_SHARE_H
#define EXPORTER_CORE_RANDOM_SHARE_H

/* Returns a random number in 0 <= number < 1. Never blocks. Any thread. */
double random_share(void);

#endif
