/* Turns snapshots into rows of the history, that is, struct sample. Each recorded run gets one row
 * per interval, with the values of the run and of the machine. For a counter, a row contains the
 * growth over its interval. Only the sampler thread uses this. */
#ifndef EXPORTER_HISTORY_SAMPLE_ROWS_H
#define EXPORTER_HISTORY_SAMPLE_ROWS_H

#include "collectors/snapshot.h"
#include "exporter/history/history.h"

struct sample_rows;

struct sample_rows *sample_rows_new(const struct columns *columns);
void sample_rows_free(struct sample_rows *f);

/* Starts to record a run that appears in snapshot `s` or later. The growth of the run's counters is
 * counted from 0. The growth of the machine's counters is counted from their values in `s`.
 *
 * If `s` contains the run, its first row covers the run from its start. If the run is older than
 * 0.1 s in `s`, the values of the machine's counters at its start are unknown. Their growth in the
 * first row is then NaN. */
void sample_rows_begin(struct sample_rows *f, const char *run_id, const struct snapshot *s);

/* Continues to record a run that an earlier exporter began to record. The last row of that exporter
 * ended `seconds` ago. `base` contains the value of each enum run_metric at that time. The growth
 * of the machine's counters since that time is unknown. */
void sample_rows_continue(struct sample_rows *f, const char *run_id, const struct snapshot *s,
	const double *base, double seconds);

/* Creates one row for the run `run_id`; `run_id` NULL = one row for each recorded run. Sets `*ret`
 * to the rows and returns their number. A row covers the time since the last row of its run. If
 * this time is below 1 ms and the run has not ended, the run gets no row. The rows are valid until
 * the next call. */
size_t sample_rows_read(struct sample_rows *f, const struct snapshot *s, const char *run_id,
	const struct sample **ret);

/* Creates a row that corrects the totals of a run. Call it when exact totals became known after the
 * end of the run. The row has duration 0, because the correction does not belong to an interval.
 * `*ret` and the result are as in sample_rows_read. */
size_t sample_rows_correction(struct sample_rows *f, const struct snapshot *s, const char *run_id,
	const struct sample **ret);

/* Stops recording the run. */
void sample_rows_end(struct sample_rows *f, const char *run_id);
bool sample_rows_records(const struct sample_rows *f, const char *run_id);

#endif
