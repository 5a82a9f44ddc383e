/*
 * Is this program all right? What /-/healthy answers, and what keeps systemd's watchdog quiet. Any thread.
 */
#ifndef EXPORTER_SAMPLING_HEALTH_H
#define EXPORTER_SAMPLING_HEALTH_H

#include "collectors/base/clock.h"
#include "exporter/core/app.h"

struct health {
	bool ok;
	double age, most; /* of the last tick, in seconds, and how old it may be */
};

/* started: before the first tick there is no age; then it is as old as this. */
struct health health_of(struct app *app, struct mono started);

#endif
