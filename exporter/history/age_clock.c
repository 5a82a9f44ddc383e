/* A wall clock that does not jump ahead. */
#include "exporter/history/age_clock.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "collectors/base/scan.h"

static const struct age_clock_reading none = {(double)NAN, (double)NAN};

static double agree(struct age_clock *c, struct age_clock_reading now)
{
	c->agreed = now;
	c->doubted = none;
	return now.wall;
}

/* The machine was off, for as long as the clock says. */
static void note_boot(struct age_clock *c, struct age_clock_reading now, const char *boot_id)
{
	double off = now.wall - c->agreed.wall, doubted = now.wall - c->doubted.wall;

	text_copy(boot_id, c->boot_id, sizeof c->boot_id);
	if (off > 0 && off < AGE_CLOCK_DOUBT_SECONDS)
		c->agreed = now;
	c->agreed.mono = now.mono;
	/* What it jumped to before, it may have gone on from meanwhile. */
	if (doubted >= 0)
		c->doubted.mono = now.mono - doubted;
	else
		c->doubted = none;
}

/* Whether the clock has gone on from where it jumped to for long enough; if not, that is noted. */
static bool goes_on(struct age_clock *c, struct age_clock_reading now)
{
	double since = now.mono - c->doubted.mono;

	if (fabs(now.wall - c->doubted.wall - since) < AGE_CLOCK_JUMP_SECONDS)
		return since > AGE_CLOCK_DOUBT_SECONDS;
	c->doubted = now;
	return false;
}

double age_clock_read(struct age_clock *c, struct now read, const char *boot_id)
{
	struct age_clock_reading now = {wall_seconds(read.wall), (double)read.mono.ns / 1e9};
	bool first = isnan(c->agreed.wall);

	if (first || !*boot_id || strcmp(c->boot_id, boot_id) != 0)
		note_boot(c, now, boot_id);
	double expected = c->agreed.wall + now.mono - c->agreed.mono;

	if (first || fabs(now.wall - expected) < AGE_CLOCK_JUMP_SECONDS || goes_on(c, now))
		return agree(c, now);
	return fmin(now.wall, expected);
}
