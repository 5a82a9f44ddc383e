/* The state of the clock is stored in the history file, because each wrapper is a new process that
 * must continue the clock. */
#include "exporter/history/age_clock.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "exporter/history/tables.h"

/* The stored state is updated at once after a reboot or a jump. Otherwise it is updated at most
 * once in this many seconds, because all readers read the file again after each update. */
#define RENEWED_SECONDS 3600.0

static const struct age_clock_reading none = {(double)NAN, (double)NAN};

static double agree(struct age_clock *c, struct age_clock_reading now)
{
	c->agreed = now;
	c->doubted = none;
	return now.wall;
}

/* Handles a reboot, which sets the monotonic clock to 0. Accepts the new wall time if the machine
 * was off for less than a day. Converts the monotonic times of `agreed` and `doubted` to the new
 * monotonic clock. */
static void note_boot(struct age_clock *c, struct age_clock_reading now, const char *boot_id)
{
	double off = now.wall - c->agreed.wall, doubted = now.wall - c->doubted.wall;

	text_copy(boot_id, c->boot_id, sizeof c->boot_id);
	if (off > 0 && off < AGE_CLOCK_DOUBT_SECONDS)
		c->agreed = now;
	c->agreed.mono = now.mono;
	/* A jump before the reboot is remembered: the new wall time is then accepted a day after
	 * the jump, not a day after the reboot. */
	if (doubted >= 0)
		c->doubted.mono = now.mono - doubted;
	else
		c->doubted = none;
}

/* Returns true when a day has passed since the wall clock last jumped. */
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

/* ---- stored in the history ---- */

static int load_clock(struct history *h, struct age_clock *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_AGE_CLOCK, e);
	int code = sql_row(&q, e);

	*ret = AGE_CLOCK_INIT;
	if (code <= 0)
		return code;
	const char *boot_id = sql_text(&q);

	text_copy(boot_id ? boot_id : "", ret->boot_id, sizeof ret->boot_id);
	ret->agreed.wall = sql_double(&q);
	ret->agreed.mono = sql_double(&q);
	ret->doubted.wall = sql_double(&q);
	ret->doubted.mono = sql_double(&q);
	return 0;
}

static int save_clock(struct history *h, const struct age_clock *c, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_SET_AGE_CLOCK, e);

	sql_put_text(&q, c->boot_id);
	sql_put_double(&q, c->agreed.wall);
	sql_put_double(&q, c->agreed.mono);
	sql_put_double(&q, c->doubted.wall);
	sql_put_double(&q, c->doubted.mono);
	return sql_run(&q, e);
}

static bool same_time(double a, double b, double most)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) < most;
}

static bool is_kept(const struct age_clock *kept, const struct age_clock *c)
{
	return strcmp(kept->boot_id, c->boot_id) == 0 &&
	       same_time(kept->agreed.wall, c->agreed.wall, RENEWED_SECONDS) &&
	       same_time(kept->doubted.wall, c->doubted.wall, 1);
}

static int keep_clock(struct history *h, const struct age_clock *c, struct err *e)
{
	int code = history_transaction(h, e);

	return code ? code : history_end(h, save_clock(h, c, e), e);
}

int history_clock(struct history *h, struct now now, const char *boot_id, double *ret,
	struct err *e)
{
	struct age_clock kept, c;
	int code = load_clock(h, &kept, e);

	if (code)
		return code;
	c = kept;
	double read = age_clock_read(&c, now, boot_id);

	if (!is_kept(&kept, &c))
		code = keep_clock(h, &c, e);
	if (code == 0)
		*ret = read;
	return code;
}
