/*
 * What runs waited for: tells a job that had too few cores from one that has nothing to do.
 */
#ifndef RECOMMENDER_WAITS_H
#define RECOMMENDER_WAITS_H

#include "recommender/run.h"

enum wait_verdict {
	WAITED_UNKNOWN, /* nothing was measured */
	WAITED_LITTLE,
	WAITED_FOR_CPU,     /* more cores, or a larger quota, would have made it faster */
	WAITED_FOR_MEMORY,  /* swapping and reclaim: more memory would have */
	WAITED_FOR_STORAGE, /* faster storage would have */
	WAITED_IDLE,        /* for something else, such as the network, a clock, a person */
};

const char *wait_verdict_name(enum wait_verdict v); /* "unknown", "little", "cpu", ... */

/* Together over the runs of which each is known; NaN = of none. */
struct waits {
	double cpu_seconds;       /* ready to run, but without a CPU */
	double cpu_share;         /* of the CPU time that was wanted */
	double throttled_seconds; /* by a quota */
	/* Of the time that the runs took: threads wait at the same time, so these may be more than 1. */
	double memory_share, storage_share;
	/* Of the time that the runs took, with no thread on or waiting for a CPU: at least that. */
	double idle_share;
	enum wait_verdict verdict;
};

struct waits waits_of(const struct run *const *runs, size_t n);

/* CPU time that a run wanted / that it got: 1 when it waited little or that is unknown. */
double waits_cpu_wanted(const struct run *r);

#endif
