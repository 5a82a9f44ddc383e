/* /overview: one line for each job, for the page that lists the jobs. */
#include <assert.h>
#include <errno.h>
#include <math.h>

#include "exporter/core/json_key.h"
#include "exporter/core/memory_budget.h"
#include "exporter/core/progress.h"
#include "exporter/catalogue/in_use.h"
#include "exporter/answers/job_runs.h"
#include "exporter/core/json.h"
#include "exporter/this_server/this_server.h"
#include "exporter/answers/current_cost.h"
#include "exporter/answers/sizing_json.h"
#include "exporter/routes/job_list.h"
#include "exporter/sampling/job_costs.h"
#include "recommender/run.h"

/* Maximum number of jobs for which one answer computes a recommendation. Each takes 1 to 5 ms. */
#define ADVISED_MAX 100
static_assert(ADVISED_MAX == 100 && JOBS_MAX == 1000, "the help of advise says so");

/* Converts memory to cores, so that both can be added: one core counts as much as 8 GiB, as in
 * recommender/behaviour/phases.h. */
#define BYTES_PER_CORE (8.0 * 1024 * 1024 * 1024)

static const struct parameter parameters[] = {
	{.name = "runs",
		.kind = PARAMETER_COUNT,
		.fallback = "12",
		.least = 1,
		.most = 100,
		.help = "How many of the newest runs of each job to look at"},
	{.name = "advise",
		.kind = PARAMETER_FLAG,
		.fallback = "false",
		.help = "Also sizes those of the first 100 jobs of the answer that are not sized yet: a server "
			"has the sizes of the 1000 newest jobs"},
	JOB_LIST_PARAMETERS,
	{0},
};

/* Prices for the costs of jobs. If there is no catalogue, only the costs are missing. */
struct overview_prices {
	struct app *app;
	struct arena arena;
	bool looked;
	struct catalogue_use use; /* empty before the first use, and when there is no catalogue */
	struct machine here;
	/* price of the server of the last run whose cost was computed; if the next run has the same
	 * server, the price needs no search */
	struct current_cost at;
};

static void prices_done(struct overview_prices *p)
{
	arena_done(&p->arena);
	catalogue_use_done(&p->use);
}

/* Loads the catalogue when the first cost is needed. An answer may need no cost, because jobs
 * without a successful run have none. */
static void look_up_prices(struct overview_prices *p)
{
	if (p->looked)
		return;
	p->looked = true;
	this_server_now(p->app, &p->here);
	catalogue_use_once(p->app, &p->use, NULL);
}

static double known_or_0(double v)
{
	return isnan(v) ? 0 : v;
}

static double cores_of(const struct run_brief *r)
{
	return r->cpu_seconds / r->duration_seconds;
}

/* Returns the share of the request that the run did not use. 2 of 8 requested cores were used:
 * 0.75. The use is the mean number of cores and the memory peak. A resource counts only if its
 * request and its use are known. NaN = none counts. */
static double waste_of(const struct run_brief *r)
{
	double used = NAN, requested = NAN;
	double cores = cores_of(r);

	if (r->requested_cpu_cores > 0 && isfinite(cores)) {
		requested = r->requested_cpu_cores;
		used = fmin(cores, requested);
	}
	if (r->requested_memory_bytes > 0 && isfinite(r->memory_peak_bytes)) {
		double memory = fmin(r->memory_peak_bytes, r->requested_memory_bytes);

		requested = known_or_0(requested) + r->requested_memory_bytes / BYTES_PER_CORE;
		used = known_or_0(used) + memory / BYTES_PER_CORE;
	}
	return 1 - used / requested;
}

/* Returns the values of the successful runs, oldest first. */
static json_t *trend_json(const struct job_brief *j, double (*value)(const struct run_brief *),
	json_t *(*number)(double))
{
	json_t *array = json_array();

	for (size_t i = j->n; i-- > 0;)
		if (j->run[i].outcome == OUTCOME_SUCCEEDED)
			json_push(array, number(value(&j->run[i])));
	return array;
}

