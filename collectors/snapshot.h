/*
 * The points of one tick. The sampler thread fills it; then it is immutable, shared by all readers
 * through base/latest.h, and recycled when the last reader drops it.
 */
#ifndef COLLECTORS_SNAPSHOT_H
#define COLLECTORS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/clock.h"
#include "collectors/base/latest.h"
#include "collectors/base/mem.h"
#include "collectors/metric.h"

struct collector;
struct run_reading; /* collectors/runs.h */

/* Longest label value in bytes: cut as base/utf8.h says. */
#define LABEL_VALUE_MAX 256

/* Most points of one collector in one tick; more are refused and counted in block.dropped. */
#define BLOCK_POINTS_MAX 100000

struct point {
	const struct point *next;  /* of the same metric, in the order they were added */
	double value;              /* never NaN */
	const char *const *labels; /* as many values as the metric has label names */
};

struct points {
	const struct point *first;
	struct point *last;
};

/* One collector's part of a snapshot. */
struct block {
	const struct collector *collector;
	struct arena *arena;
	struct points *points; /* one list per metric of the collector */
	size_t n_points, dropped;
	bool success;   /* false: it failed, and has no points */
	bool absent;    /* this machine has nothing to measure: no points, no error */
	bool kept_only; /* points of metrics that no history keeps (FOLD_NONE) are left out */
	double duration_seconds;
};

struct snapshot {
	struct shared shared;
	struct snapshot *next_free; /* of the pool it came from */
	struct arena arena;
	uint64_t generation; /* 1, 2, 3, ...: identifies a rendered body */
	struct now at;
	size_t n_blocks;
	struct block *blocks; /* in the order of the collector list */
	size_t n_runs;
	const struct run_reading *runs; /* tracked runs, ended ones until they are dropped */
};

/*
 * Adds a point of metric number id to the block. labels are copied, cleaned and cut. NaN is not added:
 * unknown is absent. A counter must not be negative.
 */
void block_add(struct block *b, unsigned id, double value, const char *const *labels);

/* POINT(block, CPU_SECONDS, 12.5, "0", "user"): the label values follow in the order of the table. */
#define POINT(block, id, value, ...)                                                               \
	block_add((block), (id), (value), (const char *const[METRIC_LABELS_MAX + 1]){__VA_ARGS__})

/* Sum over the label sets of metric id; NaN when it has no point. */
double block_sum(const struct block *b, unsigned id);

/* The block of a collector, or NULL. */
const struct block *snapshot_block(const struct snapshot *s, const struct collector *c);

/* A fresh or recycled snapshot with an empty block for each collector in the list (NULL-terminated). */
struct snapshot_pool;
struct snapshot_pool *snapshot_pool_new(const struct collector *const *collectors);
struct snapshot *snapshot_take(struct snapshot_pool *p);
void snapshot_pool_free(struct snapshot_pool *p); /* after every snapshot came back */

#endif
