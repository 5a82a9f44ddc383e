/* One run of a job, as the history stores it and the recommender reads it.
 *
 * All measured values are in `stats`: one distribution per history column (struct metric.column),
 * made from the run's samples. Totals are sums (cpu_seconds), peaks are maxima (memory_peak_bytes).
 * Unknown numbers are NaN, unknown texts are NULL. */
#ifndef RECOMMENDER_RUN_H
#define RECOMMENDER_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recommender/catalogue/architecture.h"

enum outcome {
	OUTCOME_RUNNING,
	OUTCOME_SUCCEEDED,   /* exit code 0 */
	OUTCOME_FAILED,      /* exit code other than 0, or ended by a signal */
	OUTCOME_OOM_KILLED,  /* the kernel killed the run because memory ran out */
	OUTCOME_INTERRUPTED, /* the exporter ended before the run did */
	OUTCOME_UNKNOWN,     /* the run ended; its exit status is unknown */
	OUTCOME_COUNT,
};

const char *run_outcome_name(enum outcome o); /* "running", "succeeded", ... */
bool run_outcome_parse(const char *name, enum outcome *ret);

/* Returns true if `reason` is a time-limit reason, which says that a time limit ended a run:
 * DeadlineExceeded (Kubernetes, pods and Jobs beyond activeDeadlineSeconds), TIMEOUT and DEADLINE
 * (states of Slurm). `reason` may be NULL. Only a client can send a reason, because no process of
 * the run learns why it gets a signal. */
bool run_reason_is_time_limit(const char *reason);

/* Reads an outcome that a client sent. Returns false for an unknown text and for `running`. If
 * `text` is a time-limit reason (above), the outcome is failed, and `*reason` is set to `text` if
 * it was NULL. If `*reason` is a time-limit reason, the outcome `unknown` becomes failed. */
bool run_outcome_told(const char *text, enum outcome *ret, const char **reason);
/* Returns the i-th text that run_outcome_told accepts; NULL past the last. */
const char *run_outcome_told_word(size_t i);
#define RUN_REASON_MAX 64 /* largest size of a reason: bytes, with the NUL */

/* Distribution over time. The weight of a value is the time for which it lasted. p95 is the
 * smallest value with this property: for 95 % of the time, the column was not above it (nearest
 * rank, weighted). `sum` is the plain sum of the values. For a column that counts growth per
 * interval, `sum` is the total.
 *
 * The last reading of a run has the weight 0, because it only corrects the totals. A value of
 * weight 0 counts only in `n`, `sum` and `max`. If all weights are 0, all values weigh the same. */
struct distribution {
	uint64_t n; /* number of samples */
	double mean, min, max, p50, p95, p99, sum;
};

struct column_stats {
	const char *column;
	struct distribution d;
};

struct run {
	const char *run_id;
	const char *job_name;        /* key of the job (collectors/base/job_key.h) */
	double started_at, ended_at; /* seconds since 1970 UTC; ended_at: NaN while running */
	double duration_seconds;     /* by the monotonic clock; time so far while the run lasts */
	enum outcome outcome;
	/* Exit code; number of the signal that ended the run; NaN = unknown. */
	double exit_code, exit_signal;
	const char *host; /* node name of the machine */
	/* Sources of the CPU time ("cgroup", ...) and of memory_peak_bytes ("vmhwm", ...). */
	const char *cpu_source, *memory_source;
	uint64_t samples;
	double interval_seconds; /* configured sampling interval */
	/* Requests and limits of the run, where known. */
	double requested_cpu_cores, requested_memory_bytes, memory_limit_bytes;
	double input_bytes, attempt;
	double cpu_missed_seconds; /* upper bound of the CPU time missing from the total */
	size_t n_stats;
	struct column_stats *stats; /* sorted by column name */
	/* Scope of the network bytes: "own" = the namespace of this run, "shared" = a namespace
	 * that other runs use too; NULL = unknown. */
	const char *network_source;
	enum architecture architecture; /* architecture of the run's programs */
	const char *cpu_level; /* CPU level its executable needs: "x86-64-v3"; NULL = none */
	/* The run's server, in the vendor's names; NULL = unknown. */
	const char *vendor_id, *instance_type, *region, *zone, *allocation;
	/* Identity of the run in the batch or workflow system that named it; NULL = unknown.
	 * - system: the system that named the run ("metaflow", ...); "rules" = a naming rule of
	 *   this program named it.
	 * - system_run: id of the run in this system. Each attempt and each task of it is a struct
	 *   run of its own, with the same `system_run`.
	 * - labels: a JSON object with the labels of this system. */
	const char *system, *system_run, *labels;
	/* Upper bound of the CPU time of other processes that was counted as CPU time of this run.
	 * NaN = unknown; 0 = certainly none. */
	double cpu_foreign_seconds;
	/* The online CPUs and the memory of the run's machine; NaN = unknown. */
	double machine_cpus, machine_memory_bytes;
	const char *disk_source;  /* source of disk_grown_bytes (collectors/followed/run_disk.h) */
	const char *not_measured; /* why the run has no numbers; NULL = it was measured */
	/* Limits on the address space of a process (collectors/followed/run_addresses.h).
	 * - address_limit_bytes: the smaller of RLIMIT_AS and RLIMIT_DATA; NaN = no limit, or
	 *   unknown.
	 * - address_peak_bytes: largest part of this limit that a process used; NaN = unknown. */
	double address_limit_bytes, address_peak_bytes;
	const char *end_reason; /* word of the system that ended the run; NULL = unknown */
	/* The GPUs that the run used: their manufacturer ("NVIDIA", "AMD", "Intel") and the name
	 * that their driver gives to the model ("NVIDIA H200"). NULL = unknown, or the run used no
	 * GPU. If it used GPUs of several manufacturers or models, that text is NULL, too. */
	const char *gpu_manufacturer, *gpu_model;
};

