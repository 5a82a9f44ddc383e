/* Reads the configuration with which a benchmark score was measured. The sources, sc-data and the
 * Spare Cores Keeper, write it as a JSON object. */
#ifndef RECOMMENDER_CATALOGUE_BENCHMARK_CONFIG_H
#define RECOMMENDER_CATALOGUE_BENCHMARK_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum benchmark_cores {
	CORES_OTHER,       /* more than one core, or the configuration does not say */
	CORES_ONE,         /* one core, and the configuration has further settings */
	CORES_ONE_NO_MORE, /* one core, and the configuration has no other setting */
};

/* Reads "cores" of a configuration. stress-ng has {"cores": 1}. Geekbench and the compression
 * benchmarks have {"cores": "single"}; before sc-data 0.8 they had "Single-Core Performance". Any
 * other text gives CORES_OTHER. */
enum benchmark_cores benchmark_config_cores(const char *json, size_t len);

#endif
