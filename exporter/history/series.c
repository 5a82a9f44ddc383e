/* Reads the samples of a run as a series, and computes statistics from them. */
#include "exporter/history/tables.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SQL_MAX (1u << 20)

/* While statistics are computed, at most this many values (4 MiB) are in memory at the same
 * time. */
#define CELLS_AT_ONCE (1u << 19)

struct history_part {
	int64_t run, after; /* `after`: number of the last sample that was read before */
	/* maximum number of rows to read; 0 = read all rows, and merge some if there are too many
	 * (history_series) */
	size_t rows;
	/* true = read all three rows of a thinned bucket: mean, lowest and highest values; false =
	 * read only the mean */
	bool spread;
};

struct series_loading {
	size_t n, room;
	size_t most;          /* rows are merged when `n` reaches `most`; `room` is `most` + 2 */
	size_t joined, width; /* each of the first `joined` rows was merged from `width` rows */
	size_t bucket;        /* index of the current bucket's mean row */
	double samples;
	int64_t last; /* id of the last row read */
	size_t n_columns;
	const struct history_column *column;
	double *at, *duration, **values;
};

static struct sql select_samples(struct history *h, const struct history_part *part,
	const struct history_column *columns, size_t n_columns, struct err *e)
{
	struct buf b = BUF_MAX(SQL_MAX);

	buf_adds(&b, "SELECT id, at, duration, kind, samples");
	for (size_t i = 0; i < n_columns; i++) {
		buf_adds(&b, ", ");
		if (columns[i].absent)
			buf_adds(&b, "NULL");
		else
			history_add_name(&b, columns[i].name);
	}
	buf_adds(&b, " FROM sample WHERE id > ? AND id <= ?");
	buf_adds(&b, part->spread ? " ORDER BY id LIMIT ?" : " AND kind < 2 ORDER BY id LIMIT ?");
	struct sql q = sql_prepare(&h->file, buf_text(&b), e);

	buf_done(&b);
	sql_put_int(&q, FIRST_SAMPLE_OF(part->run) + part->after);
	sql_put_int(&q, LAST_SAMPLE_OF(part->run));
	sql_put_int(&q, part->rows ? (int64_t)part->rows : -1);
	return q;
}

/* Changes the values of one column in the three rows of a bucket, so that they have the same total
 * as its samples. The rows with the lowest and the highest value then each count as one sample. The
 * first row gets the mean, or the growth, of all other samples. `whole` is the duration of the
 * bucket in seconds, and `part` the duration of one sample. */
static void spread_value(struct series_loading *l, size_t column, double whole, double part)
{
	double *mean = &l->values[column][l->bucket], *lowest = mean + 1, *highest = mean + 2;
	double rest = whole - 2 * part;

	if (l->column[column].fold == FOLD_PEAK || isnan(*mean))
		return;
	if (l->column[column].fold == FOLD_DELTA) {
		*lowest = isnan(*lowest) ? *mean * part / whole : *lowest * part / whole;
		*highest = isnan(*highest) ? *mean * part / whole : *highest * part / whole;
		*mean -= *lowest + *highest;
		return;
	}
	*mean = (*mean * whole - (*lowest + *highest) * part) / rest;
	/* This formula assumes that all samples have the same length. If they do not, the result
	 * can be slightly below the lowest or above the highest value. */
	*mean = *mean < *lowest ? *lowest : *mean > *highest ? *highest : *mean;
}

static void spread_bucket(struct series_loading *l)
{
	double whole = l->duration[l->bucket];
	double part = whole / (l->samples < 3 ? 3 : l->samples);

	if (whole <= 0)
		return;
	for (size_t i = 0; i < l->n_columns; i++)
		spread_value(l, i, whole, part);
	l->duration[l->bucket] = whole - 2 * part;
	l->duration[l->bucket + 1] = l->duration[l->bucket + 2] = part;
}

/* Returns false for a row that must be skipped: a lowest or highest row that does not follow its
 * mean row. */
static bool in_order(struct series_loading *l, int64_t kind, double samples)
{
	if (kind == SAMPLE_MEAN) {
		l->bucket = l->n;
		l->samples = samples;
	}
	if (kind == SAMPLE_LOWEST || kind == SAMPLE_HIGHEST)
		return l->samples > 0 && l->n == l->bucket + (size_t)(kind - SAMPLE_MEAN);
	return kind == SAMPLE_MEASURED || kind == SAMPLE_MEAN;
}

/* Merges `n` neighbouring values of one column. Depending on `fold`, returns the total growth, the
 * highest value, or the mean over the time in which values are known. */