/* An array of runs, newest first. One arena owns the array and all texts in it. */
struct arena;
struct runs {
	size_t n;
	struct run *run;
};

/* Two memory limits differ clearly when the larger is more than this many times the smaller. A
 * smaller difference of the limits could be hidden by the noise of the peaks. history_prune keeps
 * one older run whose limit differs clearly from the limit of the newest runs, because
 * recommender/sizing/follower.h needs it. */
#define RUN_LIMITS_DIFFER 1.05
bool run_limits_differ(double a, double b);

/* Returns the newest known request of each resource. NaN = no run has one. `runs`: newest first. */
void runs_requested(const struct runs *runs, double *cpu_cores, double *memory_bytes);

/* Estimates how many runs the job has in a month of 720 hours, from the start times of the newest
 * MONTH_RUNS_MAX runs. NaN = unknown, because there is only one run, or all runs began within
 * MONTH_LEAST_SECONDS. `runs`: newest first. */
#define MONTH_HOURS         720
#define MONTH_RUNS_MAX      200
#define MONTH_LEAST_SECONDS 86400
double runs_a_month(const struct runs *runs);

/* Returns the duration in seconds. NaN = the duration is unknown, below 0 or above a century. */
double run_duration(const struct run *r);

/* Returns the distribution of a column. NULL = the run does not have the column, or was not
 * measured. */
const struct distribution *run_column(const struct run *r, const char *column);

/* Shorthands for one number of a column. NaN = unknown. */
double run_total(const struct run *r, const char *column); /* sum */
double run_peak(const struct run *r, const char *column);  /* max */
double run_mean(const struct run *r, const char *column);

/* Returns the architecture to choose servers by. The newest run with a known architecture decides.
 * Returns x86_64 instead of i386. */
enum architecture runs_architecture(const struct runs *runs);

/* Sets `*ret` to the manufacturer of the GPUs that the runs used. Returns false if no run has one. If
 * the runs have several, the job can use GPUs of each of them, and `*ret` is NULL. */
bool runs_gpu_manufacturer(const struct runs *runs, const char **ret);

/* Returns the manufacturer of the newest run that tells one, or NULL. A job that moved to GPUs of
 * another manufacturer requests those. */
const char *runs_newest_gpu_manufacturer(const struct runs *runs);

/* Returns the GPU model of the newest run that has one. NULL = no run has one. */
const char *runs_gpu_model(const struct runs *runs);

/* Derived columns are rates of measured columns, such as cpu_cores = cpu_seconds / duration (see
 * the table in stats.c). `stats` contains the derived columns beside the measured columns. The mean
 * of a derived column is total growth / total time. Its sum is unknown.
 *
 * The rate over a few milliseconds would be a false peak. An interval shorter than half the median
 * interval is therefore joined to the next interval. A short interval at the end of the run is
 * joined to the interval before it. */

/* A series from the history: `n` samples in order of time. values[column][i]: NaN = unknown. */
struct series {
	size_t n, n_columns;
	const char *const *columns;
	const double *at; /* end of each sample's interval, seconds since 1970 UTC */
	/* Length of the interval, seconds; 0 = the sample only corrects the sample before it. */
	const double *duration;
	double *const *values;
};

/* Computes the statistics of every column of `s` with a known value, and of the derived columns.
 * `*ret` and its names are in `arena`, sorted by column. Returns the length of `*ret`. */
size_t stats_of_series(const struct series *s, struct arena *arena, struct column_stats **ret);

/* Returns the distribution of `n` values, where weight[i] >= 0 is how long value[i] lasted. If
 * `weight` is NULL, all weights are equal. NaN values are ignored. When no value is known, the
 * result has n = 0 and all its numbers are NaN. */
struct distribution stats_distribution(const double *value, const double *weight, size_t n);

/* Sums over points (x, y), for a least-squares line. All zero = no points. */
struct stats_line {
	double n, x, y, xx, xy, yy;
};
void stats_line_add(struct stats_line *l, double x, double y);
/* Returns the share of the variance of y that a least-squares line over x explains, 0 to 1. NaN = all
 * x or all y are equal. */
double stats_line_explains(const struct stats_line *l);
/* Returns the slope of the least-squares line of y over x. NaN = all x are equal, or a point is not
 * a number. */
double stats_line_slope(const struct stats_line *l);

/* Comparison function for qsort, ascending. Sorts doubles, and structs that begin with a double. */
int stats_ascending(const void *left, const void *right);

#endif
