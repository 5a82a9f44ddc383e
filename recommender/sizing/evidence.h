/* Evidence of one run about the needs of its job: its numbers, and how it ended. A run that was
 * stopped by a limit gives only a lower bound of its need, and no peak.
 *
 * Some jobs fill any memory limit: a cache, for example, may always end at 98 % of its limit. Their
 * peaks say nothing about their need, and follower.h recognises them. */
#ifndef RECOMMENDER_SIZING_EVIDENCE_H
#define RECOMMENDER_SIZING_EVIDENCE_H

#include "recommender/run.h"

enum memory_evidence {
	/* The run has not ended or was interrupted, or it succeeded and its peak is unknown. */
	MEMORY_UNKNOWN,
	MEMORY_PEAK, /* the run succeeded: its peak is its need */
	/* The run was killed for memory, or met its memory limit or the limit of its address space.
	 * Its need was above `at_least`. */
	MEMORY_AT_LEAST,
	/* The run failed for another reason, or its outcome is unknown. Its peak may be above or
	 * below the need. */
	MEMORY_TRIED,
};

struct evidence {
	enum memory_evidence memory;
	bool killed;     /* the kernel killed the run, or a process of it, for memory */
	double at_least; /* bytes; with MEMORY_AT_LEAST */
	double peak;     /* bytes; NaN = unknown */
	/* The run was ended from outside, most often by a time limit. Without this end, it would
	 * have lasted longer, and its peak may have become larger. */
	bool cut;
};

/* A run has met its limit when its memory reached this share of the limit. Mapped files do not
 * count, because the kernel can take their memory back. */
#define AT_LIMIT_SHARE 0.97

/* A failed run has met RLIMIT_AS or RLIMIT_DATA when its address space reached this share of the
 * limit. The kernel refuses an allocation that would exceed the limit, and the peak does not
 * include this allocation. The share is therefore below 1. Example: a program that allocates pieces
 * of 10 MiB reaches 94 to 97 % of a limit of 300 MiB. */
#define AT_ADDRESS_LIMIT_SHARE 0.9

struct evidence evidence_of(const struct run *r);

#endif
