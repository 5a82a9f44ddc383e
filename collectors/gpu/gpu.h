/* The state of each GPU, and the use of GPUs by each run.
 *
 * The gpu collector owns the state and sets host->gpus. The jobs collector queries host->gpus for
 * the processes of a run. Only the sampler thread uses this; a separate thread calls NVML
 * (collectors/gpu/nvml_thread.h). */
#ifndef COLLECTORS_GPU_GPU_H
#define COLLECTORS_GPU_GPU_H

#include "collectors/collector.h"
#include "collectors/gpu/device.h"

struct gpus;
struct process_tree;

/* GPU use of a run, summed over all GPUs. NaN = unknown, also on a machine without GPUs. */
struct gpu_use {
	double gpus; /* number of GPUs that the run used: it had a context or work on them */
	/* Sum over the GPUs of the fraction of time (0 to 1) in which each worked for the run. */
	double usage;
	double vram_bytes;
};

/* Takes the latest NVML table (nvml_thread.h). Call this function at the start of each tick. If `g`
 * is NULL, it does nothing. */
void gpus_begin(struct gpus *g, const struct host *h);

/* Returns the GPU use of a run, and adds the GPUs that it uses now to `kind`. All values are unknown
 * when `g` is NULL. */
struct gpu_use gpus_of_run(struct gpus *g, const struct host *h, const struct process_tree *t,
	struct gpu_kind *kind);

/* Returns the total memory of all GPUs. NaN = there is no GPU, or the memory of a GPU is
 * unknown. */
double gpus_vram_bytes(const struct gpus *g, const struct host *h);

/* Waits for an NVML table that is newer than this call. Returns false after `seconds`. Returns true
 * at once if NVML is not used. */
bool gpus_wait(struct gpus *g, double seconds);

extern const struct collector collector_gpu;

#endif
