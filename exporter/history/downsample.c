/* Thinning replaces all samples of a run within a span of time (a bucket) by three rows (enum
 * sample_kind in tables.h). The first row has the growth of each counter, the maximum of each
 * high-water mark, and the mean of each other column. The other two rows have the lowest and the
 * highest values, which statistics and charts need. Old samples are first merged into buckets of a
 * minute, and later into buckets of an hour. */
#include "exporter/history/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of rows in a bucket. A step begins no new bucket after it has read this many rows.
 * It therefore locks the file for only about 20 ms. */
#define ROWS_AT_ONCE 2000

/* While a run is open, a sample is thinned when it is full_rate_seconds old, or when the run has
 * this many newer samples. At one sample a second, these are the samples of 28 hours. */
#define FULL_RATE_SAMPLES 100000

/* The two levels of thinning. `width` is the length of a bucket in seconds. Samples older than
 * `age_factor` * full_rate_seconds are merged into such buckets. By default, this is after 7 days
 * for buckets of a minute, and after 210 days for buckets of an hour. */
static const struct thinning_level {
	double width, age_factor;
	enum history_statement thinnable, thinned;
} levels[] = {
	{60, 1, STATEMENT_THINNABLE_TO_MINUTES, STATEMENT_THINNED_TO_MINUTES},
	{3600, 30, STATEMENT_THINNABLE_TO_HOURS, STATEMENT_THINNED_TO_HOURS},
};

struct run_to_thin {
	int64_t run, from, until; /* id of the run; samples with from < id <= until are thinned */
	double interval;
	bool open;
};

struct thinned_value { /* one column of the current bucket */
	double sum, weight, last, lowest, highest;
};

struct thinning_bucket {
	double key, at, duration;
	int64_t first, second, third, last; /* sample ids */
	uint64_t samples;
	size_t rows, n;
	struct thinned_value *cell;
};

static void bucket_start(struct thinning_bucket *b, double key)
{
	struct thinned_value *cell = b->cell;
	size_t n = b->n;

	*b = (struct thinning_bucket){.key = key, .cell = cell, .n = n};
	for (size_t i = 0; i < n; i++)
		cell[i] = (struct thinned_value){.last = NAN, .lowest = NAN, .highest = NAN};
}

static double lower(double a, double b)
{
	return isnan(a) || b < a ? b : a;
}

