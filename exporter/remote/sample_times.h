/* The time of a run's samples in a store. Runs of one job with one outcome share their series, and
 * a series has one sample at a time. Two such runs must therefore have different times.
 *
 * The time of a run is its end in milliseconds. If another run already has this time, a hash of the
 * run's id chooses another millisecond of the same second. The newest SAMPLE_TIMES_MAX times are
 * remembered, in memory only. A run that is sent again has the same time again. */
#ifndef EXPORTER_REMOTE_SAMPLE_TIMES_H
#define EXPORTER_REMOTE_SAMPLE_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "recommender/run.h"

#define SAMPLE_TIMES_MAX 4096

struct sample_times {
	struct taken_time {
		uint64_t series_and_time, run; /* hashes; 0 = free */
	} * taken;
};

/* Returns milliseconds since 1970. `*shifted` (may be NULL) becomes true when the run gets a time now that is
 * not its end. */
int64_t sample_times_of(struct sample_times *t, const struct run *r, bool *shifted);
/* Another writer has the time that this run has now: sample_times_of gives it another one. */
void sample_times_lose(struct sample_times *t, const struct run *r);
void sample_times_done(struct sample_times *t);

#endif
