/* Statistics of a job's newest successful runs as JSON, in this program's format and in that of
 * resource-tracker. */
#ifndef EXPORTER_ANSWERS_STATS_JSON_H
#define EXPORTER_ANSWERS_STATS_JSON_H

#include "collectors/base/mem.h"
#include "exporter/core/json.h"
#include "recommender/run.h"

/* The newest successful runs in `all`, at most `most`, newest first; `run` is in `arena`.
 * `excluded` counts the unsuccessful ended runs that are newer than the oldest of these. */
struct stats_window {
	size_t n, excluded;
	const struct run **run;
};
struct stats_window stats_json_window(const struct runs *all, size_t most, struct arena *arena);

/* Writes mean, max, p50, p95 and p99 over the time of each run, and its headline numbers. Over all
 * runs, mean, p50, p95 and p99 are averages of the runs' values; min and max are extremes. `w` must
 * not be empty. */
json_t *stats_json(const char *job_name, const struct stats_window *w, double now);

/* Writes the dict of dicts of resource-tracker's stats(), with its units (MiB, GB) and rounding.
 * Mean and duration are averages over the runs, max and sum are maxima, as in resource-tracker's
 * aggregate_stats. Not measured = null. */
json_t *stats_json_resource_tracker(const struct stats_window *w);

#endif
