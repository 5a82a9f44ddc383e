/* Turns snapshots into history rows: one row per recorded run and interval, with the columns of the
 * run and of the system. A counter becomes its growth over the interval. Only the sampler thread
 * uses this. */
#ifndef EXPORTER_HISTORY_SAMPLE_ROWS_H
#define EXPORTER_HISTORY_SAMPLE_ROWS_H

#include "collectors/snapshot.h"
#include "exporter/history/history.h"

struct sample_rows;

struct sample_rows *sample_rows_new(const struct columns *columns);
void sample_rows_free(struct sample_rows *f);

/* Records the run from this snapshot on. Counters of the run start at 0, counters of the system at
 * their value in `s`. When `s` contains the run, the first row covers the run from its start. If
 * the run started over 0.1 s ago, the system's growth in that row is unknown. */
void sample_rows_begin(struct sample_rows *f, const char *run_id, const struct snapshot *s);

/* Continues a run that an earlier exporter recorded. `base` contains the run's last value of each
 * enum run_metric, from `seconds` ago. The system's growth since then is unknown. */
void sample_rows_continue(struct sample_rows *f, const char *run_id, const struct snapshot *s,
	const double *base, double seconds);

/* Sets *ret to new rows of all recorded runs, or of `run_id` alone when it is not NULL, and returns
 * their number. A row covers the time since the last row of its run. Rows are valid until the next
 * call. An interval of less than 1 ms gives no row, unless the run has ended. */
size_t sample_rows_read(struct sample_rows *f, const struct snapshot *s, const char *run_id,
	const struct sample **ret);

/* Like sample_rows_read, for a run whose exact totals became known at its end. The row has duration
 * 0, because the correction is not growth within an interval. */
size_t sample_rows_correction(struct sample_rows *f, const struct snapshot *s, const char *run_id,
	const struct sample **ret);

/* Stops recording the run. */
void sample_rows_end(struct sample_rows *f, const char *run_id);
bool sample_rows_records(const struct sample_rows *f, const char *run_id);

#endif
