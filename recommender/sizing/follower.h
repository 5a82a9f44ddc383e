/* Jobs that use a constant share of the memory that they get: Java heaps sized in per cent, Spark
 * executors, caches, databases. Their peaks say nothing about their need: each larger limit is
 * followed by a larger peak.
 *
 * Such a job is called a follower: it follows its limit. A run that was killed or failed at its
 * limit may mean that the job needs more than a share. The job then counts as a follower only if
 * the runs before that run, or the runs after it, show the share by themselves.
 *
 * The share need not be constant: it may drift with time, or spread. Peaks that move with the limit
 * then show a follower (follower.c).
 *
 * If the announced inputs may explain the limits of the runs, the peaks may follow the inputs, and
 * the job is no follower. This exception does not apply to a job with a command-line option that
 * makes it use a share of its limit. */
#ifndef RECOMMENDER_SIZING_FOLLOWER_H
#define RECOMMENDER_SIZING_FOLLOWER_H

#include "recommender/run.h"

#define FOLLOWER_OPTION_MAX 32

/* Summary of the newest runs that succeeded under a memory limit. While the request of a follower
 * stays unchanged, all its limits are equal. If the newest PEAKS_SEEN_MAX runs have equal limits,
 * the summary also covers one older run: the newest run under another limit, which the history
 * keeps (struct history_limits). */
struct limit_follower {
	size_t runs;                  /* 0 = the job is no follower */
	double share_low, share_high; /* smallest and largest peak / limit */
	double limit_low, limit_high; /* smallest and largest limit, bytes */
	/* The smallest limit in bytes under which a run succeeded within 1.5 times the shortest
	 * duration. Two kinds of limits do not count: those that were too small for a run
	 * (RUNS_FREE), and most limits below newest limit / 1.6 (LOWERED_MOST). */
	double enough;
	size_t at_enough; /* runs that succeeded under this limit without being slow */
	/* The command-line option that makes the job use a share of its limit; "" = none is known.
	 * With such an option, runs under a single limit are enough to recognise a follower. */
	char option[FOLLOWER_OPTION_MAX];
};

/* Finds out whether a job follows its limit. `runs`: the newest first, all outcomes. */
struct limit_follower follower_of(const struct runs *runs);

#endif
