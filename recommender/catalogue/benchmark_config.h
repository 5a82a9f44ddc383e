/* The configuration of a benchmark score, as sc-data and the Keeper write it: a JSON object. */
#ifndef RECOMMENDER_CATALOGUE_BENCHMARK_CONFIG_H
#define RECOMMENDER_CATALOGUE_BENCHMARK_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum benchmark_cores {
	CORES_OTHER,       /* several cores, all, or the configuration does not say */
	CORES_ONE,         /* one core, and the configuration has further settings */
	CORES_ONE_NO_MORE, /* one core, and the configuration has no other setting */
};

/* Reads "cores" of a configuration: {"cores": 1} of stress-ng, {"cores": "single"} of Geekbench and
 * of the compression benchmarks, which was "Single-Core Performance" before sc-data 0.8. A text that
 * is no such object is CORES_OTHER. */
enum benchmark_cores benchmark_config_cores(const char *json, size_t len);

#endif
