/*
 * What is known of one run of a job, as the history keeps it and the recommender reads it.
 *
 * Everything measured stands in stats: one distribution per history column (struct metric.column), made
 * from the run's samples. Totals are sums (cpu_seconds), peaks are maxima (memory_peak_bytes), so there
 * is no second place for them. Unknown numbers are NaN, unknown texts NULL.
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
	OUTCOME_UNKNOWN,     /* it ended, and nobody could say how */
	OUTCOME_COUNT,
};

const char *run_outcome_name(enum outcome o); /* "running", "succeeded", ... */
bool run_outcome_parse(const char *name, enum outcome *ret);

/*
 * Over time, each value weighted by how long it held. Percentiles are the smallest value that at least
 * that share of the time did not exceed (nearest rank, weighted). sum is the plain sum of the values: the
 * total of a column that holds growth per interval.
 *
 * A value that held for no time (the last reading of a run, which brings its totals to the exact ones) counts
 * in n, sum and max only; when no value held for any time, all weigh the same.
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
	/* How the CPU time was counted ("cgroup", "rusage", "proc", ...), and what told memory_peak_bytes ("vmhwm", ...). */
	const char *cpu_source, *memory_source;
	uint64_t samples;
	double interval_seconds; /* configured sampling interval */
	/* What the run was given, where known. */
	double requested_cpu_cores, requested_memory_bytes, memory_limit_bytes;
	double input_bytes, attempt;
	double cpu_missed_seconds; /* what the CPU time may lack at most */
	size_t n_stats;
	struct column_stats *stats; /* sorted by column name */
	/* Whose network namespace the network bytes are of: "own", or "shared" with other runs; NULL = unknown. */
	const char *network_source;
	enum architecture architecture; /* that its programs were built for */
	const char *cpu_level; /* and the least processor of it, "x86-64-v3"; NULL = unknown */
	/* The server it ran on, as the vendor calls these; NULL = unknown. */
	const char *vendor_id, *instance_type, *region, *zone, *allocation;
	/*
	 * Who named it ("metaflow", "rules", ...), which of that system's runs it is an attempt of, and the
	 * system's own words, as the text of a JSON object.
	 */
	const char *system, *system_run, *labels;
};

/*
 * Owner: an array of runs and all texts in it live in one arena, freed whole. Order: newest first.
 */
struct arena;
struct runs {
	size_t n;
	struct run *run;
};

/* In seconds; NaN when unknown, and where what the history has is absurd: below 0, or beyond a century. */
double run_duration(const struct run *r);

/* Distribution of a column, or NULL when the run has none. */
const struct distribution *run_column(const struct run *r, const char *column);

/* Shorthands; NaN when unknown. */
double run_total(const struct run *r, const char *column); /* sum */
double run_peak(const struct run *r, const char *column);  /* max */
double run_mean(const struct run *r, const char *column);

/*
 * The architecture of servers on which a job's programs run: as of its newest run of which that is known; i386 runs on
 * x86_64.
 */
enum architecture runs_architecture(const struct runs *runs);

/*
 * Derived columns: not measured but computed from measured ones, and kept in stats like them: cpu_cores =
 * cpu_seconds / duration, read and write rates likewise. The table is in recommender/stats.c. Their mean is
 * all growth by all time; an interval of less than half the usual length is joined to its neighbour, so that
 * a few milliseconds do not make a peak; their sum is unknown.
 */

/* A series as the history gives it: n samples in order; values[column][i], NaN = unknown. */
struct series {
	size_t n, n_columns;
	const char *const *columns;
	const double *at; /* end of the interval, seconds since 1970 UTC */
	const double *
		duration; /* length of the interval in seconds; 0 = a correction at the same instant */
	double *const *values;
};

/*
 * Statistics of every column of s that has a known value and of the derived ones that can be computed, in
 * arena with their names, sorted by column.
 */
size_t stats_of_series(const struct series *s, struct arena *arena, struct column_stats **ret);

/*
 * The distribution of n values that held for weight[i] >= 0 each, or all alike when weight is NULL. NaN values
 * are left out; without any value n is 0 and the rest NaN.
 */
struct distribution stats_distribution(const double *value, const double *weight, size_t n);

/* For qsort, of doubles and of structs that begin with one. */
int stats_ascending(const void *left, const void *right);

#endif
