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

/* Converts the history columns of `s` to those of a chart, at the same times. Columns without a
 * known value are left out. An interval shorter than half the median has no rate; its growth is
 * added to the next interval. */
struct series series_view_of(const struct series *s, struct arena *arena);

/* Selects the samples in from..to, seconds since 1970 UTC; NaN = no bound. The result shares the
 * values of `s`. */
struct series series_view_between(const struct series *s, double from, double to,
	struct arena *arena);

/* Reduces `s` to at most `points` points. Time is cut into points/2 equal stretches. Each stretch
 * gives the lowest and the highest value of every column, in the order of time, so that no peak is
 * lost. */
struct series series_view_thinned(const struct series *s, size_t points, struct arena *arena);

/* Writes {"n": ..., "at": [...], "columns": {"cpu_cores": [...], ...}}; unknown values are null. */
void series_view_json(struct buf *out, const struct series *s);

#endif
