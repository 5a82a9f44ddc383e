/* GPU use of one process, read from /proc/PID/fd and fdinfo. Only the sampler thread uses this. */
#ifndef COLLECTORS_GPU_USERS_H
#define COLLECTORS_GPU_USERS_H

#include "collectors/gpu/device.h"
#include "collectors/gpu/drm.h"
#include "collectors/process/member.h"

/* Maximum number of descriptor links that are read in one tick. */
#define GPU_LINKS_PER_TICK 2048

struct gpu_users;

struct gpu_users *gpu_users_new(void);
void gpu_users_free(struct gpu_users *u); /* NULL does nothing */

/* Begins a tick. Forgets each process for which gpu_users_look was not called in the previous
 * tick. */
void gpu_users_begin(struct gpu_users *u);

/* Adds the use of the GPUs in `d` by the process `m` to `sum`. `d` is NULL if the machine has no
 * GPU with a DRM driver. `first` is the index in `sum` of the first GPU of `d`.
 *
 * All descriptors of the process are searched when it is new or may have opened more. They are also
 * searched every 5 s while the process runs, and every 60 s while it sleeps. At other times only
 * the known descriptors are read.
 *
 * Returns true when the process has opened /dev/nvidia-uvm, which CUDA needs. Only NVML reports the
 * GPU work of such a process. */
bool gpu_users_look(struct gpu_users *u, const struct gpu_drm *d, const struct host *h,
	const struct member *m, size_t first, struct gpu_sum *sum);

#endif
