#include "recommender/plausible.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/kept_statistics.h"

/* ---- bounds ---- */

enum subject { OTHER, CPU_TIME, CORES, MEMORY, VRAM, GPUS, PROCESSES, DISK, TOTAL };

/* The bound of a column follows from its subject. A column that is not in this table can have any
 * value that a counter of the kernel can have. memory_rss_bytes and its parts are not in the table:
 * they count shared memory once for each process, so they can exceed the memory of the machine. */
static const struct {
	const char *column;
	enum subject subject;
} subjects[] = {
	{"cpu_seconds", CPU_TIME},
	{"cpu_user_seconds", CPU_TIME},
	{"cpu_system_seconds", CPU_TIME},
	{"cpu_cores", CORES},
	{"memory_bytes", MEMORY},
	{"memory_pss_bytes", MEMORY},
	{"memory_peak_bytes", MEMORY},
	{"memory_peak_process_bytes", MEMORY},
	{"memory_cgroup_bytes", MEMORY},
	{"memory_cgroup_peak_bytes", MEMORY},
	{"memory_cgroup_cache_bytes", MEMORY},
	{"memory_cgroup_shmem_bytes", MEMORY},
	{"memory_cgroup_huge_bytes", MEMORY},
	{"memory_tmpfs_bytes", MEMORY},
	{"vram_bytes", VRAM},
	{"vram_peak_bytes", VRAM},
	{"gpus_used", GPUS},
	{"gpu_usage", GPUS},
	{"processes", PROCESSES},
	{"threads", PROCESSES},
	{"disk_read_bytes", TOTAL},
	{"disk_written_bytes", TOTAL},
	{"disk_grown_bytes", DISK},
	{"system_disk_space_used_bytes", DISK},
	{"network_received_bytes", TOTAL},
	{"network_sent_bytes", TOTAL},
	{"read_chars", TOTAL},
	{"written_chars", TOTAL},
};

static enum subject subject_of(const char *column)
{
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++)
		if (strcmp(subjects[i].column, column) == 0)
			return subjects[i].subject;
	return OTHER;
}

struct bound {
	double most;
	char because[128];
};

/* Returns the longest time during which the run can have used CPU time. */
static double longest(const struct run *r)
{
	if (r->outcome == OUTCOME_INTERRUPTED || !(r->duration_seconds >= 0))
		return RUN_SECONDS_MAX;
	return r->duration_seconds * (1 + RUN_SLACK_SHARE) + RUN_SLACK_SECONDS;
}

static double cpus_of(const struct run *r)
{
	return r->machine_cpus >= 1 ? fmin(r->machine_cpus, RUN_CPUS_MAX) : RUN_CPUS_MAX;
}

static struct bound cpu_time_bound(const struct run *r)
{
	double cpus = cpus_of(r);
	struct bound b = {.most = cpus * longest(r)};

	if (longest(r) < RUN_SECONDS_MAX)
		snprintf(b.because, sizeof b.because, "%.15g CPU%s for %.6g s, plus %g %% and %g s",
			cpus, cpus == 1 ? "" : "s", r->duration_seconds, 100 * RUN_SLACK_SHARE,
			RUN_SLACK_SECONDS);
	else
		snprintf(b.because, sizeof b.because, "%.15g CPU%s for a century", cpus,
			cpus == 1 ? "" : "s");
	return b;
}

/* Returns the bound of cpu_cores = CPU time / interval. The CPU time may be RUN_SLACK_SECONDS too
 * large. This matters most in a short interval, so the shortest possible one is assumed: half the
 * sampling interval (derived columns, recommender/run.h). An unknown sampling interval counts as
 * RUN_INTERVAL_LEAST. */
static struct bound cores_bound(const struct run *r)
{
	double usual = r->interval_seconds > 0 ? r->interval_seconds : RUN_INTERVAL_LEAST;
	double cpus = cpus_of(r), shortest = fmin(usual / 2, r->duration_seconds);
	double most = cpus * (1 + RUN_SLACK_SHARE + RUN_SLACK_SECONDS / shortest);
	bool known = most > 0 && r->outcome != OUTCOME_INTERRUPTED;
	struct bound b = {.most = known ? fmin(most, RUN_CPUS_MAX) : RUN_CPUS_MAX};

