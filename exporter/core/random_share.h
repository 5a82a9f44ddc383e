/* Random delays: clients that fail together must not retry together. */
#ifndef EXPORTER_CORE_RANDOM_SHARE_H
#define EXPORTER_CORE_RANDOM_SHARE_H

/* Returns a random number from 0 to below 1. Never blocks. Any thread. */
double random_share(void);

#endif