static double higher(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

/* Adds a value to one column of the bucket. The growth per second of a sample shorter than
 * `shortest` seconds is not reliable. It does not count as the lowest or highest value (see
 * recommender/stats.c). */
static void add_value(struct thinned_value *c, enum metric_fold fold, int64_t kind, double v,
	double duration, double shortest)
{
	double extreme = v;

	if (isnan(v))
		return;
	if (fold == FOLD_DELTA)
		extreme = duration >= shortest && duration > 0 ? v / duration : NAN;
	if (kind == SAMPLE_MEASURED || kind == SAMPLE_MEAN) {
		c->sum += fold == FOLD_DELTA ? v : v * duration;
		c->weight += duration;
		c->last = fold == FOLD_PEAK ? higher(c->last, v) : v;
	}
	if (isnan(extreme))
		return;
	/* A correction of totals (a sample with duration 0) may raise the highest value. It never
	 * changes the lowest value. */
	if ((kind == SAMPLE_MEASURED && duration > 0) || kind == SAMPLE_LOWEST)
		c->lowest = lower(c->lowest, extreme);
	if (kind == SAMPLE_MEASURED || kind == SAMPLE_HIGHEST)
		c->highest = higher(c->highest, extreme);
}

struct thinned_row {
	int64_t id, kind;
	uint64_t samples;
	double at, duration;
};

static void note_row(struct thinning_bucket *b, const struct thinned_row *r)
{
	if (b->rows == 0)
		b->first = r->id;
	if (b->rows == 1)
		b->second = r->id;
	if (b->rows == 2)
		b->third = r->id;
	b->last = r->id;
	b->rows++;
	if (r->kind == SAMPLE_LOWEST || r->kind == SAMPLE_HIGHEST)
		return;
	b->at = r->at;
	b->duration += r->duration;
	/* A damaged file may contain any number. Do not let the sum overflow. */
	b->samples += r->samples <= INT64_MAX - b->samples ? r->samples : INT64_MAX - b->samples;
}

static void take_row(struct thinning_bucket *b, const struct history *h, struct sql *q,
	double shortest, const struct thinned_row *r)
{
	note_row(b, r);
	for (size_t i = 0; i < h->n_columns; i++)
		add_value(&b->cell[i], h->column[i].fold, r->kind, sql_double(q), r->duration,
			shortest);
}

static double cell_value(const struct thinned_value *c, enum metric_fold fold,
	enum sample_kind kind, double duration)
{
	double unit = fold == FOLD_DELTA ? duration : 1;

	switch (kind) {
	case SAMPLE_MEASURED:
		return NAN;
	case SAMPLE_MEAN:
		if (isnan(c->last) || fold == FOLD_PEAK)
			return c->last;
		if (fold == FOLD_DELTA)
			return c->sum;
		return c->weight > 0 ? c->sum / c->weight : c->last;
	case SAMPLE_LOWEST:
		return c->lowest * unit;
	case SAMPLE_HIGHEST:
		return c->highest * unit;
	}
	return NAN;
}

static void add_names(const struct history *h, struct buf *b)
{
	for (size_t i = 0; i < h->n_columns; i++) {
		buf_adds(b, ", ");
		history_add_name(b, h->column[i].name);
	}
}

#define SQL_MAX (1u << 20)

static struct sql prepare_select(struct history *h, struct err *e)
{
	struct buf b = BUF_MAX(SQL_MAX);

	buf_adds(&b, "SELECT id, at, duration, kind, samples");
	add_names(h, &b);
	buf_adds(&b, " FROM sample WHERE id > ? AND id <= ? ORDER BY id");
	struct sql q = sql_prepare(&h->file, buf_text(&b), e);

	buf_done(&b);
	return q;
}

static struct sql prepare_insert(struct history *h, struct err *e)
{
	struct buf b = BUF_MAX(SQL_MAX);

	buf_adds(&b, "INSERT INTO sample(id, at, duration, kind, samples");
	add_names(h, &b);
	buf_adds(&b, ") VALUES(?, ?, ?, ?, ?");
	for (size_t i = 0; i < h->n_columns; i++)
		buf_adds(&b, ", ?");
	buf_adds(&b, ")");
	struct sql q = sql_prepare(&h->file, buf_text(&b), e);

	buf_done(&b);
	return q;
}

/* Statements, buffers and limits of one step of thinning. */
struct history_thinning {
	struct history *history;
	const struct thinning_level *level;
	double cutoff; /* seconds since 1970; older samples are thinned */
	/* thin a sample, even if it is newer than `cutoff`, when its run has this many newer
	 * samples */
	int64_t keep;
	size_t rows; /* rows read so far */
	struct sql select, insert;
	struct thinning_bucket bucket;
};

static void thinning_done(struct history_thinning *t)
{
	sql_done(&t->select);
	sql_done(&t->insert);
	free(t->bucket.cell);
}

static bool is_due(const struct history_thinning *t, const struct thinned_row *r, int64_t newest)
{
	return r->at < t->cutoff ||
	       (r->id <= newest && (uint64_t)newest - (uint64_t)r->id >= (uint64_t)t->keep);
}

/* Reads the next bucket of the run. Returns 1 when all rows of the bucket may be thinned. Returns 0
 * when one of them is too new, or when there are no more rows. A bucket ends after ROWS_AT_ONCE
 * rows, because it could grow without a limit if the wall clock stood still. */
static int read_bucket(struct history_thinning *t, const struct run_to_thin *r, int64_t newest,
	struct err *e)
{
	struct sql *q = &t->select;
	struct thinning_bucket *b = &t->bucket;
	int code;

	sql_put_int(q, r->from);
	sql_put_int(q, r->until);
	bucket_start(b, 0);
	while ((code = sql_row(q, e)) > 0) {
		struct thinned_row row = {.id = sql_int(q)};

		row.at = sql_double(q);
		row.duration = sql_double(q);
		row.kind = sql_int(q);
		row.samples = sql_count(q);
		double key = floor(row.at / t->level->width);

		if (b->rows && (key != b->key || b->rows >= ROWS_AT_ONCE))
			break;
		if (!is_due(t, &row, newest)) {
			bucket_start(b, 0);
			break;
		}
		b->key = key;
		take_row(b, t->history, q, r->interval / 2, &row);
	}
	sql_again(q);
	t->rows += b->rows;
	return code < 0 ? code : b->rows > 0;
}

static int insert_row(struct history_thinning *t, enum sample_kind kind, int64_t id, struct err *e)
{
	struct thinning_bucket *b = &t->bucket;
	struct sql *q = &t->insert;

	sql_put_int(q, id);
	sql_put_double(q, b->at);
	sql_put_double(q, b->duration);
	sql_put_int(q, kind);
	sql_put_int(q, (int64_t)b->samples);
	for (size_t i = 0; i < b->n; i++)
		sql_put_double(q,
			cell_value(&b->cell[i], t->history->column[i].fold, kind, b->duration));
	return sql_run(q, e);
}

static int drop_rows(struct history *h, int64_t first, int64_t last, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_DROP_SAMPLES, e);

	sql_put_int(&q, first);
	sql_put_int(&q, last);
	sql_put_int(&q, INT64_MAX);
	return sql_run(&q, e);
}

static int write_bucket(struct history_thinning *t, struct err *e)
{
	const struct thinning_bucket *b = &t->bucket;

	/* A bucket of three rows or fewer would not become smaller. */
	if (b->rows <= ROWS_OF_BUCKET || b->duration <= 0)
		return 0;
	int code = drop_rows(t->history, b->first, b->last, e);

	if (code == 0)
		code = insert_row(t, SAMPLE_MEAN, b->first, e);
	if (code == 0)
		code = insert_row(t, SAMPLE_LOWEST, b->second, e);
	return code ? code : insert_row(t, SAMPLE_HIGHEST, b->third, e);
}

