/* Targets that sell only certain sizes. Private to recommender/. */
#ifndef RECOMMENDER_ADVICE_SIZES_H
#define RECOMMENDER_ADVICE_SIZES_H

#include <stddef.h>
#include <stdint.h>

/* A number of CPUs and the amounts of memory that are sold with it: mib_least, then steps of
 * mib_step up to mib_most. */
struct advice_size {
	const char *series; /* machine series; NULL = the target has none */
	uint64_t millicores, mib_least, mib_most, mib_step;
};

struct advice_sizes {
	const char *of; /* name of the target: "AWS Fargate" */
	/* The target's defaults for a request without CPU, and for one without memory; 0 = it has
	 * none. */
	uint64_t millicores_default, mib_default;
	uint64_t disk_gib_most; /* largest disk in GiB; 0 = no limit */
	/* Sorted by CPUs, then by memory. The first size that fits is therefore the smallest: the
	 * fewest CPUs, and with these the least memory. A size with more CPUs costs more, even with
	 * less memory. */
	size_t n;
	const struct advice_size *size;
};

/* Tasks of AWS Fargate, for ECS and AWS Batch. */
extern const struct advice_sizes advice_sizes_fargate;

/* Custom machine types of Google Compute Engine. The series is E2, or N2 for sizes that E2
 * lacks. */
extern const struct advice_sizes advice_sizes_gcp;

/* Finds the smallest size that is large enough for a request. A request of 0 stands for an unknown
 * need, for which any size is large enough. Writes the memory of the size to *ret_mib. Returns NULL
 * if no size is large enough. */
const struct advice_size *advice_size_for(const struct advice_sizes *s, uint64_t millicores,
	uint64_t mib, uint64_t *ret_mib);

#endif
