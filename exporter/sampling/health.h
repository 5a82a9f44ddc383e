/* The health of the exporter, for /-/healthy and systemd's watchdog. Any thread. */
#ifndef EXPORTER_SAMPLING_HEALTH_H
#define EXPORTER_SAMPLING_HEALTH_H

#include "collectors/base/clock.h"
#include "exporter/core/app.h"

struct health {
	bool ok;
	double age, most; /* seconds since the last tick; largest age that is healthy */
};

/* Checks the health. Before the first tick, the time since `started` counts as the age. */
struct health health_of(struct app *app, struct mono started);

#endif
