/*
 * Parser of /proc/PID/fdinfo/FD of a DRM descriptor: work time of each GPU engine for the client,
 * and its GPU memory. Keys are those of https://docs.kernel.org/gpu/drm-usage-stats.html; each
 * driver gives some of them.
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
	uint64_t capacity; /* number of such engines; at least 1 */
	bool has_ns, has_cycles;
	uint64_t busy_ns;              /* amdgpu, i915, and most others */
	uint64_t cycles, total_cycles; /* xe */
};

struct drm_fdinfo {
	char driver[32], pci[32]; /* "" = unknown */
	bool has_client_id;
	uint64_t client_id;
	size_t n_engines;
	struct drm_engine engine[DRM_ENGINES_MAX];
	bool vram_known;     /* the driver reports memory; a GPU without its own then has 0 */
	uint64_t vram_bytes; /* in the GPU's own memory */
};

/* False: not a DRM descriptor, or the driver reports nothing. */
bool drm_fdinfo_parse(struct scan text, struct drm_fdinfo *ret);

/*
 * Fraction of the time between before and now in which the busiest kind of engine worked for the
 * client, 0 to 1; NaN = unknown. A counter that fell counts as unchanged, as the specification
 * requires; now is corrected to the higher value.
 */
double drm_fdinfo_utilization(const struct drm_fdinfo *before, struct drm_fdinfo *now,
	double seconds);

/* Has any engine ever worked for it? */
bool drm_fdinfo_has_worked(const struct drm_fdinfo *f);

#endif
