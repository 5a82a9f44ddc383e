/* Statistics of a job's newest successful runs as JSON, in our format and in resource-tracker's. */
#ifndef EXPORTER_ANSWERS_STATS_JSON_H
#define EXPORTER_ANSWERS_STATS_JSON_H

#include "collectors/base/mem.h"
#include "exporter/core/json.h"
#include "recommender/run.h"

/*
 * The newest successful runs of all, at most `most`, newest first; run lives in arena. excluded:
 * number of unsuccessful ended runs that are newer than the oldest of them.
 */
struct stats_window {
	size_t n, excluded;
	const struct run **run;
};
struct stats_window stats_json_window(const struct runs *all, size_t most, struct arena *arena);

/*
 * Each run has mean, max, p50, p95 and p99 over its time, and its headline numbers. Over the runs,
 * mean, p50, p95 and p99 are averages of the runs' values; min and max are extremes. w: not empty.
 */
json_t *stats_json(const char *job_name, const struct stats_window *w, double now);

/*
 * The dict of dicts of resource-tracker's stats(), in its units (MiB, GB) and rounding. Over the
 * runs, as in its aggregate_stats: averages of mean and duration, the largest max and sum. Not
 * measured = null.
 */
json_t *stats_json_resource_tracker(const struct stats_window *w);

#endif