static double joined(enum metric_fold fold, const double *v, const double *duration, size_t n)
{
	double sum = 0, weight = 0, highest = NAN, last = NAN;

	for (size_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		sum += fold == FOLD_DELTA ? v[i] : v[i] * duration[i];
		weight += duration[i];
		highest = fmax(highest, v[i]);
		last = v[i];
	}
	if (fold == FOLD_PEAK || isnan(last))
		return highest;
	if (fold == FOLD_DELTA)
		return sum;
	return weight > 0 ? sum / weight : last;
}

/* Merges each group of `width` neighbouring rows, from row `from` on, into one row with the total
 * duration of the group. */
static void join_rows(struct series_loading *l, size_t from, size_t width)
{
	size_t n = from;

	for (size_t i = from; i < l->n; i += width, n++) {
		size_t some = l->n - i < width ? l->n - i : width;
		double lasts = 0;

		for (size_t c = 0; c < l->n_columns; c++)
			l->values[c][n] =
				joined(l->column[c].fold, l->values[c] + i, l->duration + i, some);
		for (size_t k = i; k < i + some; k++)
			lasts += l->duration[k];
		l->at[n] = l->at[i + some - 1];
		l->duration[n] = lasts;
	}
	l->n = n;
}

/* Makes room for more rows by merging rows. Each of the first `joined` rows was already merged from
 * `width` rows. Merges the rows after them in groups of `width`, too. If more than half of the room
 * is still used, merges all rows in pairs. */
static void make_room(struct series_loading *l)
{
	if (l->width > 1)
		join_rows(l, l->joined, l->width);
	if (l->n > l->most / 2) {
		join_rows(l, 0, 2);
		l->width *= 2;
	}
	l->joined = l->n;
	l->samples = 0; /* there is no current bucket */
}

static void take_row(struct series_loading *l, struct sql *q)
{
	int64_t id = sql_int(q);
	double at = sql_double(q), duration = sql_double(q);
	int64_t kind = sql_int(q), samples = sql_int(q);

	l->last = id;
	if (l->n >= l->most && (kind == SAMPLE_MEASURED || kind == SAMPLE_MEAN))
		make_room(l);
	if (l->n == l->room || !in_order(l, kind, (double)samples))
		return;
	l->at[l->n] = at;
	l->duration[l->n] = duration;
	for (size_t i = 0; i < l->n_columns; i++)
		l->values[i][l->n] = sql_double(q);
	l->n++;
	if (kind == SAMPLE_HIGHEST)
		spread_bucket(l);
}

static struct series_loading loading_of(const struct history_column *columns, size_t n_columns,
	size_t rows, struct arena *arena)
{
	size_t most = rows < HISTORY_SERIES_MAX ? rows : HISTORY_SERIES_MAX;
	size_t room = most + ROWS_OF_BUCKET - 1;
	struct series_loading l = {
		.most = most,
		.width = 1,
		.room = room,
		.n_columns = n_columns,
		.column = columns,
		.at = arena_alloc(arena, room * sizeof(double)),
		.duration = arena_alloc(arena, room * sizeof(double)),
		.values = arena_alloc(arena, n_columns * sizeof(double *)),
	};

	for (size_t i = 0; i < n_columns; i++)
		l.values[i] = arena_alloc(arena, room * sizeof(double));
	return l;
}

/* Finds an upper limit for the number of rows of a run. Samples are numbered from 1, so the number
 * of the run's last sample is such a limit. If the run was thinned, or if this number is 1,000,000
 * or more, the rows are counted instead. */
static int rows_at_most(struct history *h, int64_t run, size_t *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_ROWS_AT_MOST, e);

	sql_put_int(&q, run);
	int code = sql_row(&q, e);

	if (code > 0)
		*ret = (size_t)sql_int(&q);
	return code < 0 ? code : 0;
}

static int load(struct history *h, struct history_part *part, const struct history_column *columns,
	size_t n_columns, struct arena *arena, struct series *ret, struct err *e)
{
	size_t rows = part->rows;
	int code = rows ? 0 : rows_at_most(h, part->run, &rows, e);

	if (code)
		return code;
	AUTO(sql_done) struct sql q = select_samples(h, part, columns, n_columns, e);
	struct series_loading l = loading_of(columns, n_columns, rows, arena);
	const char **names = arena_alloc(arena, n_columns * sizeof *names);

	while ((code = sql_row(&q, e)) > 0)
		take_row(&l, &q);
	for (size_t i = 0; i < n_columns; i++)
		names[i] = arena_text(arena, l.column[i].name, strlen(l.column[i].name));
	if (l.last)
		part->after = l.last - FIRST_SAMPLE_OF(part->run);
	*ret = (struct series){l.n, n_columns, names, l.at, l.duration, l.values};
	return code;
}

int history_count(struct history *h, int64_t run, struct sample_count *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_COUNT_SAMPLES, e);

	sql_put_int(&q, FIRST_SAMPLE_OF(run));
	sql_put_int(&q, LAST_SAMPLE_OF(run));
	int code = sql_row(&q, e);

	if (code <= 0)
		return code;
	ret->samples = sql_count(&q);
	ret->duration = sql_double(&q);
	return 0;
}

