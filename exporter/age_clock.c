/* A wall clock that does not jump ahead. */
#include "exporter/age_clock.h"

#include <math.h>
#include <stdbool.h>

double age_clock_read(struct age_clock *c, struct now now)
{
	bool first = c->agreed.wall.ns == 0 && c->agreed.mono.ns == 0;
	double since = mono_seconds_between(c->agreed.mono, now.mono);
	double expected = wall_seconds(c->agreed.wall) + since;
	double wall = wall_seconds(now.wall);

	if (first || fabs(wall - expected) < AGE_CLOCK_JUMP_SECONDS ||
		since > AGE_CLOCK_DOUBT_SECONDS) {
		c->agreed = now;
		return wall;
	}
	return fmin(wall, expected);
}
