/*
 * The samples of a run as points of a chart. Reads all columns in one pass, or some columns at a
 * time when all columns of a long run exceed the memory budget (memory_budget.h).
 */
#ifndef EXPORTER_ANSWERS_SERIES_PASSES_H
#define EXPORTER_ANSWERS_SERIES_PASSES_H

#include "exporter/history/history.h"
#include "recommender/behaviour/phases.h"

struct series_passes_question {
	const char *run_id;
	size_t samples;  /* at least those of the run */
	double from, to; /* NaN = no bound */
	size_t points;   /* at most */
};

struct series_passes {
	struct series view;   /* see series_view.h */
	struct phases phases; /* the whole run; n 0 without samples */
	int64_t position;     /* number of the last sample */
	size_t samples;       /* read from the history */
};

/* ret lives in arena. -E2BIG: the points exceed the memory budget. Else as history_series_after. */
int series_passes_read(struct history *h, const struct series_passes_question *q,
	struct arena *arena, struct series_passes *ret, struct err *e);

#endif
