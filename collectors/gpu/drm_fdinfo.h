/* Parser of /proc/PID/fdinfo/FD for a DRM descriptor: the time that each GPU engine worked for the
 * client (device.h), and the client's GPU memory. https://docs.kernel.org/gpu/drm-usage-stats.html
 * describes the keys. Each driver gives only some of them. */
#ifndef COLLECTORS_GPU_DRM_FDINFO_H
#define COLLECTORS_GPU_DRM_FDINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/scan.h"

#define DRM_ENGINES_MAX 16

struct drm_engine {
	char name[24];
	uint64_t capacity; /* number of engines of this kind; at least 1 */
	bool has_ns, has_cycles;
	uint64_t busy_ns;              /* working time; amdgpu, i915 and most drivers report it */
	uint64_t cycles, total_cycles; /* working cycles and all cycles; xe reports them */
};

struct drm_fdinfo {
	char driver[32], pci[32]; /* "" = unknown */
	bool has_client_id;
	uint64_t client_id;
	size_t n_engines;
	struct drm_engine engine[DRM_ENGINES_MAX];
	/* True if vram_bytes is valid. vram_bytes is 0 for a GPU without its own memory. */
	bool vram_known;
	uint64_t vram_bytes; /* bytes in the GPU's own memory */
};

/* Returns false if the descriptor is not a DRM descriptor, or if the driver reports nothing. */
bool drm_fdinfo_parse(struct scan text, struct drm_fdinfo *ret);

/* Returns the fraction (0 to 1) of `seconds`, the time between `before` and `now`, in which the
 * busiest kind of engine worked for the client; NaN = unknown. A counter that fell counts as
 * unchanged, as the specification requires: in `now`, it is raised to its value in `before`. */
double drm_fdinfo_utilization(const struct drm_fdinfo *before, struct drm_fdinfo *now,
	double seconds);

/* Returns true when any engine has ever worked for the client. */
bool drm_fdinfo_has_worked(const struct drm_fdinfo *f);

#endif