	snprintf(b.because, sizeof b.because, "%.15g CPU%s, plus %g %% and %g s in an interval",
		cpus, cpus == 1 ? "" : "s", 100 * RUN_SLACK_SHARE, RUN_SLACK_SECONDS);
	return b;
}

static struct bound size_bound(double known, const char *whose)
{
	struct bound b = {.most = known > 0 ? fmin(known, RUN_MEMORY_MAX) : RUN_MEMORY_MAX};

	snprintf(b.because, sizeof b.because, "%s", known > 0 ? whose : "no machine has more");
	return b;
}

static struct bound bound_of(const struct run *r, enum subject s, double vram_bytes)
{
	switch (s) {
	case CPU_TIME:
		return cpu_time_bound(r);
	case CORES:
		return cores_bound(r);
	case MEMORY:
		return size_bound(r->machine_memory_bytes, "the memory of the machine");
	case VRAM:
		return size_bound(vram_bytes, "the memory of the machine's GPUs");
	case GPUS:
		return (struct bound){.most = RUN_GPUS_MAX, .because = "no machine has more"};
	case PROCESSES:
		return (struct bound){
			.most = RUN_PROCESSES_MAX, .because = "Linux can have no more"};
	case DISK:
		return (struct bound){.most = RUN_DISK_MAX, .because = "no machine has more"};
	case TOTAL:
		return (struct bound){.most = RUN_TOTAL_MAX, .because = "no machine moves more"};
	case OTHER:
		break;
	}
	return (struct bound){.most = 0x1p64, .because = "no counter goes further"};
}

/* ---- numbers of a column ---- */

/* Returns true when the sum of a column has a bound: its values are amounts per interval. The
 * values of other columns, such as the memory in use, are levels. Their sum grows with the number
 * of samples, so it has no bound. */
static bool sum_is_bounded(enum subject s)
{
	return s == CPU_TIME || s == TOTAL;
}

static int check_column(const struct column_stats *s, enum subject subject, const struct bound *b,
	struct err *e)
{
	for (unsigned i = STATISTIC_SUM; i < STATISTIC_COUNT; i++) {
		double v = statistic_get(&s->d, i), most = b->most;

		if (i == STATISTIC_SUM && !sum_is_bounded(subject))
			most = INFINITY;
		if (v < 0)
			return err_set(e, -ERANGE,
				"column %.64s: %s is %.15g; possible is 0 or more", s->column,
				statistic_name[i], v);
		if (v > most)
			return err_set(e, -ERANGE,
				"column %.64s: %s is %.15g; possible is 0 to %.15g (%s)", s->column,
				statistic_name[i], v, most, b->because);
	}
	return 0;
}

int run_plausible(const struct run *r, double vram_bytes, struct err *e)
{
	int code = 0;

	if (r->duration_seconds < 0)
		return err_set(e, -ERANGE, "duration_seconds is %.15g; possible is 0 or more",
			r->duration_seconds);
	for (size_t i = 0; i < r->n_stats && code == 0; i++) {
		enum subject s = subject_of(r->stats[i].column);
		struct bound b = bound_of(r, s, vram_bytes);

		code = check_column(&r->stats[i], s, &b, e);
	}
	return code;
}

void run_mend_cores(struct run *r)
{
	double rate = run_total(r, "cpu_seconds") / r->duration_seconds;
	size_t i = 0;

	while (i < r->n_stats && strcmp(r->stats[i].column, "cpu_cores") != 0)
		i++;
	if (i == r->n_stats)
		return;
	struct column_stats *s = &r->stats[i];
	struct bound b = cores_bound(r);

	if (check_column(s, CORES, &b, NULL) == 0)
		return;
	s->d = (struct distribution){1, rate, rate, rate, rate, rate, rate, NAN};
	if (isfinite(rate) && check_column(s, CORES, &b, NULL) == 0)
		return;
	r->n_stats--;
	memmove(s, s + 1, (r->n_stats - i) * sizeof *s);
}

/* ---- order ---- */

/* Returns true when low <= high, with a tolerance for rounding errors. Also returns true when one
 * of them is unknown (NaN). */
