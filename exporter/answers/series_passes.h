/* Reads the samples of a run as points of a chart. Usually reads all columns in one pass. If they
 * exceed the memory budget (memory_budget.h), because the run is long, reads the samples several
 * times, each time with some of the columns. */
#ifndef EXPORTER_ANSWERS_SERIES_PASSES_H
#define EXPORTER_ANSWERS_SERIES_PASSES_H

#include "exporter/history/history.h"
#include "recommender/behaviour/phases.h"

struct series_passes_question {
	const char *run_id;
	size_t samples;  /* upper bound for the samples of the run */
	double from, to; /* NaN = no bound */
	size_t points;   /* upper bound for the points of the view */
};

struct series_passes {
	struct series view;   /* the points; see series_view.h */
	struct phases phases; /* phases of the whole run; n 0 = no samples */
	int64_t position;     /* position of the last sample in the history */
	size_t samples;       /* number of samples read from the history */
};

/* Reads the view and the phases. All data of `ret` is in `arena`. Returns -E2BIG when the points
 * exceed the memory budget. Other errors are those of history_series_after. */
int series_passes_read(struct history *h, const struct series_passes_question *q,
	struct arena *arena, struct series_passes *ret, struct err *e);

#endif
