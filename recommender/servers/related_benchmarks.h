/* Proposes benchmarks that resemble a job, each with a reason. */
#ifndef RECOMMENDER_SERVERS_RELATED_BENCHMARKS_H
#define RECOMMENDER_SERVERS_RELATED_BENCHMARKS_H

#include "collectors/base/mem.h"
#include "recommender/catalogue/catalogue.h"
#include "recommender/catalogue/regions.h"

/* How a job uses its resources. NaN = unknown. */
struct job_habits {
	double cpu_share;    /* CPU-bound share of its time, from forecast_cpu_share */
	double cores;        /* cores used at the same time */
	double gpu_share;    /* share of its time with busy GPUs */
	double memory_bytes; /* peak memory */
	double network_bytes_per_second;
	struct text_list programs; /* program names as in /proc/PID/comm; may be empty */
};

struct related_benchmark {
	const struct benchmark *benchmark;
	const char *why; /* the reason, one sentence without a full stop */
};

#define RELATED_MAX 16

/* Fills `ret` with the benchmarks that match the job, best match first, and returns how many there
 * are. Benchmarks without scores in the catalogue are left out. */
size_t related_benchmarks_find(const struct catalogue *c, const struct job_habits *h,
	struct related_benchmark ret[RELATED_MAX]);

#endif
