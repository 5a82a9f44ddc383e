/* A machine in memory with one job and the gpu collector. Tests add processes, descriptors, and
 * files of /proc and /sys. */
#ifndef TESTS_SUPPORT_GPU_WORLD_H
#define TESTS_SUPPORT_GPU_WORLD_H

#include "collectors/collector.h"
#include "collectors/gpu/gpu.h"
#include "collectors/runs.h"
#include "tests/support/test_tree.h"

struct gpu_world {
	struct tree *proc, *sys;
	struct host host;
	void *state; /* state of the gpu collector; NULL = not started */
	struct snapshot_pool *pool;
	struct snapshot *snapshot; /* snapshot of the last tick */
	const struct block *block;
	struct err err; /* error of the last collect() */
};

struct gpu_world *gpu_world_new(void);
void gpu_world_freep(struct gpu_world **owner); /* for AUTO */

/* Makes NVIDIA's driver available. The fake library supplies its data. */
void gpu_world_nvidia(struct gpu_world *w);

/* Adds a process to /proc. `children` is the text of its `children` file, such as "11 12 " or
 * "". */
void gpu_world_process(struct gpu_world *w, int pid, int ppid, const char *children);
/* Adds a descriptor to the process. If `fdinfo` is NULL, the descriptor has no fdinfo file. */
void gpu_world_fd(struct gpu_world *w, int pid, int fd, const char *target, const char *fdinfo);
void gpu_world_gone(struct gpu_world *w, int pid);
void gpu_world_follow(struct gpu_world *w, int pid); /* `pid` is run "r1" of job "train" */

/* Adds a device with a render node to sysfs. The test adds further files. */
void gpu_world_card(struct gpu_world *w, const char *card, const char *driver, const char *pci);

int gpu_world_start(struct gpu_world *w);

/* Advances the clock by `seconds`, and reads the runs and the collector. Returns the collector's
 * code. */
int gpu_world_tick(struct gpu_world *w, double seconds);

/* Returns the value of metric `id` for the run at the last tick. */
double gpu_world_run(const struct gpu_world *w, enum run_metric id);

/* Checks the note of the run: which GPUs it has used. "" = unknown, none or several. */
void assert_gpu_kind(const struct gpu_world *w, const char *manufacturer, const char *model);

/* Returns the value of the metric `name` with these label values, separated by "|"; NaN = not
 * found. */
double gpu_world_value(const struct gpu_world *w, const char *name, const char *labels);
#define assert_point(w, name, labels, value, epsilon)                                              \
	assert_double_equal(gpu_world_value((w), (name), (labels)), (value), (epsilon))

#endif
