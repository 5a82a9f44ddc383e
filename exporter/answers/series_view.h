/* A run's samples for a chart: rates instead of growth, and a limited number of points. */
#ifndef EXPORTER_ANSWERS_SERIES_VIEW_H
#define EXPORTER_ANSWERS_SERIES_VIEW_H

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "recommender/run.h"

/* Returns the values of a column; NULL = no such column, or name is NULL. */
const double *series_column(const struct series *s, const char *name);

/* The history columns that series_view_of needs; NULL-terminated, in arena. */
const char *const *series_view_sources(struct arena *arena);

/*
 * Returns the columns that have a known value, at the times of s, which has the columns of
 * series_view_sources. An interval shorter than half the usual has no rate: its growth counts for
 * the next one.
 */
struct series series_view_of(const struct series *s, struct arena *arena);

/* Selects samples of from..to, seconds since 1970 UTC; NaN = no bound. Shares the values of s. */
struct series series_view_between(const struct series *s, double from, double to,
	struct arena *arena);

/*
 * Returns at most so many points. Each of points/2 equal stretches of time gives two: the lowest
 * and the highest value of every column, in their order. No peak is lost; columns share times.
 */
struct series series_view_thinned(const struct series *s, size_t points, struct arena *arena);

/* {"n": ..., "at": [...], "columns": {"cpu_cores": [...], ...}}: unknown is null. */
void series_view_json(struct buf *out, const struct series *s);

#endif
