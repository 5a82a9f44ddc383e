/* Which resources the runs of a job waited for. This separates a job with too few cores from an
 * idle job. */
#ifndef RECOMMENDER_WAITS_H
#define RECOMMENDER_WAITS_H

#include "recommender/run.h"

enum wait_verdict {
	WAITED_UNKNOWN, /* the wait for a CPU is unknown, and no other verdict applies */
	WAITED_LITTLE,
	WAITED_FOR_CPU,     /* more cores or a larger quota would make the job faster */
	WAITED_FOR_MEMORY,  /* swapping and reclaim: more memory would make the job faster */
	WAITED_FOR_STORAGE, /* faster storage would make the job faster */
	WAITED_IDLE,        /* the job waited for the network, a timer, a person, ... */
};

const char *wait_verdict_name(enum wait_verdict v); /* "unknown", "little", "cpu", ... */

/* Each member covers the runs for which its value is known. NaN = no run has a known value. */
struct waits {
	/* Time in which threads were ready to run, but had no CPU: the sum over all threads. If the
	 * sum is unknown, it is the time in which at least one thread waited (the kernel's pressure
	 * counters). */
	double cpu_seconds;
	double cpu_share;         /* cpu_seconds / (cpu_seconds + CPU time that the threads used) */
	double throttled_seconds; /* time in which a CPU quota stopped the threads */
	/* Time that threads waited for memory or for storage, divided by the duration of the runs.
	 * The waits of all threads are added, so a share can exceed 1. */
	double memory_share, storage_share;
	/* Share of the runs' time in which no thread was running or ready to run. This is a lower
	 * bound. */
	double idle_share;
	enum wait_verdict verdict;
};

struct waits waits_of(const struct run *const *runs, size_t n);

/* Returns how much CPU time a run wanted, relative to what it got: (CPU time + wait for a CPU) /
 * CPU time. Returns 1 if the run waited little or the wait is unknown. */
double waits_cpu_wanted(const struct run *r);

#endif
