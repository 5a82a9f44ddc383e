/* Evidence of one run about the needs of its job: its numbers, and how it ended. A run that
 * was stopped by a limit says "at least this much": a bound, and no peak.
 *
 * Some jobs fill any memory limit, such as a cache that ends at 98 % of it. follower.h decides about
 * such a job as long as its runs succeed. A kill overrides that decision. */
#ifndef RECOMMENDER_SIZING_EVIDENCE_H
#define RECOMMENDER_SIZING_EVIDENCE_H

#include "recommender/run.h"

enum memory_evidence {
	MEMORY_UNKNOWN,  /* the run goes on, was not measured, or was interrupted */
	MEMORY_PEAK,     /* the run succeeded: its peak is its need */
	MEMORY_AT_LEAST, /* the run met its memory limit: its need was above `at_least` */
	MEMORY_TRIED,    /* the run failed for another reason */
};

struct evidence {
	enum memory_evidence memory;
	bool killed;     /* the kernel killed the run, or a process of it, for memory */
	double at_least; /* bytes; with MEMORY_AT_LEAST */
	double peak;     /* bytes; NaN = unknown */
	/* The run was ended from outside, most often at a time limit: it would have lasted longer,
	 * and may have needed more. */
	bool cut;
};

/* A run has met its limit when its memory, without file memory that the kernel can take back, came
 * within this share of it. */
#define AT_LIMIT_SHARE 0.97

/* RLIMIT_AS and RLIMIT_DATA are met earlier: they count memory that was never touched, and the
 * allocation that they refused is not in the peak. A program that takes pieces of 10 MiB reaches
 * 94 to 97 % of a limit of 300 MiB. */
#define AT_ADDRESS_LIMIT_SHARE 0.9

struct evidence evidence_of(const struct run *r);

#endif
