/*
 * A run's samples as a chart wants them: rates instead of growth, and no more points than asked
 * for. Which columns there are stands in one table.
 */
#ifndef EXPORTER_ANSWERS_SERIES_VIEW_H
#define EXPORTER_ANSWERS_SERIES_VIEW_H

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "recommender/run.h"

/* The values of a column; NULL = there is none, as of a NULL name. */
const double *series_column(const struct series *s, const char *name);

/* What to read from the history for it: NULL-terminated, in arena. */
const char *const *series_view_sources(struct arena *arena);

/*
 * The columns of the table that have a known value, over the same times. s has the columns of
 * series_view_sources. An interval much shorter than usual has no rate of its own: what grew in it belongs to
 * the next one.
 */
struct series series_view_of(const struct series *s, struct arena *arena);

/* Only what was taken from..to, seconds since 1970 UTC; NaN = no bound. Shares the values of s. */
struct series series_view_between(const struct series *s, double from, double to,
	struct arena *arena);

/*
 * At most so many points: equal stretches of time give two each, the lowest and the highest value of
 * every column in the order in which they came, so that no peak is lost and all columns share their
 * times.
 */
struct series series_view_thinned(const struct series *s, size_t points, struct arena *arena);

/* {"n": ..., "at": [...], "columns": {"cpu_cores": [...], ...}}: unknown is null. */
void series_view_json(struct buf *out, const struct series *s);

#endif