static bool in_order(double low, double high)
{
	return !(low > high + 1e-9 * fabs(high));
}

static const char *disorder(const struct distribution *d)
{
	bool is_rate = isnan(d->sum);

	if (!in_order(d->min, d->mean) || (!is_rate && !in_order(d->mean, d->max)))
		return "min <= mean <= max";
	if (!in_order(d->min, d->p50) || !in_order(d->p50, d->p95) || !in_order(d->p95, d->p99) ||
		!in_order(d->p99, d->max) || !in_order(d->p50, d->max) || !in_order(d->min, d->max))
		return "min <= p50 <= p95 <= p99 <= max";
	return NULL;
}

int run_plausible_order(const struct run *r, struct err *e)
{
	for (size_t i = 0; i < r->n_stats; i++) {
		const struct column_stats *s = &r->stats[i];
		const char *wanted = disorder(&s->d);

		for (unsigned k = STATISTIC_SUM; k < STATISTIC_COUNT; k++)
			if (isinf(statistic_get(&s->d, k)))
				return err_set(e, -ERANGE,
					"column %.64s: %s: accepted is a finite number", s->column,
					statistic_name[k]);
		if (s->d.n == 0)
			return err_set(e, -ERANGE,
				"column %.64s: n: accepted is a whole number from 1 on", s->column);
		if (wanted)
			return err_set(e, -ERANGE, "column %.64s: accepted is %s", s->column,
				wanted);
	}
	return 0;
}

bool run_times_agree(const struct run *r)
{
	double span = r->ended_at - r->started_at, duration = r->duration_seconds;

	if (duration > span * (1 + RUN_SLACK_SHARE) + RUN_SLACK_SECONDS)
		return false;
	return r->outcome == OUTCOME_INTERRUPTED ||
	       !(span > duration * (1 + RUN_SLACK_SHARE) + RUN_SLACK_SECONDS);
}

bool run_cpu_uncertain(const struct run *r)
{
	double unsure = fmax(r->cpu_missed_seconds, r->cpu_foreign_seconds);
	double used = run_total(r, "cpu_seconds");

	return unsure > UNCERTAIN_CPU_SECONDS && unsure > UNCERTAIN_CPU_SHARE * used;
}

#define DOUBT_SHARE 0.05

struct doubt {
	double used, missed, foreign; /* CPU time, seconds */
	size_t uncertain;             /* number of runs whose CPU time is uncertain */
};

static struct doubt doubt_of(const struct run *const *runs, size_t n)
{
	struct doubt d = {0};

	for (size_t i = 0; i < n; i++) {
		double used = run_total(runs[i], "cpu_seconds");

		if (isnan(used))
			continue;
		d.used += used;
		d.missed += fmax(runs[i]->cpu_missed_seconds, 0);
		d.foreign += fmax(runs[i]->cpu_foreign_seconds, 0);
		d.uncertain += run_cpu_uncertain(runs[i]);
	}
	return d;
}

/* Appends `before`, the seconds and `after`. The seconds have at most three significant digits.
 * From 999.5 s on, they are whole seconds, because "%.3g" would write an exponent. */
static void add_seconds(struct buf *b, const char *before, double seconds, const char *after)
{
	buf_addf(b, seconds < 999.5 ? "%s%.3g s%s" : "%s%.0f s%s", before, seconds, after);
}

bool run_cpu_doubt(struct buf *ret, const struct run *const *runs, size_t n)
{
	struct doubt d = doubt_of(runs, n);
	double least = fmax(DOUBT_SHARE * d.used, UNCERTAIN_CPU_SECONDS);
	bool missed = d.missed > least, foreign = d.foreign > least;

	if (!missed && !foreign && !d.uncertain)
		return false;
	add_seconds(ret, "", d.used, " of CPU time were measured.");
	if (foreign)
		add_seconds(ret, " Up to ", d.foreign, " of it may be of other processes.");
	if (missed)
		add_seconds(ret, " Up to ", d.missed, " more may be missing.");
	if (d.uncertain)
		buf_addf(ret, " %zu of %zu runs %s too uncertain to size cores.", d.uncertain, n,
			d.uncertain == 1 ? "is" : "are");
	return true;
}