static double duration_of(const struct run_brief *r)
{
	return r->duration_seconds;
}

static double memory_of(const struct run_brief *r)
{
	return r->memory_peak_bytes;
}

static double waste_of_job(const struct job_brief *j)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < j->n; i++) {
		double w =
			j->run[i].outcome == OUTCOME_SUCCEEDED ? waste_of(&j->run[i]) : (double)NAN;

		if (isnan(w))
			continue;
		sum += w;
		n++;
	}
	return n > 0 ? sum / n : (double)NAN;
}

static double cost_of_brief(const struct run_brief *r, struct overview_prices *p)
{
	static const struct pick_options options = {.currency = "USD"};
	const struct past_run past = {r->host, r->server, r->duration_seconds,
		r->network_sent_bytes, r->disk_grown_bytes};

	look_up_prices(p);
	const struct current_cost_question q = {
		.catalogue = p->use.catalogue, .here = &p->here, .options = &options};

	return q.catalogue ? current_cost_of_run(&q, &past, &p->arena, &p->at) : (double)NAN;
}

/* Returns the cost of the newest successful run, at the price of its server. */
static double cost_of_job(const struct job_brief *j, struct overview_prices *p)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->run[i].outcome == OUTCOME_SUCCEEDED)
			return cost_of_brief(&j->run[i], p);
	return NAN;
}

/* Returns one requested amount, such as the memory, from the newest run of the job that has it.
 * `offset` is the offset of this amount, a double, in struct run_brief. NaN = no run has it. */
static double newest_request(const struct job_brief *j, size_t offset)
{
	for (size_t i = 0; i < j->n; i++) {
		double v = *(const double *)(const void *)((const char *)&j->run[i] + offset);

		if (!isnan(v))
			return v;
	}
	return NAN;
}

static json_t *outcomes_json(const struct job_brief *j)
{
	json_t *array = json_array();

	for (size_t i = j->n; i-- > 0;)
		json_push(array, json_text(run_outcome_name(j->run[i].outcome)));
	return array;
}

/* Adds the recommended resources and the saving. `advice` NULL = unknown. */
static void put_advice(json_t *o, const struct job_advice *advice)
{
	static const struct resources unknown;
	bool sized = advice && advice->sized;

	json_put(o, "resources", sizing_json_resources(sized ? &advice->resources : &unknown));
	json_put(o, "saving", json_money(advice ? advice->saving_usd : (double)NAN));
	json_put(o, "runs_a_month", json_ratio(advice ? advice->runs_a_month : (double)NAN));
	json_put(o, "saving_a_month", json_money(job_advice_saving_a_month(advice)));
	json_put(o, "too_small", json_boolean(job_advice_too_small(advice)));
	sizing_json_put_codes(o, job_advice_codes(advice));
}

static json_t *job_json(const struct job_brief *j, struct overview_prices *prices,
	const struct job_advice *advice)
{
	const struct run_brief *newest = &j->run[0];
	json_t *o = json_object();

	json_put_job(o, j->job_name);
	json_put(o, "runs", json_num((double)j->runs));
	json_put(o, "last_run", json_text(newest->run_id));
	json_put(o, "last_started_at", json_time(newest->started_at));
	json_put(o, "outcomes", outcomes_json(j));
	json_put(o, "duration_seconds", trend_json(j, duration_of, json_seconds));
	json_put(o, "cpu_cores_mean", trend_json(j, cores_of, json_cores));
	json_put(o, "memory_peak_bytes", trend_json(j, memory_of, json_bytes));
	json_put(o, "requested_cpu_cores",
		json_cores(newest_request(j, offsetof(struct run_brief, requested_cpu_cores))));
	json_put(o, "requested_memory_bytes",
		json_bytes(newest_request(j, offsetof(struct run_brief, requested_memory_bytes))));
	json_put(o, "cost", json_money(cost_of_job(j, prices)));
	json_put(o, "currency", json_text("USD"));
	json_put(o, "waste", json_ratio(waste_of_job(j)));
	put_advice(o, advice);
	return o;
}

