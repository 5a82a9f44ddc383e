/* The input is read as the fdinfo of a DRM descriptor. The first NUL separates two readings. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "collectors/gpu/drm_fdinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct drm_fdinfo *f)
{
	assert(f->n_engines <= DRM_ENGINES_MAX);
	assert(memchr(f->driver, '\0', sizeof f->driver) && memchr(f->pci, '\0', sizeof f->pci));
	for (size_t i = 0; i < f->n_engines; i++) {
		assert(f->engine[i].capacity >= 1);
		assert(memchr(f->engine[i].name, '\0', sizeof f->engine[i].name));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *cut = size ? memchr(text, '\0', size) : NULL;
	size_t first = cut ? (size_t)(cut - text) : size;
	struct drm_fdinfo before, now;

	if (!drm_fdinfo_parse(SCAN(text, first), &before))
		return 0;
	check(&before);
	if (!drm_fdinfo_parse(SCAN(text + first, size - first), &now))
		return 0;
	check(&now);
	double u = drm_fdinfo_utilization(&before, &now, 1);

	assert(isnan(u) || (u >= 0 && u <= 1));
	return 0;
}
