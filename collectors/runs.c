/* The metric tables of a run and of a job. */
#include "collectors/runs.h"

/* clang-format off */
#define JOB_ROW(id, combine, name_, unit_, type_, fold_, column_, help_) \
	[id] = {.name = name_, .unit = unit_, .help = help_, .labels = {"job_name"}, \
		.type = METRIC_##type_, .fold = FOLD_##fold_, .column = column_},
#define JOB_COMBINE(id, combine, ...) [id] = COMBINE_##combine,

const struct metric run_metrics[JOB_N_METRICS] = {
	RUN_METRICS(JOB_ROW)
	[JOB_ACTIVE_RUNS] = {.name = "rightsize_job_active_runs", .labels = {"job_name"},
		.help = "Runs of the job that are running now"},
	[JOB_RUNS] = {.name = "rightsize_job_runs", .labels = {"job_name", "outcome"}, .type = METRIC_COUNTER,
		.help = "Runs of the job that ended, by outcome, as counted by the history"},
	[JOB_EXIT_CODE] = {.name = "rightsize_job_exit_code", .labels = {"job_name", "outcome"},
		.help = "Exit code of the job's newest run with this outcome, which is not a success; absent where a signal ended it"},
	[JOB_EXIT_SIGNAL] = {.name = "rightsize_job_exit_signal", .labels = {"job_name", "outcome"},
		.help = "Signal that ended the job's newest run with this outcome, which is not a success"},
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
