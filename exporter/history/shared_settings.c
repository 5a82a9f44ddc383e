/* Settings that all exporters with the same history file share: whether an exporter sends runs to a
 * receiver, the limits of the server, and the URL of the newest server's page. */
#include "exporter/history/tables.h"

#include <math.h>

/* Stored settings stay valid for this many seconds after they were written: the exporter that wrote
 * them may be down for a while and come back. */
#define BELIEVED_SECONDS (30 * 86400.0)

/* An exporter writes its settings again after this many seconds. It does not do so more often,
 * because all readers of the file read it again after every change. */
#define RENEWED_SECONDS 86400.0

struct settings_notes {
	/* Times when these settings were last written to the file; NaN = never. */
	double forwards_at, writes_at, serves_at;
	struct history_limits limits; /* limits that the server has set */
};

static bool is_believed(double at, double now)
{
	return at > now - BELIEVED_SECONDS;
}

/* Returns true when a setting that was written at the time `at` must be written again: it is old,
 * or `at` is in the future, so that the setting would stay valid for too long. */
static bool is_due(double at, double now)
{
	return !(fabs(now - at) < RENEWED_SECONDS);
}

static int read_notes(struct history *h, struct settings_notes *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_NOTES, e);
	int code = sql_row(&q, e);

	*ret = (struct settings_notes){.forwards_at = NAN, .writes_at = NAN, .serves_at = NAN};
	if (code <= 0)
		return code;
	ret->forwards_at = sql_double(&q);
	ret->writes_at = sql_double(&q);
	ret->serves_at = sql_double(&q);
	ret->limits.runs_per_job = sql_count(&q);
	ret->limits.retention_seconds = sql_double(&q);
	ret->limits.max_bytes = sql_count(&q);
	ret->limits.full_rate_seconds = sql_double(&q);
	return 0;
}

static bool same_limits(const struct history_limits *a, const struct history_limits *b)
{
	return a->runs_per_job == b->runs_per_job && a->max_bytes == b->max_bytes &&
	       a->retention_seconds >= b->retention_seconds &&
	       a->retention_seconds <= b->retention_seconds &&
	       a->full_rate_seconds >= b->full_rate_seconds &&
	       a->full_rate_seconds <= b->full_rate_seconds;
}

static int note_sends(struct history *h, enum history_statement note, double now, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, note, e);

	sql_put_double(&q, now);
	return sql_run(&q, e);
}

static int note_serves(struct history *h, const struct history_limits *l, double now, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_NOTE_SERVES, e);

	sql_put_double(&q, now);
	sql_put_int(&q, (int64_t)l->runs_per_job);
	sql_put_double(&q, l->retention_seconds);
	sql_put_int(&q, (int64_t)l->max_bytes);
	sql_put_double(&q, l->full_rate_seconds);
	return sql_run(&q, e);
}

static int write_notes(struct history *h, const struct history_limits *l,
	const struct settings_notes *n, double now, struct err *e)
{
	bool forwards = l->keep_unsent & RECEIVER_CENTRAL && is_due(n->forwards_at, now);
	bool writes = l->keep_unsent & RECEIVER_STORE && is_due(n->writes_at, now);
	bool serves = l->serves && (is_due(n->serves_at, now) || !same_limits(l, &n->limits));

	if (!forwards && !writes && !serves)
		return 0;
	int code = history_transaction(h, e);

	if (code)
		return code;
	if (forwards)
		code = note_sends(h, STATEMENT_NOTE_FORWARDS, now, e);
	if (code == 0 && writes)
		code = note_sends(h, STATEMENT_NOTE_WRITES, now, e);
	if (code == 0 && serves)
		code = note_serves(h, l, now, e);
	return history_end(h, code, e);
}

int history_agree(struct history *h, struct history_limits *l, double now, struct err *e)
{
	struct settings_notes n;
	int code = read_notes(h, &n, e);

	if (code == 0)
		code = write_notes(h, l, &n, now, e);
	if (code)
		return code;
	l->keep_unsent |= is_believed(n.forwards_at, now) ? RECEIVER_CENTRAL : 0;
	l->keep_unsent |= is_believed(n.writes_at, now) ? RECEIVER_STORE : 0;
	if (!is_believed(n.serves_at, now))
		return 0;
	if (l->defaults & LIMIT_RUNS_PER_JOB)
		l->runs_per_job = n.limits.runs_per_job;
	if (l->defaults & LIMIT_RETENTION)
		l->retention_seconds = n.limits.retention_seconds;
	if (l->defaults & LIMIT_MAX_BYTES)
		l->max_bytes = n.limits.max_bytes;
	if (l->defaults & LIMIT_FULL_RATE)
		l->full_rate_seconds = n.limits.full_rate_seconds;
	return 0;
}

/* ---- the page of a server ---- */

int history_note_page(struct history *h, const struct history_page *page, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_NOTE_PAGE, e);

	sql_put_text(&q, page->url);
	sql_put_text(&q, page->address);
	sql_put_int(&q, page->server.pid);
	sql_put_int(&q, (int64_t)page->server.start_ticks);
	sql_put_int(&q, (int64_t)page->server.pid_namespace);
	sql_put_text(&q, page->server.boot_id);
	return sql_run(&q, e);
}

int history_page(struct history *h, struct arena *arena, struct history_page *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_PAGE, e);
	int code = sql_row(&q, e);

	if (code <= 0)
		return code;
	struct history_page page = {
		.url = sql_keep_text(&q, arena), .address = sql_keep_text(&q, arena)};

	page.server.pid = (pid_t)sql_int(&q);
	page.server.start_ticks = sql_count(&q);
	page.server.pid_namespace = sql_count(&q);
	const char *boot_id = sql_text(&q);

	if (!page.url || !page.address || !boot_id)
		return 0;
	text_copy(boot_id, page.server.boot_id, sizeof page.server.boot_id);
	*ret = page;
	return 1;
}
