#include "exporter/answers/sizing.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "exporter/answers/dated_names.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/neighbourhood.h"
#include "exporter/answers/sizing_parameters.h"
#include "recommender/sizing/rule.h"

static_assert(HISTORY_RUNS_PER_JOB == PEAKS_SEEN_MAX,
	"the history keeps as many runs as a strategy looks at");

/* Everything on which the result of a sizing depends. */
struct sizing_question {
	const char *job_name;
	const struct strategy *strategy;
	struct sizing_options options;
	double since;       /* start of the time window; -INFINITY = all time */
	double window_days; /* length of the time window; NaN = all time */
	struct job_mark mark;
	struct dated_names dated;
};

#define KEY_MAX (JOB_KEY_MAX + 512)

/* Computes the cache key and the state of a result (result_cache.h). The key does not contain the
 * start of the time window, which moves with each request. When a run leaves the window, the state
 * changes. */
static void key_of(const struct sizing_question *q, uint64_t neighbours, char key[KEY_MAX],
	char state[KEY_MAX])
{
	const struct sizing_options *o = &q->options;
	const struct job_mark *m = &q->mark;

	snprintf(key, KEY_MAX, "sizing %s %d %zu %d %d %d %a %a %d %a %d %zu %s", q->strategy->name,
		isinf(q->since) != 0, o->runs, (int)o->risk, (int)o->cpu_for, o->hindsight,
		o->percentile, o->margin, o->margin_given, o->input_bytes, o->input_given,
		o->attempt, q->job_name);
	snprintf(state, KEY_MAX,
		"%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %a %a %zu %" PRIx64, m->runs,
		m->running, m->succeeded, m->interrupted, m->ids, m->seconds, q->dated.others,
		neighbours);
}

static int reply_no_demand(struct reply *r, const struct sizing_question *q, const struct runs *all,
	const struct runs *runs, const struct err *why)
{
	if (!runs->n)
		return answer_no_recent_run(r, q->job_name, all, q->window_days);
	for (size_t i = 0; i < runs->n; i++)
		if (runs->run[i].outcome == OUTCOME_SUCCEEDED)
			return reply_error(r, 404, "no_data", "%s", why->text);
	return answer_no_successful_run(r, q->job_name, runs, q->window_days);
}

/* Reads the runs, sizes the next run and fills `s`. Returns the same codes as sizing_of_job. */
static int size(struct history *h, const struct sizing_question *q, struct sizing_result *s,
	struct reply *r, struct err *e)
{
	struct arena *arena = &s->result.arena;
	struct err why = {0};
	struct runs all;
	int code = job_runs_to_size(h, q->job_name, 0, arena, &all, e);

	if (code)
		return code;
	if (!all.n)
		return answer_unknown_job(r, h, q->job_name, arena, e);
	s->runs = sizing_parameters_runs(&all, q->since);
	code = q->strategy->size(&s->runs, &q->options, arena, &s->sizing, &why);
	if (code == -ENODATA)
		return reply_no_demand(r, q, &all, &s->runs, &why);
	if (code)
		return err_set(e, code, "%s", why.text);
	dated_names_warn(&q->dated, &s->sizing, arena);
	return 1;
}

static int answer_question(struct app *app, struct sizing_question *q,
	struct job_neighbours *neighbours, struct sizing_result **ret, struct reply *reply,
	struct err *e)
{
	AUTO(history_closep) struct history *h = NULL;
	char key[KEY_MAX], state[KEY_MAX];
	int code = answer_open_history(app, &h, e);

	if (code == -ENOENT)
		return answer_no_history(app, reply);
	/* Read the mark before the runs: it changes with each change of the job's runs. If a run
	 * changes between the two reads, the result is stored with the old mark. Later requests
	 * have a newer mark, so they do not use it. */
	if (code == 0 && app->results)
		code = history_job_mark(h, q->job_name, q->since, &q->mark, e);
	if (code == 0)
		code = dated_names_find(h, q->job_name, &q->dated, e);
	if (code == 0)
		code = job_neighbours_find(app, h, q->job_name, neighbours, e);
	if (code)
		return code;
	q->options.neighbours = neighbours->jobs;
	key_of(q, neighbours->fingerprint, key, state);
	*ret = (struct sizing_result *)(void *)result_find(app->results, key, state, INFINITY);
	if (*ret)
		return 1;
	struct sizing_result *s = (struct sizing_result *)(void *)result_new(sizeof *s);

	code = size(h, q, s, reply, e);
	if (code > 0) {
		result_keep(app->results, &s->result, key, state);
		*ret = s;
	} else {
		shared_drop(&s->result.shared);
	}
	return code;
}

int sizing_of_job(struct app *app, const struct arguments *a, struct sizing_result **ret,
	struct reply *reply, struct err *e)
{
	AUTO(job_neighbours_done) struct job_neighbours neighbours = {0};
	struct sizing_question q = {
		.job_name = argument_job(a),
		.strategy = sizing_parameters_strategy(a),
		.since = sizing_parameters_since(a, wall_seconds(now_read().wall)),
		.window_days = argument_number(a, "window_days"),
	};

	return sizing_parameters_read(a, &q.options, reply) ?
		       answer_question(app, &q, &neighbours, ret, reply, e) :
		       0;
}

int sizing_by_default(struct app *app, const char *job_name, struct job_neighbours *neighbours,
	struct sizing_result **ret, struct reply *reply, struct err *e)
{
	/* The same question as /recommend without parameters, so that both share a cached
	 * result. */
	struct sizing_question q = {
		.job_name = job_name,
		.strategy = &strategies[0],
		.options.attempt = 1,
		.since = -INFINITY,
		.window_days = NAN,
	};

	return answer_question(app, &q, neighbours, ret, reply, e);
}

void sizing_result_done(struct sizing_result **s)
{
	if (*s)
		shared_drop(&(*s)->result.shared);
}
