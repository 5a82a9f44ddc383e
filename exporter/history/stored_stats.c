/* Stores and reads the statistics of ended runs. Schema 13 and older stored one row of the table
 * run_stat for each column of a run; history_pack_run rewrites such a run. */
#include "exporter/history/packed_stats.h"
#include "exporter/history/tables.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- forms ---- */

static const struct stats_form *known_form(const struct history *h, int64_t id)
{
	for (size_t i = 0; i < h->n_forms; i++)
		if (h->form[i].id == id)
			return &h->form[i].form;
	return NULL;
}

/* Sets `*ret` to the form with this id. The form lives until history_forget_forms. */
static int find_form(struct history *h, int64_t id, const struct stats_form **ret, struct err *e)
{
	AUTO(sql_done) struct sql q = {0};
	struct stats_form form = {0};

	*ret = known_form(h, id);
	if (*ret)
		return 0;
	q = sql_use(h, STATEMENT_STATS_FORM, e);
	sql_put_int(&q, id);
	int code = sql_row(&q, e);

	if (code < 0)
		return code;
	if (code == 0 || stats_form_read(&form, sql_name(&q), &h->forms))
		return err_set(e, -EBADMSG, "history %s: it is damaged (form %lld of statistics)",
			h->path, (long long)id);
	GROW(h->form, h->n_forms, h->forms_room);
	h->form[h->n_forms++] = (struct known_form){id, form};
	*ret = known_form(h, id);
	return 0;
}

/* A form lists the columns whose statistics a run has (struct stats_form). The history stores each
 * form once, with an id. Sets `*ret` to the id of `form`. Adds the form if it is new. */
static int keep_form(struct history *h, const struct stats_form *form, int64_t *ret, struct err *e)
{
	struct buf text AUTO(buf_done) = BUF_MAX(PACKED_FORM_MAX);
	AUTO(sql_done) struct sql add = {0}, find = {0};

	stats_form_write(&text, form);
	find = sql_use(h, STATEMENT_FIND_STATS_FORM, e);
	sql_put_text(&find, buf_text(&text));
	int code = sql_row(&find, e);

	if (code > 0)
		*ret = sql_int(&find);
	if (code)
		return code < 0 ? code : 0;
	add = sql_use(h, STATEMENT_ADD_STATS_FORM, e);
	sql_put_text(&add, buf_text(&text));
	code = sql_run(&add, e);
	*ret = sqlite3_last_insert_rowid(h->file.db);
	return code;
}

/* ---- statistics of a run ---- */

static double peak_of(const struct column_stats *stats, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(stats[i].column, "memory_peak_bytes") == 0)
			return stats[i].d.max;
	return NAN;
}

int history_pack_stats(struct history *h, const struct column_stats *stats, size_t n, bool own,
	struct arena *arena, struct packed_run *ret, struct err *e)
{
	struct buf blob = BUF_MAX(PACKED_STATS_MAX);
	struct stats_form form = own ? stats_form_of_all(stats, n, arena) : stats_form_of_kept();

	*ret = (struct packed_run){.memory_peak_bytes = peak_of(stats, n)};
	int code = 0;

	if (own || !h->kept_form)
		code = keep_form(h, &form, own ? &ret->form : &h->kept_form, e);
	if (!own)
		ret->form = h->kept_form;

	packed_stats_write(&blob, &form, stats, n, own);
	if (code == 0 && blob.full)
		code = err_set(e, -EINVAL, "history %s: the statistics of a run are too large",
			h->path);
	ret->stats = history_keep(arena, blob.data, blob.len);
	ret->size = blob.len;
	buf_done(&blob);
	return code;
}

static int read_rows(struct history *h, int64_t run, struct arena *arena, struct column_stats **ret,
	size_t *ret_n, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_STATS, e);
	AUTO(freep) struct column_stats *stats = NULL;
	size_t n = 0, room = 0;
	int code;

	sql_put_int(&q, run);
	while ((code = sql_row(&q, e)) > 0) {
		GROW(stats, n, room);
		struct column_stats *s = &stats[n++];

		s->column = sql_keep_name(&q, arena);
		s->d.n = sql_count(&q);
		s->d.mean = sql_double(&q);
		s->d.min = sql_double(&q);
		s->d.max = sql_double(&q);
		s->d.p50 = sql_double(&q);
		s->d.p95 = sql_double(&q);
		s->d.p99 = sql_double(&q);
		s->d.sum = sql_double(&q);
	}
	*ret = history_keep(arena, stats, n * sizeof *stats);
	*ret_n = n;
	return code;
}

/* The column names in `r` point into a form, which may be freed before `r`. Replaces each name by a
 * copy in `arena`. To save memory, uses the name in `like` instead if it is equal and has the same
 * index. */
static void share_names(struct run *r, const struct run *like, struct arena *arena)
{
	for (size_t i = 0; i < r->n_stats; i++) {
		const char *name = r->stats[i].column;

		if (like && i < like->n_stats && strcmp(like->stats[i].column, name) == 0)
			r->stats[i].column = like->stats[i].column;
		else
			r->stats[i].column = arena_text(arena, name, strlen(name));
	}
}

int history_unpack_stats(struct history *h, int64_t run, const struct packed_run *packed,
	const struct run *like, struct arena *arena, struct run *ret, struct err *e)
{
	const struct stats_form *form = NULL;

	if (!packed->form)
		return read_rows(h, run, arena, &ret->stats, &ret->n_stats, e);
	int code = find_form(h, packed->form, &form, e);

	if (code)
		return code;
	if (packed_stats_read(form, packed->stats, packed->size, arena, &ret->stats, &ret->n_stats))
		return err_set(e, -EBADMSG, "history %s: it is damaged (statistics of run %lld)",
			h->path, (long long)run);
	share_names(ret, like, arena);
	return 0;
}

void sql_put_packed_run(struct sql *q, int64_t circumstances, const struct packed_run *packed)
{
	sql_put_int(q, circumstances);
	sql_put_int(q, packed->form);
	sql_put_blob(q, packed->stats, packed->size);
	sql_put_double(q, packed->memory_peak_bytes);
}

struct packed_run sql_packed_run(struct sql *q, struct arena *arena)
{
	struct packed_run p = {.form = sql_int(q)};
	const void *stats = sql_blob(q, &p.size);

	p.stats = history_keep(arena, stats, p.size);
	return p;
}

/* ---- runs of older files ---- */

static int rewrite_run(struct history *h, int64_t run, int64_t circumstances,
	const struct packed_run *packed, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_PACK_RUN, e);

	sql_put_packed_run(&q, circumstances, packed);
	sql_put_int(&q, run);
	return sql_run(&q, e);
}

int history_pack_run(struct history *h, int64_t run, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct circumstances c;
	struct packed_run packed;
	struct column_stats *stats = NULL;
	size_t n = 0;
	int64_t id = 0;
	int code = read_rows(h, run, &arena, &stats, &n, e);

	if (code == 0)
		code = history_pack_stats(h, stats, n, true, &arena, &packed, e);
	if (code == 0)
		code = circumstances_of_run(h, run, &arena, &c, e);
	if (code == 0)
		code = circumstances_hold(h, &c, &id, e);
	if (code == 0)
		code = rewrite_run(h, run, id, &packed, e);
	if (code == 0 &&
		/* the run does not exist, because the file is damaged */
		sqlite3_changes(h->file.db) == 0)
		code = circumstances_release(h, id, e);
	return code ? code : sql_use_run(h, STATEMENT_DROP_STATS, &run, 1, e);
}