/* The data from which one answer is made. */
struct overview {
	struct app *app;
	struct arena arena;
	struct history *h;
	struct overview_prices prices;
	struct job_advice_table *advice;
	bool advise;
	struct job_list list;
	size_t runs; /* maximum number of runs of each job */
};

static void overview_done(struct overview *v)
{
	prices_done(&v->prices);
	history_closep(&v->h);
	job_advice_done(&v->advice);
	arena_done(&v->arena);
}

/* Sets `*ret` to the advice for the i-th job; NULL = none. If no advice was published for the job,
 * computes it in `room`. This is done only if the request has the parameter advise, and only for
 * the first ADVISED_MAX jobs. */
static int advice_of(struct overview *v, size_t i, struct job_advice *room,
	const struct job_advice **ret, struct err *e)
{
	const char *job_name = v->list.job[i].job_name;
	int code = 0;

	*ret = job_advice_find(v->advice, job_name);
	if (*ret || !v->advise || i >= ADVISED_MAX)
		return 0;
	look_up_prices(&v->prices);
	code = job_costs_advise(v->app, v->h, v->prices.use.catalogue, job_name, room, e);
	if (code == 0)
		*ret = room;
	return code;
}

/* Reads the runs of the i-th job, adds its line to the answer, and frees the runs. */
static int add_job(struct overview *v, size_t i, json_t *array, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	const struct job_advice *advice;
	struct job_advice room;
	struct job_brief *brief;
	int code = history_overview(v->h, &v->list.job[i], 1, v->runs, &arena, &brief, e);

	if (code || brief->n == 0)
		return code;
	code = advice_of(v, i, &room, &advice, e);
	if (code == 0)
		json_push(array, job_json(brief, &v->prices, advice));
	return code;
}

static int jobs_of(struct overview *v, json_t *array, struct err *e)
{
	int code = 0;

	for (size_t i = 0; i < v->list.n && code == 0 && !memory_budget_gave_up(); i++) {
		code = add_job(v, i, array, e);
		progress_note(v->app->progress, "jobs", i + 1, v->list.n);
	}
	return code;
}

static int read_overview(struct overview *v, const struct arguments *a, struct err *e)
{
	int code = answer_open_history(v->app, &v->h, e);

	if (code == 0)
		code = history_hold(v->h, e);
	if (code == 0)
		code = job_list_read(v->h, a, v->advice, &v->arena, &v->list, e);
	/* -ENOENT means that there is no history yet. The answer is then an empty list. */
	return code == -ENOENT ? 0 : code;
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	AUTO(overview_done)
	struct overview v = {.app = app,
		.prices = {.app = app},
		.advice = job_advice_get(),
		.advise = argument_flag(a, "advise"),
		.runs = argument_count(a, "runs")};
	json_t *o, *array;
	int code = read_overview(&v, a, e);

	if (code)
		return code;
	array = json_array();
	code = jobs_of(&v, array, e);
	if (code) {
		json_decref(array);
		return code;
	}
	o = json_object();
	json_put(o, "jobs", array);
	job_list_put(o, &v.list);
	return reply_json(r, 200, o);
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"jobs", KEY_LIST, .required = true, .help = "The jobs, the most recent first unless sort says another order"},
	JOB_LIST_KEYS,
	{0},
};
/* clang-format on */

const struct route route_overview = {
	.path = "/overview",
	.command = "overview",
	.help = "Every job in a line: how its last runs ended, how long they took, what they used "
		"and left unused",
	.parameters = parameters,
	.answer = answer,
	.takes_long = true,
	.gives = answer_keys,
};
