/* A snapshot holds the points of one tick, which is one round of reading by all collectors. The
 * sampler thread fills it. After that the snapshot is immutable, and all readers share it through
 * base/latest.h. When the last reader has dropped its reference, the snapshot is recycled. */
#ifndef COLLECTORS_SNAPSHOT_H
#define COLLECTORS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/clock.h"
#include "collectors/base/job_key.h"
#include "collectors/base/latest.h"
#include "collectors/base/mem.h"
#include "collectors/metric.h"

struct collector;
struct run_reading; /* collectors/runs.h */

/* Longest label value in bytes: the key of a job fits. utf8_clean cuts longer values. */
#define LABEL_VALUE_MAX JOB_KEY_MAX

/* Maximum number of points of one collector in one tick. Further points are refused and counted in
 * block.dropped. */
#define BLOCK_POINTS_MAX 100000

struct point {
	const struct point *next;  /* next point of the metric, in the order of block_add */
	double value;              /* never NaN */
	const char *const *labels; /* one value for each label name of the metric */
};

struct points {
	const struct point *first;
	struct point *last;
};

/* The part of a snapshot that one collector fills. */
struct block {
	const struct collector *collector;
	struct arena *arena;
	struct points *points; /* one list per metric of the collector */
	size_t n_points, dropped;
	bool success;   /* false = the collector failed, so there are no points */
	bool absent;    /* the machine lacks the measured thing: no points, but no error */
	bool kept_only; /* true = skip FOLD_NONE metrics, which are not stored in the history */
	double duration_seconds;
};

struct snapshot {
	struct shared shared;
	struct snapshot *next_free; /* next in the pool's list of free snapshots */
	struct arena arena;
	uint64_t generation; /* 1, 2, 3, ...: identifies the snapshot */
	struct now at;
	size_t n_blocks;
	struct block *blocks; /* one per collector, in the order of the collectors */
	size_t n_runs;
	/* followed runs, and ended runs until jobs_drop_ended removes them */
	const struct run_reading *runs;
};

/* Adds a point of the collector's metric number `id`. Copies the label values, replaces invalid
 * characters and cuts long values. Adds nothing if `value` is NaN, because an unknown value has no
 * point. A counter must not be negative. */
void block_add(struct block *b, unsigned id, double value, const char *const *labels);

/* Example: POINT(block, CPU_SECONDS, 12.5, "0", "user"). The label values have the order of the
 * metric's label names. */
#define POINT(block, id, value, ...)                                                               \
	block_add((block), (id), (value), (const char *const[METRIC_LABELS_MAX + 1]){__VA_ARGS__})

/* Adds up all label sets of metric `id`. Returns NaN if the metric has no point. */
double block_sum(const struct block *b, unsigned id);

/* Returns the block of a collector, or NULL if the snapshot has no such block. */
const struct block *snapshot_block(const struct snapshot *s, const struct collector *c);

/* A pool of snapshots that are recycled. The array `collectors` ends with NULL. snapshot_take
 * returns a new or recycled snapshot, with an empty block for each of these collectors. */
struct snapshot_pool;
struct snapshot_pool *snapshot_pool_new(const struct collector *const *collectors);
struct snapshot *snapshot_take(struct snapshot_pool *p);
void snapshot_pool_free(struct snapshot_pool *p); /* call after all snapshots came back */

#endif
