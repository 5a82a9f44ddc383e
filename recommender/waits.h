/* Resources that runs waited for: a job with too few cores differs from an idle one. */
#ifndef RECOMMENDER_WAITS_H
#define RECOMMENDER_WAITS_H

#include "recommender/run.h"

enum wait_verdict {
	WAITED_UNKNOWN, /* nothing was measured */
	WAITED_LITTLE,
	WAITED_FOR_CPU,     /* more cores or a larger quota would make it faster */
	WAITED_FOR_MEMORY,  /* swapping and reclaim: more memory would make it faster */
	WAITED_FOR_STORAGE, /* faster storage would make it faster */
	WAITED_IDLE,        /* for something else, such as the network, a timer, a person */
};

const char *wait_verdict_name(enum wait_verdict v); /* "unknown", "little", "cpu", ... */

/* Sums over the runs where each is known; NaN = known for none. */
struct waits {
	double cpu_seconds;       /* ready to run without a CPU */
	double cpu_share;         /* cpu_seconds / (cpu_seconds + CPU time got) */
	double throttled_seconds; /* stopped by a quota */
	/* Share of the runs' durations. Threads wait at the same time, so it may exceed 1. */
	double memory_share, storage_share;
	/* Share of the runs' durations without a running or ready thread: a lower bound. */
	double idle_share;
	enum wait_verdict verdict;
};

struct waits waits_of(const struct run *const *runs, size_t n);

/* (CPU time + wait for a CPU) / CPU time of a run; 1 if it waited little or this is unknown. */
double waits_cpu_wanted(const struct run *r);

#endif