static int note_progress(struct history_thinning *t, int64_t run, int64_t until, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(t->history, t->level->thinned, e);

	sql_put_int(&q, run);
	sql_put_int(&q, until);
	return sql_run(&q, e);
}

/* Returns 1 when the first row of the run after r->from may be thinned. Returns 0 when this row is
 * too new, or when there is none. */
static int has_due(struct history_thinning *t, const struct run_to_thin *r, int64_t newest,
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(t->history, STATEMENT_FIRST_SAMPLE, e);
	struct thinned_row row = {0};

	sql_put_int(&q, r->from);
	sql_put_int(&q, r->until);
	int code = sql_row(&q, e);

	if (code <= 0)
		return code;
	row.id = sql_int(&q);
	row.at = sql_double(&q);
	return is_due(t, &row, newest);
}

/* Prepares the SELECT and the INSERT. Both take long to prepare, so call this only when there are
 * samples to thin, which is rare. */
static int prepare(struct history_thinning *t, struct err *e)
{
	if (t->select.statement)
		return 0;
	t->select = prepare_select(t->history, e);
	if (t->select.code == 0)
		t->insert = prepare_insert(t->history, e);
	return t->select.code ? t->select.code : t->insert.code;
}

static int thin_rows(struct history_thinning *t, struct run_to_thin *r, int64_t newest,
	struct err *e)
{
	int code = prepare(t, e);

	while (code == 0 && t->rows < ROWS_AT_ONCE && (code = read_bucket(t, r, newest, e)) > 0) {
		code = write_bucket(t, e);
		r->from = t->bucket.last;
	}
	return code;
}

static int thin_run(struct history_thinning *t, struct run_to_thin r, struct err *e)
{
	int64_t newest = FIRST_SAMPLE_OF(r.run), before = r.from;
	double newest_at = -INFINITY;
	int code = history_last_sample(t->history, r.run, &newest, &newest_at, e);

	if (code < 0)
		return code;
	if (r.from < FIRST_SAMPLE_OF(r.run))
		r.from = FIRST_SAMPLE_OF(r.run);
	code = has_due(t, &r, newest, e);
	if (code > 0)
		code = thin_rows(t, &r, newest, e);
	/* The condition means: the run has ended, all its samples are old, and all were read. Mark
	 * the whole run as thinned. */
	if (code == 0 && !r.open && r.from == newest && newest_at < t->cutoff)
		r.from = r.until;
	if (code == 0 && r.from != before)
		code = note_progress(t, r.run, r.from, e);
	return code;
}

static int find_thinnable(struct history_thinning *t, struct run_to_thin **ret, size_t *ret_n,
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(t->history, t->level->thinnable, e);
	size_t room = 0;
	int code;

	sql_put_double(&q, t->cutoff);
	while ((code = sql_row(&q, e)) > 0) {
		GROW(*ret, *ret_n, room);
		struct run_to_thin *r = &(*ret)[(*ret_n)++];

		r->run = sql_int(&q);
		r->interval = sql_double(&q);
		r->from = sql_int(&q);
		r->until = sql_int(&q);
		r->open = sql_int(&q);
		if (isnan(r->interval))
			r->interval = 0;
	}
	return code;
}

static int thin_within(struct history_thinning *t, struct err *e)
{
	AUTO(freep) struct run_to_thin *run = NULL;
	struct history *h = t->history;
	size_t n = 0;
	/* Read the columns again: another exporter may have added columns, whose values must not be
	 * lost. */
	int code = history_read_columns(h, e);

	t->bucket.n = h->n_columns;
	t->bucket.cell = xcalloc(h->n_columns, sizeof *t->bucket.cell);
	if (code == 0)
		code = find_thinnable(t, &run, &n, e);
	for (size_t i = 0; i < n && code == 0 && t->rows < ROWS_AT_ONCE; i++)
		code = thin_run(t, run[i], e);
	return code ? code : t->rows > 0;
}

static int thin_level(struct history *h, const struct thinning_level *level, double cutoff,
	int64_t keep, struct err *e)
{
	AUTO(thinning_done)
	struct history_thinning t = {.history = h, .level = level, .keep = keep};
	int code = history_transaction(h, e);

	if (code)
		return code;
	t.cutoff = floor(cutoff / level->width) * level->width;
	code = thin_within(&t, e);
	/* Finalize both statements before the commit: an unfinished statement keeps the transaction
	 * open. */
	sql_done(&t.select);
	sql_done(&t.insert);
	return history_end(h, code, e);
}

int history_thin(struct history *h, double full_rate_seconds, double now, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		bool first = i == 0;
		double age = full_rate_seconds * levels[i].age_factor;
		int code = thin_level(h, &levels[i], full_rate_seconds > 0 ? now - age : -INFINITY,
			first ? FULL_RATE_SAMPLES : INT64_MAX, e);

		if (code)
			return code;
	}
	return 0;
}

int history_thin_open(struct history *h, int64_t keep, struct err *e)
{
	return thin_level(h, &levels[0], -INFINITY, keep, e);
}
