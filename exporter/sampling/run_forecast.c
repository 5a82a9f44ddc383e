#include "exporter/sampling/run_forecast.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "collectors/collector.h"
#include "collectors/runs.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/neighbourhood.h"
#include "exporter/core/log.h"
#include "exporter/core/worker.h"
#include "exporter/history/historian.h"
#include "recommender/behaviour/running.h"

#define MARKS 16
/* Maximum number of attempts to find an active run in the history. A new run is written to the
 * history a little after it was found. */
#define TRIES         5
#define RETRY_SECONDS 2.0

/* clang-format off */
#define OUTLOOK_METRICS(X) \
X(OOM_RISK, .name = "rightsize_job_oom_risk_ratio", .unit = "ratio", \
  .help = "Probability that the job's active run meets its memory limit before it ends, from the peaks of earlier runs and its own so far", \
  .labels = {"job_name"}, .type = METRIC_GAUGE) \
X(EXPECTED_DURATION, .name = "rightsize_job_expected_duration_seconds", .unit = "seconds", \
  .help = "How long the job's active run is expected to take in all, given how long it took already", \
  .labels = {"job_name"}, .type = METRIC_GAUGE) \
X(OVERPROVISIONED, .name = "rightsize_job_overprovisioned_ratio", .unit = "ratio", \
  .help = "Request of the job's active run, or its limit, divided by its use so far; 1 is a perfect fit", \
  .labels = {"job_name", "resource"}, .type = METRIC_GAUGE)
/* clang-format on */

enum { OUTLOOK_METRICS(METRIC_ID) };
static const struct metric outlook_metrics[] = {OUTLOOK_METRICS(METRIC_ROW)};

struct run_forecast {
	char run_id[RUN_ID_MAX], job_name[JOB_KEY_MAX];
	bool known, seen;
	unsigned tries;
	struct mono tried_at;
	double requested_cpu_cores, requested_memory_bytes;
	struct prospect prospect;
	/* The run's memory peak at up to MARKS times. When the array is full, every second mark is
	 * dropped, so that the marks cover the whole run. Sampler thread only. */
	size_t n_marks;
	struct memory_mark mark[MARKS];
};

struct run_forecasts {
	struct app *app;
	struct complaint complaint;
	struct worker worker;
	pthread_mutex_t lock; /* guards the members below */
	size_t n, room;
	struct run_forecast *entry;
	uint64_t id_hash[RUN_FORECASTS_MAX]; /* hashes of entry[].run_id */
};

static struct run_forecast *find_forecast(struct run_forecasts *o, const char *run_id)
{
	uint64_t hash = hash_text(run_id);

	for (size_t i = 0; i < o->n; i++)
		if (o->id_hash[i] == hash && strcmp(o->entry[i].run_id, run_id) == 0)
			return &o->entry[i];
	return NULL;
}

/* ---- the thread that reads earlier runs ---- */

static struct run_forecast *next_wanted(struct run_forecasts *o, struct mono now)
{
	for (size_t i = 0; i < o->n; i++) {
		struct run_forecast *e = &o->entry[i];

		if (!e->known && e->tries < TRIES &&
			(e->tries == 0 || mono_seconds_between(e->tried_at, now) >= RETRY_SECONDS))
			return e;
	}
	return NULL;
}

/* Reads the job's earlier runs from the history, computes the forecast of the active run `e` from
 * them, and sets the requests of `e`. Returns false when the active run is not in the history
 * yet. */
static bool read_past(struct run_forecasts *o, struct run_forecast *e)
{
	AUTO(arena_done) struct arena arena = {0};
	AUTO(history_closep) struct history *h = NULL;
	AUTO(job_neighbours_done) struct job_neighbours neighbours = {0};
	const struct run *own = NULL;
	struct err error = {0};
	struct runs runs = {0};
	int code = answer_open_history(o->app, &h, &error);

	if (code == 0)
		code = job_runs_to_size(h, e->job_name, 0, &arena, &runs, &error);
	if (code == 0)
		code = job_neighbours_find(o->app, h, e->job_name, &neighbours, &error);
	if (code && code != -ENOENT && log_complaint_due(&o->complaint))
		log_line(LOG_LEVEL_WARN, "no forecast: earlier runs cannot be read", "job_name",
			e->job_name, "err", error.text, NULL);
	for (size_t i = 0; i < runs.n; i++)
		if (strcmp(runs.run[i].run_id, e->run_id) == 0)
			own = &runs.run[i];
	if (!own)
		return false;
	log_complaint_over(&o->complaint);
	running_prospect(&runs,
		&(struct sizing_options){.input_bytes = own->input_bytes,
			.input_given = true,
			.neighbours = neighbours.jobs},
		&e->prospect);
	e->requested_cpu_cores = own->requested_cpu_cores;
	e->requested_memory_bytes = own->requested_memory_bytes;
	return true;
}

