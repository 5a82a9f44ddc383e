/* What time it is for a history: what was agreed on is kept in it, as each wrapper is a new process. */
#include "exporter/history/history_private.h"

#include <math.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "exporter/history/age_clock.h"

/* Kept anew when it went on by so much: every change of the file wakes whoever reads it. */
#define RENEWED_SECONDS 3600.0

static int load(struct history *h, struct age_clock *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = {0};
	int code = sql_use(&q, h, STATEMENT_AGE_CLOCK, e);

	*ret = AGE_CLOCK_INIT;
	if (code == 0)
		code = sql_row(&q, e);
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

static int save(struct history *h, const struct age_clock *c, struct err *e)
{
	AUTO(sql_done) struct sql q = {0};
	int code = sql_use(&q, h, STATEMENT_SET_AGE_CLOCK, e);

	if (code)
		return code;
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

static int keep(struct history *h, const struct age_clock *c, struct err *e)
{
	int code = history_transaction(h, e);

	return code ? code : history_end(h, save(h, c, e), e);
}

int history_clock(struct history *h, struct now now, const char *boot_id, double *ret,
	struct err *e)
{
	struct age_clock kept, c;
	int code = load(h, &kept, e);

	if (code)
		return code;
	c = kept;
	double read = age_clock_read(&c, now, boot_id);

	if (!is_kept(&kept, &c))
		code = keep(h, &c, e);
	if (code == 0)
		*ret = read;
	return code;
}
