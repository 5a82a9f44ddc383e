/*
 * What time it is when the age of something decides whether it is thrown away. A wall clock that
 * jumps ahead (a wrong NTP answer, a hand on the clock) would make everything old at once, so a
 * jump is believed only when it has lasted for a day; until then time goes on as it did before.
 */
#ifndef EXPORTER_AGE_CLOCK_H
#define EXPORTER_AGE_CLOCK_H

#include "collectors/base/clock.h"

#define AGE_CLOCK_JUMP_SECONDS  3600.0 /* less is slewing, or a late call */
#define AGE_CLOCK_DOUBT_SECONDS 86400.0

struct age_clock {
	struct now agreed; /* when the clock was last believed */
};

/* Seconds since 1970 UTC. The first call is believed. */
double age_clock_read(struct age_clock *c, struct now now);

#endif