static void read_job_past(struct run_forecasts *o, struct run_forecast copy)
{
	bool found = read_past(o, &copy);

	pthread_mutex_lock(&o->lock);
	struct run_forecast *e = find_forecast(o, copy.run_id);

	if (e && found) {
		e->known = true;
		e->prospect = copy.prospect;
		e->requested_cpu_cores = copy.requested_cpu_cores;
		e->requested_memory_bytes = copy.requested_memory_bytes;
	}
	pthread_mutex_unlock(&o->lock);
}

/* The function of the worker: tries to make the forecast of one run that has none yet. While there
 * is such a run, the sampler wakes this thread at every tick. */
static double look_up_next(void *context)
{
	struct run_forecasts *o = context;
	struct mono now = now_read().mono;
	struct run_forecast copy;

	pthread_mutex_lock(&o->lock);
	struct run_forecast *e = next_wanted(o, now);

	if (e) {
		e->tries++;
		e->tried_at = now;
		copy = *e;
	}
	pthread_mutex_unlock(&o->lock);
	if (!e)
		return INFINITY;
	read_job_past(o, copy);
	return 0;
}

void run_forecasts_stop(struct run_forecasts *o)
{
	if (!o)
		return;
	worker_done(&o->worker);
	pthread_mutex_destroy(&o->lock);
	free(o->entry);
	free(o);
}

int run_forecasts_start(struct run_forecasts **ret, struct app *app, struct err *e)
{
	struct run_forecasts *o = xcalloc(1, sizeof *o);

	o->app = app;
	pthread_mutex_init(&o->lock, NULL);
	worker_init(&o->worker);
	o->worker.loose = historian_is_loose(o->app->historian);
	int code = worker_start(&o->worker, "outlook", look_up_next, o, e);

	if (code)
		run_forecasts_stop(o);
	else
		*ret = o;
	return code;
}

/* ---- on the sampler thread ---- */

static struct run_forecast *entry_of(struct run_forecasts *o, const struct run_reading *r)
{
	struct run_forecast *e = find_forecast(o, r->run_id);

	if (e || o->n == RUN_FORECASTS_MAX)
		return e;
	GROW(o->entry, o->n, o->room);
	o->id_hash[o->n] = hash_text(r->run_id);
	e = &o->entry[o->n++];
	*e = (struct run_forecast){.requested_cpu_cores = NAN, .requested_memory_bytes = NAN};
	text_copy(r->run_id, e->run_id, sizeof e->run_id);
	text_copy(r->job_name, e->job_name, sizeof e->job_name);
	return e;
}

/* Stores the run's memory peak after `seconds` as a mark. The marks cover the whole run at about
 * equal distances. */
static void note_mark(struct run_forecast *e, double seconds, double bytes)
{
	double apart = e->n_marks > 1 ? e->mark[1].seconds - e->mark[0].seconds : 0;

	if (e->n_marks && seconds < e->mark[e->n_marks - 1].seconds + apart)
		return;
	if (e->n_marks == MARKS) {
		e->n_marks = MARKS / 2;
		for (size_t i = 0; i < e->n_marks; i++)
			e->mark[i] = e->mark[2 * i];
	}
	e->mark[e->n_marks++] = (struct memory_mark){seconds, bytes};
}

static struct running outlook_of(struct run_forecast *e, const struct run_reading *r)
{
	const double *v = r->value;
	double requested_cpu = e->requested_cpu_cores;
	struct running running;

	note_mark(e, v[RUN_DURATION_SECONDS], v[RUN_MEMORY_PEAK_BYTES]);
	struct running_progress now = {
		.started_at = wall_seconds(r->started_at),
		.seconds = v[RUN_DURATION_SECONDS],
		.peak_bytes = v[RUN_MEMORY_PEAK_BYTES],
		.peak_at_half_bytes =
			running_mark_at_half(e->mark, e->n_marks, v[RUN_DURATION_SECONDS]),
		.cores = v[RUN_CPU_SECONDS] / v[RUN_DURATION_SECONDS],
		.requested_cpu_cores =
			isnan(requested_cpu) ? v[RUN_CPU_LIMIT_CORES] : requested_cpu,
		.requested_memory_bytes = e->requested_memory_bytes,
		.memory_limit_bytes = v[RUN_MEMORY_LIMIT_BYTES],
	};