int history_find(struct history *h, const char *run_id, struct found_run *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_FIND_RUN, e);

	sql_put_text(&q, run_id);
	int code = sql_row(&q, e);

	if (code > 0) {
		ret->id = sql_int(&q);
		ret->job = sql_int(&q);
		ret->outcome = sql_outcome(&q);
		ret->started_at = sql_double(&q);
		ret->interval_seconds = sql_double(&q);
		ret->circumstances = sql_int(&q);
	}
	return code;
}

int history_last_sample(struct history *h, int64_t run, int64_t *id, double *at, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_LAST_SAMPLE, e);

	sql_put_int(&q, FIRST_SAMPLE_OF(run));
	sql_put_int(&q, LAST_SAMPLE_OF(run));
	int code = sql_row(&q, e);

	if (code > 0) {
		*id = sql_int(&q);
		*at = sql_double(&q);
	}
	return code;
}

static int by_column(const void *a, const void *b)
{
	const struct column_stats *x = a, *y = b;

	return strcmp(x->column, y->column);
}

/* Reads the list of the file's columns, unless the handle has it. A handle for writing always has
 * it. */
static int know_columns(struct history *h, struct err *e)
{
	return h->n_columns ? 0 : history_read_columns(h, e);
}

int history_stats(struct history *h, int64_t run, struct arena *arena, struct column_stats **ret,
	size_t *ret_n, struct err *e)
{
	AUTO(freep) struct column_stats *all = NULL;
	AUTO(arena_done) struct arena pass = {0};
	size_t n = 0, room = 0, rows = 0;
	int code = know_columns(h, e);

	if (code == 0)
		code = rows_at_most(h, run, &rows, e);
	rows = rows < HISTORY_SERIES_MAX ? rows : HISTORY_SERIES_MAX;
	size_t width = CELLS_AT_ONCE / (rows + 1);

	for (size_t first = 0; first < h->n_columns && code == 0; first += width) {
		size_t columns = h->n_columns - first < width ? h->n_columns - first : width;
		struct history_part whole = {.run = run, .spread = true};
		struct column_stats *some;
		struct series s;

		arena_reset(&pass);
		code = load(h, &whole, h->column + first, columns, &pass, &s, e);
		if (code)
			return code;
		size_t found = stats_of_series(&s, arena, &some);

		for (size_t i = 0; i < found; i++) {
			GROW(all, n, room);
			all[n++] = some[i];
		}
	}
	if (code)
		return code;
	*ret = arena_alloc(arena, n * sizeof **ret);
	*ret_n = n;
	if (n)
		memcpy(*ret, all, n * sizeof *all);
	qsort(*ret, n, sizeof **ret, by_column);
	return 0;
}

/* Sets `*ret` to the columns with these `names`, allocated in `arena`. If the file does not have a
 * column, its values are all NaN. */
static size_t choose_columns(const struct history *h, const char *const *names, struct arena *arena,
	const struct history_column **ret)
{
	size_t n = 0;

	while (names[n])
		n++;
	struct history_column *chosen = arena_alloc(arena, n * sizeof *chosen);

	for (size_t i = 0; i < n; i++) {
		const struct history_column *c = history_find_column(h, names[i]);

		chosen[i] = c ? *c : (struct history_column){.name = names[i], .absent = true};
	}
	*ret = chosen;
	return n;
}

int history_series_after(struct history *h, const char *run_id, int64_t *position, size_t limit,
	const char *const *columns, struct arena *arena, struct series *ret, struct err *e)
{
	AUTO(sql_reading_end) struct sql_reading reading = {0};
	struct history_part part = {.after = *position, .rows = limit};
	struct found_run run = {0};
	int code = sql_reading_begin(&reading, h, e);

	if (code == 0)
		code = know_columns(h, e);
	if (code == 0)
		code = history_find(h, run_id, &run, e);
	if (code == 0)
		return err_set(e, -ENOENT, "history %s: no run %s", h->path, run_id);
	if (code < 0)
		return code;
	part.run = run.id;
	const struct history_column *chosen = h->column;
	size_t n = columns ? choose_columns(h, columns, arena, &chosen) : h->n_columns;

	code = load(h, &part, chosen, n, arena, ret, e);
	if (code)
		return code;
	*position = part.after;
	return run.outcome == OUTCOME_RUNNING || (limit && ret->n == limit);
}

int history_series(struct history *h, const char *run_id, const char *const *columns,
	struct arena *arena, struct series *ret, struct err *e)
{
	int64_t position = 0;
	int code = history_series_after(h, run_id, &position, 0, columns, arena, ret, e);

	return code < 0 ? code : 0;
}
