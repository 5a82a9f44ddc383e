/* Turns snapshots into rows of the history. There is one row for each recorded run and interval,
 * with the columns of the run and of the machine. For a counter, a row contains the growth over its
 * interval. Only the sampler thread uses this. */
#ifndef EXPORTER_HISTORY_SAMPLE_ROWS_H
#define EXPORTER_HISTORY_SAMPLE_ROWS_H

#include "collectors/snapshot.h"
#include "exporter/history/history.h"

struct sample_rows;

struct sample_rows *sample_rows_new(const struct columns *columns);
void sample_rows_free(struct sample_rows *f);

/* Starts to record a run, beginning with snapshot `s`. The growth of the run's counters is counted
 * from 0. The growth of the machine's counters is counted from their values in `s`. If `s` contains
 * the run, the first row covers the run from its start. If the run is older than 0.1 s in `s`, the
 * machine's growth in the first row is unknown. */
void sample_rows_begin(struct sample_rows *f, const char *run_id, const struct snapshot *s);

/* Continues to record a run whose last row an earlier exporter recorded `seconds` ago. `base`
 * contains the value of each enum run_metric at the end of that row. The machine's growth since
 * then is unknown. */
void sample_rows_continue(struct sample_rows *f, const char *run_id, const struct snapshot *s,
	const double *base, double seconds);

/* Creates one row for each recorded run, or only for `run_id` if it is not NULL. Sets `*ret` to the
 * rows and returns their number. A row covers the time since the last row of its run. A run gets no
 * row if less than 1 ms has passed since then and the run has not ended. The rows are valid until
 * the next call. */
size_t sample_rows_read(struct sample_rows *f, const struct snapshot *s, const char *run_id,
	const struct sample **ret);

/* Creates a row for a run whose exact totals became known after its end. `*ret` and the result are
 * as in sample_rows_read. The row corrects the totals. It has duration 0, because a correction is
 * not growth within an interval. */
size_t sample_rows_correction(struct sample_rows *f, const struct snapshot *s, const char *run_id,
	const struct sample **ret);

/* Stops recording the run. */
void sample_rows_end(struct sample_rows *f, const char *run_id);
bool sample_rows_records(const struct sample_rows *f, const char *run_id);

#endif
