/* What the jobs add up to, as points. */
#include "collectors/followed/jobs_private.h"

#include <errno.h>
#include <math.h>

/* clang-format off */
#define JOB_ROW(id, combine, name_, unit_, type_, fold_, column_, help_) \
	[id] = {.name = name_, .unit = unit_, .help = help_, .labels = {"job_name"}, \
		.type = METRIC_##type_, .fold = FOLD_##fold_, .column = column_},
#define JOB_COMBINE(id, combine, ...) [id] = COMBINE_##combine,

enum { JOB_ACTIVE_RUNS = RUN_N_METRICS, JOB_RUNS, JOB_LAST_END, JOB_READ_AT, JOB_INCOMPLETE, JOB_N_METRICS };

const struct metric run_metrics[] = {
	RUN_METRICS(JOB_ROW)
	[JOB_ACTIVE_RUNS] = {.name = "rightsize_job_active_runs", .labels = {"job_name"},
		.help = "Runs of the job that are running now"},
	[JOB_RUNS] = {.name = "rightsize_job_runs", .labels = {"job_name", "outcome"}, .type = METRIC_COUNTER,
		.help = "Runs of the job that ended, by outcome, as counted by the history"},
	[JOB_LAST_END] = {.name = "rightsize_job_last_end_timestamp_seconds", .unit = "seconds",
		.labels = {"job_name"}, .help = "End of the job's latest run since the Unix epoch"},
	[JOB_READ_AT] = {.name = "rightsize_jobs_timestamp_seconds", .unit = "seconds",
		.help = "When the runs of all jobs were looked at, since the Unix epoch: at most a second before the answer, "
			"or ten times as long as a look takes"},
	[JOB_INCOMPLETE] = {.name = "rightsize_jobs_incomplete_runs",
		.help = "Runs that lack processes, as these are in too many runs already, or all runs together have too many"},
};
/* clang-format on */

const enum run_combine run_combines[RUN_N_METRICS] = {RUN_METRICS(JOB_COMBINE)};

static double combine(enum run_combine how, double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) ? b : a;
	switch (how) {
	case COMBINE_SUM:
		return a + b;
	case COMBINE_MAX:
		return a > b ? a : b;
	case COMBINE_MIN:
		return a < b ? a : b;
	}
	return NAN;
}

/*
 * The same parts added up in another order may differ in the last bit, and a counter that falls by so little was reset
 * to whoever reads it, who then counts all of it anew.
 */
static double not_fallen(double *told, double value)
{
	if (!(value < *told))
		*told = value;
	return *told;
}

static void add_job(struct job *job, struct block *out)
{
	double v[RUN_N_METRICS];
	size_t active = 0;

	for (size_t k = 0; k < RUN_N_METRICS; k++)
		v[k] = run_metrics[k].fold == FOLD_PEAK ? job->peak[k] : NAN;
	for (const struct tracked *t = job->runs; t; t = t->next_of_job) {
		active += !t->ended;
		for (size_t k = 0; k < RUN_N_METRICS; k++)
			v[k] = combine(run_combines[k], v[k], t->value[k]);
	}
	for (size_t k = 0; k < RUN_N_METRICS; k++) {
		bool counter = run_metrics[k].type == METRIC_COUNTER;

		/* A counter goes on after the runs; what no run ever knew stays unknown. */
		if (counter && job->finished[k] > 0)
			v[k] = combine(COMBINE_SUM, v[k], job->finished[k]);
		if (counter && !isnan(v[k]))
			v[k] = not_fallen(&job->told[k], v[k]);
		POINT(out, (unsigned)k, v[k], job->name);
	}
	POINT(out, JOB_ACTIVE_RUNS, (double)active, job->name);
	POINT(out, JOB_LAST_END, job->last_end, job->name);
	for (size_t i = 0; i < job->n_outcomes; i++)
		POINT(out, JOB_RUNS, (double)job->outcome[i].runs, job->name, job->outcome[i].name);
}

/* In the order of all runs. Looking through them once for each job would be a million looks. */
static void sort_by_job(struct jobs *j)
{
	for (size_t i = 0; i < j->n_jobs; i++)
		j->job[i]->runs = NULL;
	for (size_t i = j->n_runs; i-- > 0;) {
		j->run[i]->next_of_job = j->run[i]->job->runs;
		j->run[i]->job->runs = j->run[i];
	}
}

static size_t incomplete_runs(const struct jobs *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n_runs; i++)
		n += j->run[i]->tree.left_out;
	return n;
}

static int jobs_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	(void)state;
	(void)e;
	if (!host->jobs)
		return -ENOENT;
	sort_by_job(host->jobs);
	for (size_t i = 0; i < host->jobs->n_jobs; i++)
		add_job(host->jobs->job[i], out);
	if (host->jobs->read_at.ns) {
		POINT(out, JOB_READ_AT, wall_seconds(host->jobs->read_at), NULL);
		POINT(out, JOB_INCOMPLETE, (double)incomplete_runs(host->jobs), NULL);
	}
	return 0;
}

const struct collector collector_jobs = {
	.name = "jobs",
	.help = "Jobs whose runs are followed: CPU, memory, I/O and processes of their process "
		"trees",
	.metrics = run_metrics,
	.n_metrics = JOB_N_METRICS,
	.collect = jobs_collect,
};
