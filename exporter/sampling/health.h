/* The health of the exporter, for /-/healthy and systemd's watchdog. Any thread. */
#ifndef EXPORTER_SAMPLING_HEALTH_H
#define EXPORTER_SAMPLING_HEALTH_H

#include "collectors/base/clock.h"
#include "exporter/core/app.h"

struct health {
	bool ok;
	/* `age`: seconds since the last tick of the sampler; `most`: largest age that is healthy */
	double age, most;
};

/* Checks the health. `started` is the time at which the program started: before the first tick, the
 * time since then counts as the age. */
struct health health_of(struct app *app, struct mono started);

#endif
