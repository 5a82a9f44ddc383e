/* Use of GPUs by one process, from /proc/PID/fd and fdinfo. Sampler thread only. */
#ifndef COLLECTORS_GPU_USERS_H
#define COLLECTORS_GPU_USERS_H

#include "collectors/gpu/device.h"
#include "collectors/gpu/drm.h"
#include "collectors/process/member.h"

/* Most links of descriptors that are read in one tick. */
#define GPU_LINKS_PER_TICK 2048

struct gpu_users;

struct gpu_users *gpu_users_new(void);
void gpu_users_free(struct gpu_users *u); /* NULL does nothing */

/* Call it at the start of each tick: forgets processes that were not looked at in the last one. */
void gpu_users_begin(struct gpu_users *u);

/*
 * Adds the use of the GPUs of d by one process to sum; first is the index of GPU 0 of d in sum. d
 * may be NULL. Descriptors are searched when the process is new, or ran and may have opened others;
 * else only known ones are read.
 *
 * Returns whether the process has opened /dev/nvidia-uvm, which CUDA needs. Only NVML knows its
 * work there.
 */
bool gpu_users_look(struct gpu_users *u, const struct gpu_drm *d, const struct host *h,
	const struct member *m, size_t first, struct gpu_sum *sum);

#endif
