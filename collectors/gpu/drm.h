/* GPUs of all kernel DRM drivers except NVIDIA's, such as AMD and Intel. Reads their numbers from
 * sysfs. For the GPU use of each process, see collectors/gpu/users.h.
 *
 * Only the sampler thread uses this. */
#ifndef COLLECTORS_GPU_DRM_H
#define COLLECTORS_GPU_DRM_H

#include <stddef.h>

#include "collectors/gpu/device.h"
#include "collectors/host.h"

#define DRM_GPUS_MAX 64

struct gpu_drm;

/* Returns -ENOENT when the machine has no GPU with such a driver. */
int gpu_drm_open(struct gpu_drm **ret, const struct host *h);
void gpu_drm_close(struct gpu_drm *d); /* NULL does nothing */

size_t gpu_drm_count(const struct gpu_drm *d);

/* Returns GPU number `i` without its numbers. `d` owns it. */
const struct gpu_device *gpu_drm_device(const struct gpu_drm *d, size_t i);

/* Reads the current numbers of GPU number `i`. */
void gpu_drm_read(struct gpu_drm *d, const struct host *h, size_t i, struct gpu_device *ret);

/* Returns the index of the GPU with the PCI address `pci`. If `pci` is empty, returns the index of
 * the only GPU with the driver `driver`. Returns SIZE_MAX when no GPU or more than one GPU
 * matches. */
size_t gpu_drm_find(const struct gpu_drm *d, const char *pci, const char *driver);

/* Returns true when clients of this driver must be ignored: NVIDIA's, which NVML reports, and
 * drivers without GPU hardware. */
bool gpu_drm_leaves_out(const char *driver);

#endif
