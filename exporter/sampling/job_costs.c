#include "exporter/sampling/job_costs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "collectors/base/latest.h"
#include "collectors/base/mem.h"
#include "collectors/followed/jobs.h"
#include "exporter/catalogue/in_use.h"
#include "exporter/history/historian.h"
#include "exporter/history/history.h"
#include "exporter/core/log.h"
#include "exporter/core/worker.h"
#include "exporter/answers/dated_names.h"
#include "exporter/answers/job_cost.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/current_cost.h"
#include "exporter/answers/neighbourhood.h"
#include "exporter/sampling/job_advice.h"
#include "recommender/sizing/sizing.h"
#include "exporter/answers/app_caches.h"
#include "exporter/history/read_failed.h"

#define LOOK_SECONDS 15.0
/* After each round, the thread waits for at least this many times the duration of the round. It
 * thus uses at most a tenth of a CPU, even when runs of hundreds of jobs have ended since the last
 * round. */
#define LOOK_REST 9

/* A run whose cost is included in the total of its job. */
struct costed_run {
	uint64_t run; /* hash of the run id */
	double usd;   /* cost of the run in US dollars; NaN = unknown */
	double seconds;
};

struct costed_job {
	char *name;
	bool listed; /* the job is one of the JOBS_MAX jobs at /metrics */
	/* The job is computed again when one of these numbers has changed. costed: number of ended
	 * runs when the cost was last computed. sized_at: number of begun runs plus number of ended
	 * runs when the job was last sized. Begun runs count, because a new run may request another
	 * size. */
	uint64_t costed, sized_at;
	double total, last;
	size_t n;
	/* costs of those ended runs of the job that are in the history */
	struct costed_run *counted;
	struct arena memory; /* owns the texts of `offer`, `source`, `as_of` */
	struct offer offer[OFFERS];
	double saving;
	const char *source, *as_of;
	struct job_advice advice; /* advice.job_name is set only when the advice is published */
};

struct job_costs {
	struct app *app;
	size_t n, room;
	size_t hidden; /* number of jobs that /metrics leaves out */
	struct costed_job *job;
	struct machine machine; /* the server of this program at the last look */
	double catalogue_at;    /* see struct job_cost_table */
	struct complaint complaint;
	struct worker worker;
};

/* ---- the collector ---- */

/* clang-format off */
#define COST_METRICS(X) \
X(COST, .name = "rightsize_job_cost_usd", .unit = "usd", .labels = {"job_name"}, .type = METRIC_COUNTER, \
  .help = "Cost of the job's runs in the history, each at the price of the server when its end was first seen; does not fall when runs are pruned") \
X(LAST_COST, .name = "rightsize_job_last_run_cost_usd", .unit = "usd", .labels = {"job_name"}, \
  .help = "Cost of the job's newest ended run") \
X(FORECAST_COST, .name = "rightsize_job_forecast_cost_usd", .unit = "usd", .labels = {"job_name", "server"}, \
  .help = "Forecast cost of the next run: on the current server, and on the best one, which has the lowest cost of a run and can be the current one") \
X(FORECAST_DURATION, .name = "rightsize_job_forecast_duration_seconds", .unit = "seconds", \
  .labels = {"job_name", "server"}, \
  .help = "Forecast duration of the next run: on the current server, and on the best one, which has the lowest cost of a run") \
X(SAVING, .name = "rightsize_job_saving_usd", .unit = "usd", .labels = {"job_name"}, .type = METRIC_GAUGE, \
  .help = "Saving of the next run on the best server, compared with the current one; 0 if the current one is the best") \
X(PRICE, .name = "rightsize_job_server_price_usd", .unit = "usd", .labels = {"job_name", "server"}, \
  .help = "Price of an hour of these servers") \
X(SERVER, .name = "rightsize_job_server", .type = METRIC_INFO, \
  .labels = {"job_name", "server", "vendor", "instance_type", "region", "allocation", "price_source", "price_as_of"}, \
  .help = "Which servers these are, and where their prices come from") \
X(CATALOGUE_TIMESTAMP, .name = "rightsize_catalogue_timestamp_seconds", .unit = "seconds", .type = METRIC_GAUGE, \
  .help = "When the prices that costs were last computed with were fetched, or what date they bear, since the Unix epoch")
/* clang-format on */

enum { COST_METRICS(METRIC_ID) };
static const struct metric cost_metrics[] = {COST_METRICS(METRIC_ROW)};

struct job_cost_row {
	const char *job_name;
	/* US dollars: total of all runs; cost of the newest ended run; NaN = unknown */
	double total, last;
	struct offer offer[OFFERS];
	double saving;              /* US dollars per run; NaN = unknown */
	const char *source, *as_of; /* source and date of the prices */
};

/* The published costs. A published table never changes. The thread of this file replaces it by a
 * new table, and the collector reads the newest table. */
