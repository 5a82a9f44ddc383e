#include "exporter/sampling/health.h"

#include <math.h>

#include "exporter/sampling/sampler.h"

/* The exporter is unhealthy when the sampler has not ticked for STALE_INTERVALS sample intervals
 * and for STALE_SECONDS seconds. */
#define STALE_INTERVALS 10
#define STALE_SECONDS   10.0

struct health health_of(struct app *app, struct mono started)
{
	struct health h = {.age = app->sampler ? sampler_age(app->sampler) : 0};

	h.most = fmax(STALE_SECONDS, STALE_INTERVALS * app->options->sample_interval);
	if (!isfinite(h.age))
		h.age = mono_seconds_between(started, now_read().mono);
	h.ok = h.age <= h.most;
	return h;
}
