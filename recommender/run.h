/*
 * One run of a job, as the history stores it and the recommender reads it.
 *
 * All measured values are in stats: one distribution per history column (struct metric.column),
 * made from the run's samples. Totals are sums (cpu_seconds), peaks are maxima (memory_peak_bytes).
 * Unknown numbers are NaN, unknown texts NULL.
 */
#ifndef RECOMMENDER_RUN_H
#define RECOMMENDER_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recommender/catalogue/architecture.h"

enum outcome {
	OUTCOME_RUNNING,
	OUTCOME_SUCCEEDED,   /* exit code 0 */
	OUTCOME_FAILED,      /* another exit code, or ended by a signal */
	OUTCOME_OOM_KILLED,  /* the kernel killed it for memory */
	OUTCOME_INTERRUPTED, /* the exporter ended before the run did */
	OUTCOME_UNKNOWN,     /* it ended without a known exit status */
	OUTCOME_COUNT,
};

const char *run_outcome_name(enum outcome o); /* "running", "succeeded", ... */
bool run_outcome_parse(const char *name, enum outcome *ret);

/*
 * Distribution over time: each value is weighted by how long it held. A percentile is the smallest
 * value that was not exceeded for that share of the time (nearest rank, weighted). sum is the plain
 * sum of the values: the total of a column that holds growth per interval.
 *
 * A value that held for no time counts only in n, sum and max: the last reading of a run, which
 * corrects its totals. If no value held for any time, all weigh the same.
 */
struct distribution {
	uint64_t n; /* samples */
	double mean, min, max, p50, p95, p99, sum;
};

struct column_stats {
	const char *column;
	struct distribution d;
};

struct run {
	const char *run_id, *job_name;
	double started_at, ended_at; /* seconds since 1970 UTC; ended_at NaN while running */
	double duration_seconds;     /* by the monotonic clock; so far, while running */
	enum outcome outcome;
	double exit_code, exit_signal; /* NaN when unknown */
	const char *host;              /* node name */
	/* Sources of the CPU time ("cgroup", ...) and of memory_peak_bytes ("vmhwm", ...). */
	const char *cpu_source, *memory_source;
	uint64_t samples;
	double interval_seconds; /* configured sampling interval */
	/* Requests and limits of the run, where known. */
	double requested_cpu_cores, requested_memory_bytes, memory_limit_bytes;
	double input_bytes, attempt;
	double cpu_missed_seconds; /* upper bound of the CPU time that the total lacks */
	size_t n_stats;
	struct column_stats *stats; /* sorted by column name */
	/* Network bytes are of its "own" namespace or "shared" with other runs; NULL = unknown. */
	const char *network_source;
	enum architecture architecture; /* architecture that its programs were built for */
	const char *cpu_level; /* lowest CPU level they need, "x86-64-v3"; NULL = unknown */
	/* The server it ran on, by the vendor's names; NULL = unknown. */
	const char *vendor_id, *instance_type, *region, *zone, *allocation;
	/*
	 * The system that named the run ("metaflow", "rules", ...), the run of that system it is an
	 * attempt of, and the system's own labels as the text of a JSON object.
	 */
	const char *system, *system_run, *labels;
};

/* An array of runs, newest first. One arena owns the array and all texts in it. */
struct arena;
struct runs {
	size_t n;
	struct run *run;
};

/* Seconds; NaN if unknown or absurd: below 0 or above a century. */
double run_duration(const struct run *r);

/* NULL if the run does not have the column. */
const struct distribution *run_column(const struct run *r, const char *column);

/* Shorthands for one number of a column; NaN if unknown. */
double run_total(const struct run *r, const char *column); /* sum */
double run_peak(const struct run *r, const char *column);  /* max */
double run_mean(const struct run *r, const char *column);

/* Architecture of the newest run that knows it, for choosing servers: i386 is x86_64. */
enum architecture runs_architecture(const struct runs *runs);

/*
 * Derived columns are computed from measured ones and kept in stats like them: cpu_cores =
 * cpu_seconds / duration, read and write rates likewise (table in stats.c). Their mean is total
 * growth / total time; their sum is unknown. An interval shorter than half the usual length is
 * joined to its neighbour, so that a few milliseconds do not make a peak.
 */

/* A series from the history: n samples in order; values[column][i], NaN = unknown. */
struct series {
	size_t n, n_columns;
	const char *const *columns;
	const double *at;       /* end of the interval, seconds since 1970 UTC */
	const double *duration; /* seconds; 0 = a correction at the same instant */
	double *const *values;
};

/*
 * Statistics of every column of s with a known value, and of the derived columns. Sorted by column;
 * in arena with their names.
 */
size_t stats_of_series(const struct series *s, struct arena *arena, struct column_stats **ret);

/*
 * The distribution of n values that held for weight[i] >= 0 each; equal weights if weight is NULL.
 * NaN values are left out; without any value n is 0 and the rest NaN.
 */
struct distribution stats_distribution(const double *value, const double *weight, size_t n);

/* For qsort: sorts doubles, and structs that begin with a double. */
int stats_ascending(const void *left, const void *right);

#endif
