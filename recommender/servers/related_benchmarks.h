/*
 * Which benchmarks are like a job: proposals for benchmark=, each with its reason.
 */
#ifndef RECOMMENDER_SERVERS_RELATED_BENCHMARKS_H
#define RECOMMENDER_SERVERS_RELATED_BENCHMARKS_H

#include "collectors/base/mem.h"
#include "recommender/catalogue/catalogue.h"
#include "recommender/catalogue/regions.h"

/* What is known of how a job works. Unknown is NaN. */
struct job_habits {
	double cpu_share;    /* of the time that the CPU is the limit: forecast_cpu_share */
	double cores;        /* used at once */
	double gpu_share;    /* of the time that its GPUs are busy */
	double memory_bytes; /* peak */
	double network_bytes_per_second;
	struct text_list programs; /* names of its processes, as in /proc/PID/comm; may be empty */
};

struct related_benchmark {
	const struct benchmark *benchmark;
	const char *why; /* one sentence without a full stop */
};

#define RELATED_MAX 16

/* Best match first; only what the catalogue has scores of. Answers how many. */
size_t related_benchmarks_find(const struct catalogue *c, const struct job_habits *h,
	struct related_benchmark ret[RELATED_MAX]);

#endif
