/* A hand-made snapshot with every kind of metric and hostile label values. The collectors are
 * "cats" and "dogs", "birds", which failed, and "fish", which is absent. */
#ifndef TESTS_SUPPORT_SAMPLE_SNAPSHOT_H
#define TESTS_SUPPORT_SAMPLE_SNAPSHOT_H

#include "collectors/collector.h"

struct snapshot_pool *sample_pool(void);

/* Fills the next snapshot of the pool, with the present time. */
struct snapshot *sample_snapshot(struct snapshot_pool *p);

#endif
