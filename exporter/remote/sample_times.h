/* Chooses the time of a run's samples in a store (run_series.h). Runs of one job with the same
 * outcome and the same container share their series, and a series can have only one sample for each
 * point in time. The samples of two such runs must therefore have different times.
 *
 * The time of a run is its end in milliseconds. If another run already has this time, a hash of the
 * run's id chooses another millisecond of the same second. The hash also chooses if the run ended at
 * a whole second: such an end was probably rounded, and runs of other writers, whose times are not
 * known here, may have the same end. The newest SAMPLE_TIMES_MAX times are kept, in memory only. If a
 * run is sent again, and its time is among them, it gets the same time. */
#ifndef EXPORTER_REMOTE_SAMPLE_TIMES_H
#define EXPORTER_REMOTE_SAMPLE_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "recommender/run.h"

#define SAMPLE_TIMES_MAX 4096

struct sample_times {
	struct taken_time {
		/* hash of the series and the time; hash of the run's id. series_and_time 0 = this
		 * element is free. */
		uint64_t series_and_time, run;
	} * taken;
};

/* Returns the time for the samples of a run, in milliseconds since 1970. Sets `*shifted` to true
 * when the time was chosen in this call, and another run has the time of the first choice. `shifted`
 * may be NULL. */
int64_t sample_times_of(struct sample_times *t, const struct run *r, bool *shifted);
/* Call it when the store refused the time of a run, because it has a sample of another program at
 * this time. The next sample_times_of returns another time for the run. */
void sample_times_lose(struct sample_times *t, const struct run *r);
void sample_times_done(struct sample_times *t);

#endif
