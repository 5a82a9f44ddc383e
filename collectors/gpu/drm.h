/*
 * GPUs of AMD, Intel and any other kernel DRM driver but NVIDIA's own: totals from sysfs. What a
 * process uses of them is found in collectors/gpu/users.h.
 *
 * One thread (the sampler).
 */
#ifndef COLLECTORS_GPU_DRM_H
#define COLLECTORS_GPU_DRM_H

#include <stddef.h>

#include "collectors/gpu/device.h"
#include "collectors/host.h"

/* Most GPUs that are looked at. */
#define DRM_GPUS_MAX 64

struct gpu_drm;

/* -ENOENT: no such GPU. */
int gpu_drm_open(struct gpu_drm **ret, const struct host *h);
void gpu_drm_close(struct gpu_drm *d); /* NULL does nothing */

size_t gpu_drm_count(const struct gpu_drm *d);

/* Reads the totals of GPU number i. */
void gpu_drm_read(struct gpu_drm *d, const struct host *h, size_t i, struct gpu_device *ret);

/*
 * The number of the GPU with this PCI address, or else of this driver when only one has it;
 * SIZE_MAX = none.
 */
size_t gpu_drm_find(const struct gpu_drm *d, const char *pci, const char *driver);

/* Is it known from elsewhere what clients of this driver use, or no GPU at all? */
bool gpu_drm_leaves_out(const char *driver);

#endif
