/*
 * From snapshots to history rows: one row per recorded run and interval, with the run's own columns and the
 * system's. Counters become their growth over the interval. Used by the sampler thread only.
 */
#ifndef EXPORTER_HISTORY_SAMPLE_ROWS_H
#define EXPORTER_HISTORY_SAMPLE_ROWS_H

#include "collectors/snapshot.h"
#include "exporter/history/history.h"

struct sample_rows;

struct sample_rows *sample_rows_new(const struct columns *columns);
void sample_rows_free(struct sample_rows *f);

/*
 * The run is recorded from this snapshot on: its own counters start from 0, those of the system from here.
 * s need not hold the run yet. When it does, the first row covers the run from its start, as its counters do;
 * what the system did meanwhile is not known when that is long ago.
 */
void sample_rows_begin(struct sample_rows *f, const char *run_id, const struct snapshot *s);

/*
 * Goes on with a run that an exporter before us recorded: it counted up to base (a value for each enum
 * run_metric), seconds ago. What the system did meanwhile is not known.
 */
void sample_rows_continue(struct sample_rows *f, const char *run_id, const struct snapshot *s,
	const double *base, double seconds);

/*
 * The rows of all recorded runs, or of run_id alone, since their last rows. They are valid until the next call.
 * An interval of less than a millisecond gives no row, unless the run has ended.
 */
size_t sample_rows_read(struct sample_rows *f, const struct snapshot *s, const char *run_id,
	const struct sample **ret);

/*
 * As sample_rows_read for the run alone, when its exact totals were told at its end: what they add is no growth of an
 * interval, so the row has no length.
 */
size_t sample_rows_correction(struct sample_rows *f, const struct snapshot *s, const char *run_id,
	const struct sample **ret);

/* No more rows of this run. */
void sample_rows_end(struct sample_rows *f, const char *run_id);
bool sample_rows_records(const struct sample_rows *f, const char *run_id);

#endif
