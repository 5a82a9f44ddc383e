/*
 * /proc/PID/fdinfo/FD of a DRM descriptor: how long which engine of a GPU worked for it, and what
 * memory it has there. Keys as in https://docs.kernel.org/gpu/drm-usage-stats.html; each driver
 * gives some of them.
 */
#ifndef COLLECTORS_GPU_DRM_FDINFO_H
#define COLLECTORS_GPU_DRM_FDINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/scan.h"

#define DRM_ENGINES_MAX 16

struct drm_engine {
	char name[24];
	uint64_t capacity; /* how many such engines there are; at least 1 */
	bool has_ns, has_cycles;
	uint64_t busy_ns;              /* amdgpu, i915, and most others */
	uint64_t cycles, total_cycles; /* xe */
};

struct drm_fdinfo {
	char driver[32], pci[32]; /* "" = not told */
	bool has_client_id;
	uint64_t client_id;
	size_t n_engines;
	struct drm_engine engine[DRM_ENGINES_MAX];
	bool vram_known; /* the driver tells of memory at all; a GPU without its own then has 0 */
	uint64_t vram_bytes; /* in the GPU's own memory */
};

/* False when the text is not of a DRM descriptor, or the driver tells nothing. */
bool drm_fdinfo_parse(struct scan text, struct drm_fdinfo *ret);

/*
 * Part of the time from before to now in which the busiest kind of engine worked for the client, 0
 * to 1; NaN when that cannot be told. A counter that fell is taken as not having moved, as the
 * specification asks; now is corrected to what was seen before.
 */
double drm_fdinfo_utilization(const struct drm_fdinfo *before, struct drm_fdinfo *now,
	double seconds);

/* Has any engine ever worked for it? */
bool drm_fdinfo_has_worked(const struct drm_fdinfo *f);

#endif
