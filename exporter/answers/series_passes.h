/*
 * The samples of a run as points of a chart, read in one pass where memory suffices, else some columns at a time: what all
 * columns of a long run take is more than a small server may have (exporter/core/memory_budget.h).
 */
#ifndef EXPORTER_ANSWERS_SERIES_PASSES_H
#define EXPORTER_ANSWERS_SERIES_PASSES_H

#include "exporter/history/history.h"
#include "recommender/behaviour/phases.h"

struct series_passes_question {
	const char *run_id;
	size_t samples;  /* of the run, or more */
	double from, to; /* NaN = no bound */
	size_t points;   /* most */
};

struct series_passes {
	struct series view;   /* as exporter/answers/series_view.h says */
	struct phases phases; /* of the whole run; none of a run without samples */
	int64_t position;     /* behind the last sample */
	size_t samples;       /* that were read */
};

/* Into arena. -E2BIG: not even the points asked for fit. Else as history_series_after. */
int series_passes_read(struct history *h, const struct series_passes_question *q,
	struct arena *arena, struct series_passes *ret, struct err *e);

#endif
