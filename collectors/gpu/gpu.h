/*
 * GPUs: what each of them does, and which run uses how much of which.
 *
 * The gpu collector owns the state and hangs it into host, where the jobs ask what the processes of a
 * run use. One thread (the sampler); NVML is asked by a thread of its own
 * (collectors/gpu/nvml_thread.h).
 */
#ifndef COLLECTORS_GPU_GPU_H
#define COLLECTORS_GPU_GPU_H

#include "collectors/collector.h"
#include "collectors/gpu/device.h"

struct gpus;
struct process_tree;

/* What a run uses of all GPUs together. NaN = unknown, also on a machine without GPUs. */
struct gpu_use {
	double gpus;  /* how many: it holds a context there, or has work on it */
	double usage; /* sum of the parts of the time that they work for it */
	double vram_bytes;
};

/* A new tick: takes the latest news of NVML. NULL does nothing. */
void gpus_begin(struct gpus *g, const struct host *h);

/* g may be NULL: all is unknown. */
struct gpu_use gpus_of_run(struct gpus *g, const struct host *h, const struct process_tree *t);

/* Waits for news of NVML that are newer than this call; false after so many seconds. */
bool gpus_wait(struct gpus *g, double seconds);

extern const struct collector collector_gpu;

#endif
