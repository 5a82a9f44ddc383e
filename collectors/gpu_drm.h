/*
 * GPUs of AMD, Intel and any other kernel DRM driver but NVIDIA's own: totals from sysfs, and what
 * a process uses from /proc/PID/fdinfo.
 *
 * One thread (the sampler).
 */
#ifndef COLLECTORS_GPU_DRM_H
#define COLLECTORS_GPU_DRM_H

#include <stddef.h>

#include "collectors/gpu_device.h"
#include "collectors/host.h"
#include "collectors/process_member.h"

/* Most GPUs that are looked at. */
#define DRM_GPUS_MAX 64

struct gpu_drm;

/* -ENOENT: no such GPU. */
int gpu_drm_open(struct gpu_drm **ret, const struct host *h);
void gpu_drm_close(struct gpu_drm *d); /* NULL does nothing */

size_t gpu_drm_count(const struct gpu_drm *d);

/* Reads the totals of GPU number i. */
void gpu_drm_read(struct gpu_drm *d, const struct host *h, size_t i, struct gpu_device *ret);

/* ---- collectors/gpu_drm_use.c: what processes use ---- */

/* What looking at processes may cost in one tick: links of descriptors that are read. */
#define DRM_LINKS_PER_TICK 4096

struct drm_users;

struct drm_users *drm_users_new(void);
void drm_users_free(struct drm_users *u);

/* A new tick: forgets the processes that nobody asked for since the last one. */
void drm_users_begin(struct drm_users *u);

/*
 * Adds what one process uses to the sum; the first of these GPUs is number first in it. Its
 * descriptors are searched when it is new, or when it ran and may have others now; after that only
 * the found ones are read.
 */
void drm_users_look(struct drm_users *u, const struct gpu_drm *d, const struct host *h,
	const struct member *m, size_t first, struct gpu_sum *sum);

/*
 * The number of the GPU with this PCI address, or else of this driver when only one has it;
 * SIZE_MAX = none.
 */
size_t gpu_drm_find(const struct gpu_drm *d, const char *pci, const char *driver);

/* Is it known from elsewhere what clients of this driver use, or no GPU at all? */
bool gpu_drm_leaves_out(const char *driver);

#endif
