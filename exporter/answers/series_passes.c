#include "exporter/answers/series_passes.h"

#include <errno.h>
#include <string.h>

#include "exporter/core/memory_budget.h"
#include "exporter/answers/series_view.h"

/* Memory that one sample needs, in bytes: ROW_BYTES for times and derived values, and COLUMN_BYTES
 * for each column: two doubles, one of the sample and one of the reduced series. */
#define ROW_BYTES    48
#define COLUMN_BYTES 16

#define VIEW_MAX 64

static size_t rows_of(const struct series_passes_question *q)
{
	return q->samples < HISTORY_SERIES_MAX ? q->samples + 1 : HISTORY_SERIES_MAX;
}

/* Returns how many of the `columns` one pass can read within the memory budget; at least 1. */
static size_t width_of(const struct series_passes_question *q, size_t columns)
{
	size_t bytes = memory_budget()->making / rows_of(q);
	size_t n = bytes > ROW_BYTES ? (bytes - ROW_BYTES) / COLUMN_BYTES : 0;

	return n < 1 ? 1 : n < columns ? n : columns;
}

static struct series drawn(const struct series *raw, const struct series_passes_question *q,
	struct arena *arena)
{
	struct series view = series_view_of(raw, arena);

	view = series_view_between(&view, q->from, q->to, arena);
	return series_view_thinned(&view, q->points, arena);
}

static double *copied(const double *v, size_t n, struct arena *arena)
{
	double *ret = arena_alloc(arena, (n + 1) * sizeof *ret);

	return n ? memcpy(ret, v, n * sizeof *ret) : ret;
}

struct gathered_series {
	size_t n, n_columns;
	const double *at, *duration;
	const char *name[VIEW_MAX];
	double *value[VIEW_MAX];
};

/* Adds the columns of a pass to the columns of the earlier passes. All passes read the same
 * samples, so the times are copied only in the first pass. */
static void add_columns(struct gathered_series *to, const struct series *view, struct arena *arena)
{
	if (!to->at) {
		to->n = view->n;
		to->at = copied(view->at, view->n, arena);
		to->duration = copied(view->duration, view->n, arena);
	}
	for (size_t i = 0; i < view->n_columns; i++) {
		to->name[to->n_columns] = view->columns[i];
		to->value[to->n_columns++] = copied(view->values[i], view->n, arena);
	}
}

static struct series series_of(const struct gathered_series *g, struct arena *arena)
{
	const char **names = arena_alloc(arena, sizeof g->name);
	double **values = arena_alloc(arena, sizeof g->value);

	memcpy(names, g->name, sizeof g->name);
	memcpy(values, g->value, sizeof g->value);
	return (struct series){g->n, g->n_columns, names, g->at, g->duration, values};
}

static int read_phases(struct history *h, const struct series_passes_question *q,
	struct arena *arena, struct series_passes *ret, struct err *e)
{
	AUTO(arena_done) struct arena pass = {0};
	struct series raw = {0};
	int code = history_series_after(h, q->run_id, &ret->position, 0, phases_columns, &pass,
		&raw, e);

	if (code < 0)
		return code;
	ret->samples = raw.n;
	if (raw.n) {
		phases_of(&raw, &pass, &ret->phases);
		phases_copy(&ret->phases, arena);
	}
	return 0;
}

static int read_some(struct history *h, const struct series_passes_question *q,
	const char *const *columns, struct arena *arena, struct gathered_series *ret, struct err *e)
{
	AUTO(arena_done) struct arena pass = {0};
	struct series raw = {0};
	int64_t position = 0;
	int code = history_series_after(h, q->run_id, &position, 0, columns, &pass, &raw, e);

	if (code < 0)
		return code;
	struct series view = drawn(&raw, q, &pass);

	add_columns(ret, &view, arena);
	return 0;
}

static int read_in_passes(struct history *h, const struct series_passes_question *q,
	const char *const *columns, size_t n, struct arena *arena, struct series_passes *ret,
	struct err *e)
{
	size_t width = width_of(q, n), rows = rows_of(q);
	size_t points = q->points < rows ? q->points : rows;
	struct gathered_series all = {0};
	int code = points > memory_budget()->making / ((n + 2) * sizeof(double)) ?
			   err_set(e, -E2BIG, "%zu points are too many", points) :
			   history_hold(h, e);

	if (code == 0)
		code = read_phases(h, q, arena, ret, e);
	for (size_t i = 0; i < n && code == 0; i += width) {
		const char *some[VIEW_MAX + 1] = {0};

		memcpy(some, columns + i, (n - i < width ? n - i : width) * sizeof *some);
		code = memory_budget_is_over() ? err_set(e, -ENOMEM, "samples: no memory is left") :
						 read_some(h, q, some, arena, &all, e);
	}
	ret->view = series_of(&all, arena);
	return code;
}

int series_passes_read(struct history *h, const struct series_passes_question *q,
	struct arena *arena, struct series_passes *ret, struct err *e)
{
	const char *const *columns = series_view_sources(arena);
	struct series raw = {0};
	size_t n = 0;

	while (n < VIEW_MAX && columns[n])
		n++;
	*ret = (struct series_passes){0};
	if (width_of(q, n) < n)
		return read_in_passes(h, q, columns, n, arena, ret, e);
	int code = history_series_after(h, q->run_id, &ret->position, 0, columns, arena, &raw, e);

	if (code < 0)
		return code;
	ret->samples = raw.n;
	if (raw.n)
		phases_of(&raw, arena, &ret->phases);
	ret->view = drawn(&raw, q, arena);
	return 0;
}
