/*
 * A machine in memory with one job, and the gpu collector on it: processes of a run, their
 * descriptors, and whatever the test puts into /proc and /sys.
 */
#ifndef TESTS_SUPPORT_GPU_WORLD_H
#define TESTS_SUPPORT_GPU_WORLD_H

#include "collectors/collector.h"
#include "collectors/gpu/gpu.h"
#include "collectors/runs.h"
#include "tests/support/test_tree.h"

struct gpu_world {
	struct tree *proc, *sys;
	struct host host;
	void *state; /* of the gpu collector; NULL = not started */
	struct snapshot_pool *pool;
	struct snapshot *snapshot; /* of the last tick */
	const struct block *block;
	struct err err; /* of the last collect */
};

struct gpu_world *gpu_world_new(void);
void gpu_world_freep(struct gpu_world **owner); /* for AUTO */

/* NVIDIA's driver is loaded; the fake library says what it finds. */
void gpu_world_nvidia(struct gpu_world *w);

/* A process that is in /proc; children is its list, "11 12 " or "". */
void gpu_world_process(struct gpu_world *w, int pid, int ppid, const char *children);
/* A descriptor of it; fdinfo NULL = has no such file. */
void gpu_world_fd(struct gpu_world *w, int pid, int fd, const char *target, const char *fdinfo);
void gpu_world_gone(struct gpu_world *w, int pid);
void gpu_world_follow(struct gpu_world *w, int pid); /* as run "r1" of job "train" */

/* A device of sysfs with a render node; more files are the test's. */
void gpu_world_card(struct gpu_world *w, const char *card, const char *driver, const char *pci);

int gpu_world_start(struct gpu_world *w);

/* Advances the clock by seconds, reads the runs, then the collector; returns its code. */
int gpu_world_tick(struct gpu_world *w, double seconds);

/* The run's value of this metric at the last tick. */
double gpu_world_run(const struct gpu_world *w, enum run_metric id);

/* The point of a family with these label values, separated by "|"; NaN = there is none. */
double gpu_world_value(const struct gpu_world *w, const char *name, const char *labels);
#define assert_point(w, name, labels, value, epsilon)                                              \
	assert_double_equal(gpu_world_value((w), (name), (labels)), (value), (epsilon))

#endif
