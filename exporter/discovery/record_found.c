/* Writes the start and the end of each run that the finder found into the history. */
#include "exporter/discovery/finder_state.h"

#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/followed/jobs.h"
#include "exporter/history/historian.h"
#include "exporter/core/identity.h"
#include "exporter/core/json.h"
#include "exporter/this_server/this_server.h"
#include "exporter/history/outcome.h"
#include "recommender/run.h"

char *record_labels_text(const struct recognised *r)
{
	json_t *o = json_object();

	for (size_t i = 0; i < r->n_labels; i++)
		json_put(o, r->label[i].name, json_text(r->label[i].value));
	char *ret = r->n_labels ? json_dumps(o, JSON_COMPACT) : NULL;

	json_decref(o);
	return ret;
}

static void record_begin(struct finder *f, const struct host *h, const struct snapshot *s,
	const struct run_reading *reading, struct named_process *n)
{
	const struct identity *self = f->app->self;
	AUTO(freep) char *labels = record_labels_text(&n->is);
	struct account_note note;
	char former[JOB_KEY_MAX];
	struct run_begin begin = {
		.run_id = n->run_id,
		.job_name = n->job,
		.former_job = n->is.former_name[0] ? former : NULL,
		.host = self->host,
		.started_at = wall_seconds(n->started_at),
		.interval_seconds = f->app->options->sample_interval,
		.root = n->root,
		.requested_cpu_cores = n->is.cpu_cores,
		.requested_memory_bytes = n->is.memory_bytes,
		.memory_limit_bytes = NAN,
		.input_bytes = n->is.input_bytes,
		.attempt = n->is.attempt,
		.system = n->is.system,
		.system_run = n->is.run[0] ? n->is.run : NULL,
		.labels = labels,
		.owner_pid = self->pid,
		.owner_start_ticks = self->start_ticks,
	};

	job_key_write(n->is.former_name, n->is.space, f->app->options->jobs_cluster, former);
	if (jobs_note(h->jobs, h, n->run_id, &note))
		begin.memory_limit_bytes = note.memory_limit_bytes;
	begin.server = this_server_of_run(f->app, &f->machine);
	if (n->left_open)
		sample_rows_continue(f->sample_rows, n->run_id, s, n->left_open->total,
			fmax(0, reading->value[RUN_DURATION_SECONDS] -
					n->left_open->recorded_seconds));
	else
		sample_rows_begin(f->sample_rows, n->run_id, s);
	historian_run_begin(f->app->historian, &begin);
	n->begun = true;
	log_line(LOG_LEVEL_INFO, n->left_open ? "run continued" : "run found", "job_name", n->job,
		"run_id", n->run_id, "system", n->is.system, NULL);
}

static const struct run_reading *reading_of(const struct snapshot *s, const char *run_id)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (strcmp(s->runs[i].run_id, run_id) == 0)
			return &s->runs[i];
	return NULL;
}

static void record_end(struct finder *f, const struct host *h, const struct snapshot *s,
	const struct run_reading *reading, struct named_process *n)
{
	const struct sample *rows;
	struct account_note note = {.oom_kills = NAN, .shared_oom_kills = NAN};
	double duration = reading->value[RUN_DURATION_SECONDS];
	struct run_finish finish = {
		.run_id = n->run_id,
		.ended_at = wall_seconds(n->started_at) + duration,
		.duration_seconds = duration,
		.outcome = OUTCOME_UNKNOWN,
		.exit_code = NAN,
		.exit_signal = NAN,
		RUN_FINISH_UNKNOWN,
	};
	size_t n_rows = sample_rows_read(f->sample_rows, s, n->run_id, &rows);

	if (n_rows)
		historian_samples(f->app->historian, rows, n_rows);
	sample_rows_end(f->sample_rows, n->run_id);
	if (jobs_note(h->jobs, h, n->run_id, &note))
		outcome_note(&finish, &note);
	if (n->reported.outcome != OUTCOME_RUNNING) {
		finish.outcome =
			outcome_as_reported(n->reported.outcome, n->reported.exit_code, &note);
		finish.exit_code = n->reported.exit_code;
		finish.end_reason = n->reported.reason[0] ? n->reported.reason : NULL;
		finish.exit_signal = NAN;
	}
	finish.server = this_server_of_run(f->app, &f->machine);
	historian_run_finish(f->app->historian, &finish);
	n->open = false;
	name_quota_ended(&f->quota, n->job);
	log_line(LOG_LEVEL_INFO, "run ended", "job_name", n->job, "run_id", n->run_id, "outcome",
		run_outcome_name(finish.outcome), NULL);
}

void finder_settle(struct finder *f, const struct host *host, const struct snapshot *s)
{
	for (size_t i = 0; i < f->n; i++) {
		struct named_process *n = f->named[i];
		const struct run_reading *reading = n->open ? reading_of(s, n->run_id) : NULL;

		if (reading && !n->begun)
			record_begin(f, host, s, reading, n);
		if (reading && reading->ended)
			record_end(f, host, s, reading, n);
	}
}
