/* A hand-made snapshot with every kind of metric and hostile label values. The collectors "cats"
 * and "dogs" have values, "birds" failed, and "fish" does not apply to the machine. */
#ifndef TESTS_SUPPORT_SAMPLE_SNAPSHOT_H
#define TESTS_SUPPORT_SAMPLE_SNAPSHOT_H

#include "collectors/collector.h"

struct snapshot_pool *sample_pool(void);

/* Takes the next snapshot of the pool, and fills it with the values of the sample and the present
 * time. */
struct snapshot *sample_snapshot(struct snapshot_pool *p);

#endif