struct job_cost_table {
	struct shared shared;
	struct arena memory; /* owns all rows and texts */
	double catalogue_at; /* date of the prices, seconds since 1970 UTC; NaN = unknown */
	size_t n;
	struct job_cost_row *row;
};

static struct latest newest = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* a struct job_cost_table */

static void release(struct shared *s)
{
	struct job_cost_table *t = (struct job_cost_table *)(void *)s;

	arena_done(&t->memory);
	free(t);
}

static void add_offer(struct block *out, const struct job_cost_row *r, unsigned i)
{
	const struct offer *o = &r->offer[i];
	const char *server = job_cost_offer_name[i];

	if (!o->known)
		return;
	POINT(out, FORECAST_COST, o->amount, r->job_name, server);
	POINT(out, FORECAST_DURATION, o->seconds, r->job_name, server);
	POINT(out, PRICE, o->price, r->job_name, server);
	POINT(out, SERVER, 1, r->job_name, server, o->vendor_id, o->instance_type, o->region,
		o->allocation, r->source, r->as_of);
}

static int collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct shared *held = latest_get(&newest);
	const struct job_cost_table *t = (const struct job_cost_table *)(const void *)held;

	(void)state;
	(void)host;
	(void)e;
	if (!t)
		return -ENOENT;
	POINT(out, CATALOGUE_TIMESTAMP, t->catalogue_at);
	for (size_t i = 0; i < t->n; i++) {
		POINT(out, COST, t->row[i].total, t->row[i].job_name);
		POINT(out, LAST_COST, t->row[i].last, t->row[i].job_name);
		for (unsigned k = 0; k < OFFERS; k++)
			add_offer(out, &t->row[i], k);
		POINT(out, SAVING, t->row[i].saving, t->row[i].job_name);
	}
	shared_drop(held);
	return 0;
}

const struct collector collector_costs = {
	.name = "costs",
	.help = "What jobs cost, and are forecast to cost elsewhere",
	.metrics = cost_metrics,
	.n_metrics = ARRAY_LEN(cost_metrics),
	.collect = collect,
};

struct job_costs *job_costs_new(struct app *app)
{
	struct job_costs *c = xcalloc(1, sizeof *c);

	c->app = app;
	worker_init(&c->worker);
	c->worker.loose = historian_is_loose(app->historian);
	return c;
}

static void job_done(struct costed_job *j)
{
	free(j->name);
	free(j->counted);
	arena_done(&j->memory);
}

void job_costs_stop(struct job_costs *c)
{
	if (!c)
		return;
	worker_done(&c->worker);
	for (size_t i = 0; i < c->n; i++)
		job_done(&c->job[i]);
	free(c->job);
	latest_set(&newest, NULL);
	job_advice_clear();
	free(c);
}

static struct costed_job *job_named(struct job_costs *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->job[i].name, name) == 0)
			return &c->job[i];
	GROW(c->job, c->n, c->room);
	c->job[c->n] = (struct costed_job){.name = xstrdup(name),
		.total = NAN,
		.last = NAN,
		.saving = NAN,
		.advice = {NULL, false, 0, NAN, NAN, NAN, NAN, {0}, NAN, NAN}};
	return &c->job[c->n++];
}

static const struct costed_run *counted_before(const struct costed_job *j, uint64_t run)
{
	static const struct costed_run none = {.usd = NAN};

	for (size_t i = 0; i < j->n; i++)
		if (j->counted[i].run == run)
			return &j->counted[i];
	return &none;
}

/* Returns the cost of a run. `before` is the cost at the last count; before->usd NaN = unknown. A
 * known cost does not follow price changes. It changes only if the run is now both longer and more
 * expensive than at the last count. */
static struct costed_run count_run(const struct costed_run *before, const struct run_usd *found)
{
	const struct run *r = found->run;
	bool stays = !isnan(before->usd) &&
		     !(r->duration_seconds > before->seconds && found->usd > before->usd);

	return (struct costed_run){
		hash_text(r->run_id), stays ? before->usd : found->usd, r->duration_seconds};
}

/* Adds to the job's total the cost of each new run, and the extra cost of each run whose recorded
 * duration has grown. The total never falls, because it is a Prometheus counter. */
static void count_runs(struct costed_job *j, const struct job_cost *found)
{
	struct costed_run *now = xcalloc(found->n_runs + 1, sizeof *now);

	for (size_t i = 0; i < found->n_runs; i++) {
		const struct costed_run *before =
			counted_before(j, hash_text(found->run[i].run->run_id));

		now[i] = count_run(before, &found->run[i]);
		if (!isnan(now[i].usd))
			j->total = (isnan(j->total) ? 0 : j->total) + now[i].usd -
				   (isnan(before->usd) ? 0 : before->usd);
	}
	free(j->counted);
	j->counted = now;
	j->n = found->n_runs;
	j->last = found->n_runs ? now[0].usd : (double)NAN;
}

