/* A run's samples for a chart: rates instead of growth, and a limited number of points. */
#ifndef EXPORTER_ANSWERS_SERIES_VIEW_H
#define EXPORTER_ANSWERS_SERIES_VIEW_H

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "recommender/run.h"

/* Returns the values of a column; NULL when there is no such column or `name` is NULL. */
const double *series_column(const struct series *s, const char *name);

/* Lists the history columns that series_view_of needs; NULL-terminated, in `arena`. */
const char *const *series_view_sources(struct arena *arena);

/* Converts the history columns of `s` to the columns of a chart. The times stay the same. A column
 * without a known value is left out. Growth becomes a rate: it is divided by the length of its
 * interval. If an interval is shorter than half of the median, its rate would be too inexact, and
 * its growth is added to the next interval. */
struct series series_view_of(const struct series *s, struct arena *arena);

/* Selects the samples between the times `from` and `to`, in seconds since 1970 UTC; NaN = no bound.
 * The result shares the values of `s`. */
struct series series_view_between(const struct series *s, double from, double to,
	struct arena *arena);

/* Reduces `s` to at most `points` points. Divides the time into `points` / 2 equal stretches. In
 * each stretch, each column keeps its lowest and its highest value, in the order of their times. No
 * peak is lost. */
struct series series_view_thinned(const struct series *s, size_t points, struct arena *arena);

/* Writes {"n": ..., "at": [...], "columns": {"cpu_cores": [...], ...}}; unknown values are null. */
void series_view_json(struct buf *out, const struct series *s);

#endif
