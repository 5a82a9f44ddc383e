/* Statistics of a job's newest successful runs as JSON, in this program's own format and in the
 * format of resource-tracker. */
#ifndef EXPORTER_ANSWERS_STATS_JSON_H
#define EXPORTER_ANSWERS_STATS_JSON_H

#include "collectors/base/mem.h"
#include "exporter/core/json.h"
#include "recommender/run.h"
#include "recommender/sizing/sizing.h"

/* The newest successful runs in `all`. There are at most `most` of them, newest first, and `run` is
 * in `arena`. `excluded` counts the ended runs that did not succeed and are newer than the oldest
 * run in `run`. */
struct stats_window {
	size_t n, excluded;
	const struct run **run;
};
struct stats_window stats_json_window(const struct runs *all, size_t most, struct arena *arena);

/* Writes mean, max, p50, p95 and p99 over the time of each run, and the headline numbers of each
 * run. Also writes them for all runs together. There, mean, p50, p95 and p99 are averages of the
 * runs' values, min is the lowest, and max is the highest value. null = no run succeeded. `next` is
 * the default recommendation: its demand, its warnings and whether a program may act on it are written
 * as in /recommend. `details`: also the numbers of each run, and columns without a value. */
json_t *stats_json(const char *job_name, const struct stats_window *w, const struct sizing *next,
	double now, bool details);

/* Writes the same nested object as stats() of resource-tracker, with the same units (MiB, GB) and
 * rounding. `w` must not be empty. Over several runs, mean and duration are averages, and max and sum are maxima, as in
 * resource-tracker's aggregate_stats. null = not measured. */
json_t *stats_json_resource_tracker(const struct stats_window *w);

#endif