static const char *keep_text(struct arena *a, const char *text)
{
	return text ? arena_text(a, text, strlen(text)) : "";
}

static struct offer keep_offer(struct arena *a, const struct offer *from)
{
	struct offer o = *from;

	o.vendor_id = keep_text(a, o.vendor_id);
	o.instance_type = keep_text(a, o.instance_type);
	o.region = keep_text(a, o.region);
	o.allocation = keep_text(a, o.allocation);
	return o;
}

static void keep_offers(struct costed_job *j, const struct job_cost *found,
	const struct catalogue *c)
{
	arena_done(&j->memory);
	for (unsigned i = 0; i < OFFERS; i++)
		j->offer[i] = keep_offer(&j->memory, &found->offer[i]);
	j->saving = found->saving_usd;
	j->source = keep_text(&j->memory, c->source);
	j->as_of = keep_text(&j->memory, c->as_of);
}

/* Computes the size and the warnings of a job from its runs. If `catalogue` is not NULL, also
 * computes its costs. */
static int advise(struct app *app, struct history *h, const struct catalogue *catalogue,
	const struct machine *here, const char *job_name, const struct runs *runs,
	struct arena *arena, struct job_advice *ret, struct job_cost *cost, struct err *e)
{
	AUTO(job_neighbours_done) struct job_neighbours neighbours = {0};
	struct sizing sizing = {0};
	struct dated_names dated;
	int code = job_neighbours_find(app, h, job_name, &neighbours, e);

	if (code)
		return code;
	const struct sizing_options options = {.neighbours = neighbours.jobs};
	bool sized = strategies[0].size(runs, &options, arena, &sizing, NULL) == 0;

	code = dated_names_find(h, job_name, &dated, e);
	if (code)
		return code;
	dated_names_warn(&dated, &sizing, arena);
	*ret = (struct job_advice){.job_name = job_name,
		.sized = sized,
		.codes = warnings_codes(&sizing.warnings),
		.recommended_cpu_cores = sized ? sizing.demand.cpu_cores : (double)NAN,
		.recommended_memory_bytes = sized ? sizing.demand.memory_bytes : (double)NAN,
		.resources = sized ? sizing.resources : (struct resources){0},
		.saving_usd = NAN,
		.runs_a_month = runs_a_month(runs)};
	runs_requested(runs, &ret->requested_cpu_cores, &ret->requested_memory_bytes);
	if (!catalogue)
		return 0;
	job_cost_of(catalogue, here, runs, sized ? &sizing : NULL, arena, cost);
	ret->saving_usd = cost->saving_usd;
	return 0;
}

int job_costs_advise(struct app *app, struct history *h, const struct catalogue *catalogue,
	const char *job_name, struct job_advice *ret, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct job_cost cost;
	struct machine here;
	struct runs runs;
	int code = job_runs_to_size(h, job_name, 0, &arena, &runs, e);

	if (code)
		return code;
	this_server_now(app, &here);
	return advise(app, h, catalogue, &here, job_name, &runs, &arena, ret, &cost, e);
}

/* Computes the advice for a job. If `catalogue` is not NULL, also computes its cost. */
static int look_at_job(struct job_costs *c, struct history *h, const struct catalogue *catalogue,
	struct costed_job *j, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct job_cost found;
	struct runs runs;
	int code = history_runs(h, &(struct run_query){.job_name = j->name}, &arena, &runs, e);

	if (code == 0)
		code = advise(c->app, h, catalogue, &c->machine, j->name, &runs, &arena, &j->advice,
			&found, e);
	if (code || !catalogue)
		return code;
	count_runs(j, &found);
	keep_offers(j, &found, catalogue);
	return 0;
}

static uint64_t ended_runs(const struct job_row *r)
{
	uint64_t n = 0;

	for (unsigned o = 0; o < OUTCOME_COUNT; o++)
		if (o != OUTCOME_RUNNING)
			n += r->outcomes[o];
	return n;
}

static void publish_advice(const struct job_costs *c)
{
	AUTO(freep) struct job_advice *row = xcalloc(c->n + 1, sizeof *row);

	for (size_t i = 0; i < c->n; i++) {
		row[i] = c->job[i].advice;
		row[i].job_name = c->job[i].name;
	}
	job_advice_publish(row, c->n, c->hidden);
}

