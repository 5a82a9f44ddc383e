/*
 * What the descriptors of a process say about its use of GPUs: /proc/PID/fd and fdinfo.
 *
 * One thread (the sampler).
 */
#ifndef COLLECTORS_GPU_USERS_H
#define COLLECTORS_GPU_USERS_H

#include "collectors/gpu/device.h"
#include "collectors/gpu/drm.h"
#include "collectors/process/member.h"

/* What looking at processes may cost in one tick: links of descriptors that are read. */
#define GPU_LINKS_PER_TICK 2048

struct gpu_users;

struct gpu_users *gpu_users_new(void);
void gpu_users_free(struct gpu_users *u); /* NULL does nothing */

/* A new tick: forgets the processes that nobody asked for since the last one. */
void gpu_users_begin(struct gpu_users *u);

/*
 * Adds what one process uses of the GPUs of d, the first of which is number first in the sum; d may
 * be NULL. Its descriptors are searched when it is new, or when it ran and may have others now;
 * after that only the found ones are read.
 *
 * Returns whether it has opened what CUDA works through; what it does there only NVML can tell.
 */
bool gpu_users_look(struct gpu_users *u, const struct gpu_drm *d, const struct host *h,
	const struct member *m, size_t first, struct gpu_sum *sum);

#endif
