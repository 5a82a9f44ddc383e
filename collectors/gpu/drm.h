/*
 * GPUs of AMD, Intel and any other kernel DRM driver except NVIDIA's: their numbers from sysfs. The
 * use by each process is in collectors/gpu/users.h.
 *
 * Sampler thread only.
 */
#ifndef COLLECTORS_GPU_DRM_H
#define COLLECTORS_GPU_DRM_H

#include <stddef.h>

#include "collectors/gpu/device.h"
#include "collectors/host.h"

#define DRM_GPUS_MAX 64

struct gpu_drm;

/* -ENOENT: no such GPU. */
int gpu_drm_open(struct gpu_drm **ret, const struct host *h);
void gpu_drm_close(struct gpu_drm *d); /* NULL does nothing */

size_t gpu_drm_count(const struct gpu_drm *d);

/* Reads the totals of GPU number i. */
void gpu_drm_read(struct gpu_drm *d, const struct host *h, size_t i, struct gpu_device *ret);

/* The GPU with this PCI address, else the only one of this driver; SIZE_MAX = none. */
size_t gpu_drm_find(const struct gpu_drm *d, const char *pci, const char *driver);

/* Is a client of this driver to be ignored: NVIDIA's (NVML reports it), or without GPU hardware? */
bool gpu_drm_leaves_out(const char *driver);

#endif