static void publish_costs(const struct job_costs *c)
{
	struct job_cost_table *t = xcalloc(1, sizeof *t);

	shared_init(&t->shared, release);
	t->catalogue_at = c->catalogue_at;
	t->n = c->n;
	t->row = arena_alloc(&t->memory, (c->n + 1) * sizeof *t->row);
	for (size_t i = 0; i < c->n; i++) {
		const struct costed_job *j = &c->job[i];
		struct job_cost_row *r = &t->row[i];

		*r = (struct job_cost_row){.job_name = keep_text(&t->memory, j->name),
			.total = j->total,
			.last = j->last,
			.saving = j->saving,
			.source = keep_text(&t->memory, j->source),
			.as_of = keep_text(&t->memory, j->as_of)};
		for (unsigned k = 0; k < OFFERS; k++)
			r->offer[k] = keep_offer(&t->memory, &j->offer[k]);
	}
	latest_set(&newest, &t->shared);
}

static void drop_unlisted(struct job_costs *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (c->job[i].listed)
			c->job[kept++] = c->job[i];
		else
			job_done(&c->job[i]);
	}
	c->n = kept;
}

/* Sets `listed` for the jobs that /metrics lists: those in `rows` that have an ended run. `rows`
 * contains the jobs with the newest runs, at most JOBS_MAX. */
static void list_jobs(struct job_costs *c, const struct job_row *rows, size_t n)
{
	for (size_t i = 0; i < c->n; i++)
		c->job[i].listed = false;
	for (size_t i = 0; i < n; i++)
		if (ended_runs(&rows[i]))
			job_named(c, rows[i].job_name)->listed = true;
	drop_unlisted(c);
}

/* Computes the sizes, the warnings and the costs of each job that has a run which began or ended
 * since the last call. `all`: true = computes the costs of all jobs again. Without a catalogue,
 * computes no costs and returns the error of the catalogue. A later call with a catalogue computes
 * these costs. */
static int look_at_jobs(struct job_costs *c, struct history *h, const struct job_row *rows,
	size_t n, bool all, struct err *e)
{
	AUTO(catalogue_use_done) struct catalogue_use use = {0};
	int code = 0, no_catalogue = 0;

	list_jobs(c, rows, n);
	for (size_t i = 0; code == 0 && i < n; i++) {
		uint64_t ended = ended_runs(&rows[i]), seen = rows[i].runs + ended;
		struct costed_job *j = ended ? job_named(c, rows[i].job_name) : NULL;

		if (j && all)
			/* this exporter now has another server, so the known costs are wrong */
			j->costed = 0;
		if (!j || (ended == j->costed && seen == j->sized_at))
			continue;
		if (!use.catalogue && !no_catalogue)
			no_catalogue = catalogue_use_once(c->app, &use, e);
		if (no_catalogue && seen == j->sized_at)
			continue;
		code = look_at_job(c, h, use.catalogue, j, e);
		if (code)
			break;
		j->sized_at = seen;
		j->costed = use.catalogue ? ended : j->costed;
	}
	if (use.catalogue) {
		c->catalogue_at = wall_seconds(now_read().wall) - use.state.age_seconds;
		publish_costs(c);
	}
	if (use.catalogue || no_catalogue)
		publish_advice(c);
	return code ? code : no_catalogue;
}

static int look_at_jobs_again(struct job_costs *c, struct history *h, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct machine machine;
	struct job_row *rows;
	size_t n, all_jobs = 0;
	int code = history_jobs(h, JOBS_MAX, &arena, &rows, &n, e);

	if (code == 0)
		code = history_count_jobs(h, &all_jobs, e);
	if (code)
		return code;
	this_server_now(c->app, &machine);
	bool all = !current_cost_same_terms(&machine, &c->machine);

	c->machine = machine;
	c->hidden = all_jobs > n ? all_jobs - n : 0;
	return look_at_jobs(c, h, rows, n, all, e);
}

int job_costs_look(struct job_costs *c, struct err *e)
{
	AUTO(history_closep) struct history *h = NULL;
	int code = history_open(&h, c->app->history_path, HISTORY_READ, &c->app->columns, NULL, e);

	return code ? code : look_at_jobs_again(c, h, e);
}

static double look_again(void *context)
{
	struct job_costs *c = context;
	struct err e = {0};
	struct mono begun = now_read().mono;
	int code = job_costs_look(c, &e);

	history_read_failed(c->app, code);
	if (code == 0 || code == -ENOENT)
		log_complaint_over(&c->complaint);
	else if (log_complaint_due(&c->complaint))
		log_line(LOG_LEVEL_WARN, "costs of jobs cannot be computed; retrying", "err",
			e.text, NULL);
	app_caches_tidy(c->app);
	return fmax(LOOK_SECONDS, LOOK_REST * mono_seconds_between(begun, now_read().mono));
}

int job_costs_start(struct job_costs **ret, struct app *app, struct err *e)
{
	struct job_costs *c = job_costs_new(app);
	int code = worker_start(&c->worker, "costs", look_again, c, e);

	if (code)
		job_costs_stop(c);
	else
		*ret = c;
	return code;
}
