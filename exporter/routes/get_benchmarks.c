/* /benchmarks: the benchmarks of servers, and which of them resemble a job. */
#include "collectors/base/clock.h"
#include "exporter/core/json_key.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/server_answer.h"
#include "recommender/servers/job_profile.h"

#include <math.h>

static const struct parameter parameters[] = {
	OF_JOB_PARAMETERS("Name of a job: those like it come first, with the reason"),
	{0},
};

static double servers_scored(const struct catalogue *c, const struct benchmark *b)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += isnan(b->score[i]) ? 0 : 1;
	return (double)n;
}

static json_t *benchmarks_json(const struct catalogue *c)
{
	json_t *a = json_array();

	for (size_t i = 0; i < c->n_benchmarks; i++) {
		const struct benchmark *b = &c->benchmark[i];
		json_t *o = json_object();

		json_put(o, "benchmark_id", json_text(b->benchmark_id));
		json_put(o, "name", json_text(*b->name ? b->name : NULL));
		json_put(o, "category", json_text(*b->category ? b->category : NULL));
		json_put(o, "unit", json_text(*b->unit ? b->unit : NULL));
		json_put(o, "higher_is_better", json_boolean(b->higher_is_better));
		json_put(o, "servers", json_num(servers_scored(c, b)));
		json_push(a, o);
	}
	return a;
}

static json_t *habits_json(const struct job_habits *h)
{
	json_t *o = json_object();

	json_put(o, "cpu_share", json_ratio(h->cpu_share));
	json_put(o, "cores", json_cores(h->cores));
	json_put(o, "gpu_share", json_ratio(h->gpu_share));
	json_put(o, "memory_bytes", json_bytes(h->memory_bytes));
	json_put(o, "network_bytes_per_second", json_bytes(h->network_bytes_per_second));
	return o;
}

static void put_related(json_t *o, const struct catalogue *c, const struct runs *runs,
	struct arena *arena)
{
	struct job_habits habits = job_profile_habits(runs, arena);
	struct related_benchmark related[RELATED_MAX];

	json_put(o, "habits", habits_json(&habits));
	json_put(o, "related",
		server_answer_related_json(related, related_benchmarks_find(c, &habits, related)));
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	const char *job_name = argument_job(a);
	AUTO(catalogue_use_done) struct catalogue_use use = {0};
	AUTO(arena_done) struct arena arena = {0};
	struct runs runs = {0};
	int code = job_name ? job_runs(app, job_name, RUNS_PER_SUCCESS * PEAKS_SEEN_MAX, false,
				      &arena, &runs, r, e) :
			      1;

	if (code <= 0)
		return code;
	if (!server_answer_catalogue(app, &use, r))
		return 0;

	json_t *o = json_object();

	json_put_job(o, job_name);
	if (job_name)
		put_related(o, use.catalogue, &runs, &arena);
	json_put(o, "benchmarks", benchmarks_json(use.catalogue));
	json_put(o, "catalogue", server_answer_catalogue_json(&use, true));
	return reply_json(r, 200, o);
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"job_name", KEY_TEXT, .help = "Name of the job, if one was given"},
	JOB_PLACE_KEYS,
	{"habits", KEY_OBJECT, .help = "With a job: what it does"},
	{"related", KEY_LIST, .help = "With a job: the benchmarks that are like it"},
	{"benchmarks", KEY_LIST, .required = true, .help = "All benchmarks"},
	{"catalogue", KEY_OBJECT, .required = true, .help = "Where the data of servers is from, and how old it is"},
	{0},
};
/* clang-format on */

const struct route route_benchmarks = {
	.path = "/benchmarks",
	.command = "benchmarks",
	.help = "Which benchmarks servers can be ranked by, and which of them are like a job, and "
		"why",
	.parameters = parameters,
	.answer = answer,
	.takes_long = true,
	.gives = answer_keys,
	.errors = (const struct route_error[]){JOB_ERRORS, CATALOGUE_ERRORS, {0}},
};
