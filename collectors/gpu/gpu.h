/*
 * GPUs: the state of each, and the use of them by each run.
 *
 * The gpu collector owns the state and sets host->gpus, which the jobs collector queries for the
 * processes of a run. Sampler thread only; a separate thread calls NVML
 * (collectors/gpu/nvml_thread.h).
 */
#ifndef COLLECTORS_GPU_GPU_H
#define COLLECTORS_GPU_GPU_H

#include "collectors/collector.h"
#include "collectors/gpu/device.h"

struct gpus;
struct process_tree;

/* GPU use of a run, over all GPUs. NaN = unknown, also on a machine without GPUs. */
struct gpu_use {
	double gpus; /* number of GPUs where it holds a context or had work */
	/* Sum over GPUs of the fraction of time in which they worked for the run. */
	double usage;
	double vram_bytes;
};

/* Call it at the start of each tick: takes the latest NVML table. NULL does nothing. */
void gpus_begin(struct gpus *g, const struct host *h);

/* g may be NULL: all values are unknown. */
struct gpu_use gpus_of_run(struct gpus *g, const struct host *h, const struct process_tree *t);

/* Waits for an NVML table newer than this call; false after so many seconds. */
bool gpus_wait(struct gpus *g, double seconds);

extern const struct collector collector_gpu;

#endif
