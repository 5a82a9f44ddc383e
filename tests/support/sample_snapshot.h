/*
 * A hand-made snapshot with every kind of metric and hostile label values, from collectors "cats"
 * and "dogs", of which "birds" failed and "fish" are absent.
 */
#ifndef TESTS_SUPPORT_SAMPLE_SNAPSHOT_H
#define TESTS_SUPPORT_SAMPLE_SNAPSHOT_H

#include "collectors/collector.h"

struct snapshot_pool *sample_pool(void);

/* The next snapshot of the pool, filled; read now. */
struct snapshot *sample_snapshot(struct snapshot_pool *p);

#endif
