/*
 * Statistics of a job's last successful runs as JSON, in our shape and in resource-tracker's.
 */
#ifndef EXPORTER_ANSWERS_STATS_JSON_H
#define EXPORTER_ANSWERS_STATS_JSON_H

#include "collectors/base/mem.h"
#include "exporter/core/json.h"
#include "recommender/run.h"

/*
 * The newest most successful ones of all (newest first). excluded: how many ended ones among them
 * and newer than the oldest of them did not succeed. What used points to lives in arena.
 */
struct stats_window {
	size_t n, excluded;
	const struct run **run;
};
struct stats_window stats_json_window(const struct runs *all, size_t most, struct arena *arena);

/*
 * Per run: mean, max, p50, p95 and p99 over its time, and its headline numbers. Over the runs:
 * mean, p50, p95 and p99 are averages of the runs' own, min and max are extremes. w must not be
 * empty.
 */
json_t *stats_json(const char *job_name, const struct stats_window *w, double now);

/*
 * The dict of dicts of resource-tracker's stats(), in MiB and GB and rounded as there; over the
 * runs as its aggregate_stats: the average of mean and duration, the largest max and sum. Not
 * measured = null.
 */
json_t *stats_json_resource_tracker(const struct stats_window *w);

#endif
