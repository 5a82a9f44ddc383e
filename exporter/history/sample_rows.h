/*
 * From snapshots to history rows: one row per recorded run and interval, with the run's own columns and the
 * system's. Counters become their growth over the interval. Used by the sampler thread only.
 */
#ifndef EXPORTER_HISTORY_SAMPLE_ROWS_H
#define EXPORTER_HISTORY_SAMPLE_ROWS_H

#include "collectors/snapshot.h"
#include "exporter/history/history.h"

struct fold;

struct fold *fold_new(const struct columns *columns);
void fold_free(struct fold *f);

/*
 * The run is recorded from this snapshot on: its own counters start from 0, those of the system from here.
 * s need not hold the run yet. When it does, the first row covers the run from its start, as its counters do;
 * what the system did meanwhile is not known when that is long ago.
 */
void fold_begin(struct fold *f, const char *run_id, const struct snapshot *s);

/*
 * Goes on with a run that an exporter before us recorded: it counted up to base (a value for each enum
 * run_metric), seconds ago. What the system did meanwhile is not known.
 */
void fold_continue(struct fold *f, const char *run_id, const struct snapshot *s, const double *base,
	double seconds);

/*
 * The rows of all recorded runs, or of run_id alone, since their last rows. They are valid until the next call.
 * An interval of less than a millisecond gives no row, unless the run has ended.
 */
size_t fold_rows(struct fold *f, const struct snapshot *s, const char *run_id,
	const struct sample **ret);

/*
 * As fold_rows for the run alone, when its exact totals were told at its end: what they add is no growth of an
 * interval, so the row has no length.
 */
size_t fold_correction(struct fold *f, const struct snapshot *s, const char *run_id,
	const struct sample **ret);

/* No more rows of this run. */
void fold_end(struct fold *f, const char *run_id);
bool fold_records(const struct fold *f, const char *run_id);

#endif
