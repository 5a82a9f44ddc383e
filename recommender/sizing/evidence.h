/* Evidence of one run about the needs of its job: its numbers, and how it ended. A run that was
 * stopped by a limit gives only a lower bound of its need, and no peak.
 *
 * Some jobs fill any memory limit, such as a cache that ends at 98 % of it. follower.h recognises
 * such a job as long as its runs succeed. After a kill, the job is no longer treated in this
 * way. */
#ifndef RECOMMENDER_SIZING_EVIDENCE_H
#define RECOMMENDER_SIZING_EVIDENCE_H

#include "recommender/run.h"

enum memory_evidence {
	MEMORY_UNKNOWN,  /* the run has not ended, was not measured, or was interrupted */
	MEMORY_PEAK,     /* the run succeeded: its peak is its need */
	MEMORY_AT_LEAST, /* the run met its memory limit: its need was above `at_least` */
	MEMORY_TRIED,    /* the run failed for another reason */
};

struct evidence {
	enum memory_evidence memory;
	bool killed;     /* the kernel killed the run, or a process of it, for memory */
	double at_least; /* bytes; with MEMORY_AT_LEAST */
	double peak;     /* bytes; NaN = unknown */
	/* The run was ended from outside, most often by a time limit. It would have lasted longer,
	 * and may have needed more. */
	bool cut;
};

/* A run has met its limit when its memory reached this share of the limit. Mapped files do not
 * count, because the kernel can take their memory back. */
#define AT_LIMIT_SHARE 0.97

/* A run meets RLIMIT_AS or RLIMIT_DATA below the limit. These limits count memory that was never
 * touched, and the peak lacks the allocation that was refused. A program that allocates pieces of
 * 10 MiB reaches 94 to 97 % of a limit of 300 MiB. */
#define AT_ADDRESS_LIMIT_SHARE 0.9

struct evidence evidence_of(const struct run *r);

#endif