	if (!e->known)
		e->prospect.expected_seconds = NAN;
	if (!e->known)
		for (size_t i = 0; i < PROSPECT_POINTS; i++)
			e->prospect.peak[i] = e->prospect.duration[i] = NAN;
	running_outlook(&e->prospect, &now, &running);
	return running;
}

/* Merges the values of `r` into `sum`, because all active runs of a job share one sample of each
 * metric. `sum` gets the highest risk, the longest duration and the lowest overprovisioning of
 * these runs. */
static void add_to(struct running *sum, const struct running *r)
{
	sum->oom_risk = fmax(sum->oom_risk, r->oom_risk);
	sum->expected_duration_seconds =
		fmax(sum->expected_duration_seconds, r->expected_duration_seconds);
	sum->overprovisioned_memory = fmin(sum->overprovisioned_memory, r->overprovisioned_memory);
	sum->overprovisioned_cpu = fmin(sum->overprovisioned_cpu, r->overprovisioned_cpu);
}

static void add_points(struct block *out, const char *job_name, const struct running *r)
{
	POINT(out, OOM_RISK, r->oom_risk, job_name);
	POINT(out, EXPECTED_DURATION, r->expected_duration_seconds, job_name);
	POINT(out, OVERPROVISIONED, r->overprovisioned_memory, job_name, "memory");
	POINT(out, OVERPROVISIONED, r->overprovisioned_cpu, job_name, "cpu");
}

/* Compares two runs for sorting: by job name, then by position in the snapshot. */
static int compare_jobs(const void *a, const void *b)
{
	const struct run_reading *one = *(const struct run_reading *const *)a;
	const struct run_reading *other = *(const struct run_reading *const *)b;
	int order = strcmp(one->job_name, other->job_name);

	return order ? order : (one > other) - (one < other);
}

static size_t active_by_job(struct snapshot *s, const struct run_reading ***ret)
{
	const struct run_reading **run = arena_alloc(&s->arena, (s->n_runs + 1) * sizeof *run);
	size_t n = 0;

	for (size_t i = 0; i < s->n_runs; i++)
		if (!s->runs[i].ended)
			run[n++] = &s->runs[i];
	qsort(run, n, sizeof *run, compare_jobs);
	*ret = run;
	return n;
}

static void add_jobs(struct run_forecasts *o, struct snapshot *s, struct block *out)
{
	const struct run_reading **run;
	size_t n = active_by_job(s, &run);

	for (size_t i = 0; i < n;) {
		const char *job_name = run[i]->job_name;
		struct running sum = {NAN, NAN, NAN, NAN, NAN, NAN};

		for (; i < n && strcmp(run[i]->job_name, job_name) == 0; i++) {
			struct run_forecast *e = entry_of(o, run[i]);

			if (!e)
				continue;
			struct running one = outlook_of(e, run[i]);

			e->seen = true;
			add_to(&sum, &one);
		}
		add_points(out, job_name, &sum);
	}
}

static void drop_unseen(struct run_forecasts *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->n; i++)
		if (o->entry[i].seen) {
			o->id_hash[kept] = o->id_hash[i];
			o->entry[kept] = o->entry[i];
			o->entry[kept++].seen = false;
		}
	o->n = kept;
}

void run_forecasts_add(struct run_forecasts *o, struct snapshot *s)
{
	struct block *out = NULL;

	for (size_t i = 0; i < s->n_blocks; i++)
		if (s->blocks[i].collector == &collector_outlook)
			out = &s->blocks[i];
	if (!o || !out)
		return;
	pthread_mutex_lock(&o->lock);
	add_jobs(o, s, out);
	drop_unseen(o);
	bool wanted = next_wanted(o, s->at.mono) != NULL;

	pthread_mutex_unlock(&o->lock);
	if (wanted)
		worker_wake(&o->worker);
}

static int collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	(void)state;
	(void)host;
	(void)out;
	(void)e;
	return 0;
}

const struct collector collector_outlook = {
	.name = "outlook",
	.help = "What is to be expected of active runs: risk of a kill for memory, duration, what "
		"is left over",
	.metrics = outlook_metrics,
	.n_metrics = ARRAY_LEN(outlook_metrics),
	.collect = collect,
};
