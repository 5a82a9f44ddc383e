/* Statistics of a job's newest successful runs as JSON, in this program's own format and in the
 * format of resource-tracker. */
#ifndef EXPORTER_ANSWERS_STATS_JSON_H
#define EXPORTER_ANSWERS_STATS_JSON_H

#include "collectors/base/mem.h"
#include "exporter/core/json.h"
#include "recommender/run.h"
#include "recommender/sizing/sizing.h"

/* stats_json_window returns the newest successful runs in `all`, at most `most`, newest first.
 * `run` is in `arena`. `excluded` is the number of runs that ended without success and are newer
 * than the oldest run in `run`. */
struct stats_window {
	size_t n, excluded;
	const struct run **run;
};
struct stats_window stats_json_window(const struct runs *all, size_t most, struct arena *arena);

/* Makes JSON of statistics over the runs of `w`. null = no run has a value.
 * - A level, such as the memory in use, has mean, max, p50, p95 and p99. max is the highest value
 *   of all runs. The others are averages over the runs.
 * - The duration and each headline number have mean, min and max.
 *
 * The JSON also contains the recommendation `next`, as /recommend does. `details`: also the numbers
 * of each run, and columns without a value. */
json_t *stats_json(const char *job_name, const struct stats_window *w, const struct sizing *next,
	double now, bool details);

/* Makes the same nested object as stats() of resource-tracker, with the same units (MiB, GB) and
 * rounding. `w` must not be empty. Over several runs, mean and duration are averages, and max and
 * sum are maxima, as in resource-tracker's aggregate_stats. null = not measured. */
json_t *stats_json_resource_tracker(const struct stats_window *w);

#endif
