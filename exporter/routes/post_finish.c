/* POST /runs/{run_id}/finish: ends a run with the given outcome. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "exporter/core/app.h"
#include "exporter/api/json_body.h"
#include "exporter/discovery/finder.h"
#include "exporter/core/json.h"
#include "exporter/sampling/sampler.h"
#include "recommender/run.h"

static const struct parameter parameters[] = {
	{.name = "run_id",
		.kind = PARAMETER_TEXT,
		.required = true,
		.least = 1,
		.most = RUN_ID_MAX - 1,
		.help = "Id of the run, in the path"},
	{0},
};

struct finish_body {
	const char *outcome, *end_reason;
	double exit_code, memory_peak_process_bytes;
};

/* clang-format off */
static const struct json_key keys[] = {
	{"outcome", KEY_CHOICE, true, 0, 0, offsetof(struct finish_body, outcome),
		.choice = run_outcome_told_word,
		.help = "How the run ended; DeadlineExceeded, TIMEOUT and DEADLINE mean that a time limit "
			"ended it"},
	{"exit_code", KEY_WHOLE, false, 0, 255, offsetof(struct finish_body, exit_code),
		.help = "Exit code"},
	{"end_reason", KEY_TEXT, false, 1, RUN_REASON_MAX - 1,
		offsetof(struct finish_body, end_reason),
		.help = "Why another system ended the run, in its own word, such as DeadlineExceeded"},
	{"memory_peak_process_bytes", KEY_BYTES, false, 1, QUANTITY_BYTES_MOST,
		offsetof(struct finish_body, memory_peak_process_bytes), .unit = "bytes",
		.help = "A memory peak of one process of the run, such as that of a child that no "
			"sample saw; raises the peaks of the run at least to it"},
	{0},
};
/* clang-format on */

/* A call of a function on the sampler thread. The struct has copies of all data, because a sampler
 * that hangs may still use them after the reply was sent. */
struct finish_call {
	struct shared shared;
	char run_id[RUN_ID_MAX];
	struct reported_end end;
	int code;
};

static void call_release(struct shared *shared)
{
	free((struct finish_call *)(void *)shared);
}

static void finish_found(struct finder *f, const struct host *host, void *context)
{
	struct finish_call *c = context;

	c->code = finder_finish(f, host, c->run_id, &c->end);
}

static int finish_run(struct app *app, const char *run_id, enum outcome outcome,
	const struct finish_body *w, struct reply *r)
{
	struct finish_call *c = xcalloc(1, sizeof *c);

	shared_init(&c->shared, call_release);
	text_copy(run_id, c->run_id, sizeof c->run_id);
	c->end = (struct reported_end){.outcome = outcome,
		.exit_code = w->exit_code,
		.memory_peak_process_bytes = w->memory_peak_process_bytes};
	if (w->end_reason)
		text_copy(w->end_reason, c->end.reason, sizeof c->end.reason);
	bool was_called = sampler_find(app->sampler, finish_found, c, NULL);
	int code = was_called ? c->code : -ENOENT;

	shared_drop(&c->shared);
	if (!was_called && app->self)
		return reply_error(r, 503, "not_followed", SAMPLER_NO_ANSWER);
	if (code)
		return reply_error(r, 404, "no_open_run",
			"no run of this id is open that this exporter records");

	json_t *o = json_object();

	json_put(o, "run_id", json_text(run_id));
	json_put(o, "outcome", json_text(run_outcome_name(outcome)));
	return reply_json(r, 200, o);
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	enum outcome outcome = OUTCOME_RUNNING;
	struct finish_body w = {.exit_code = NAN, .memory_peak_process_bytes = NAN};
	json_t *body = json_body_parse(a->body, r);

	(void)e;
	int code = 0;

	/* run_outcome_told cannot fail here, because the table of keys accepts only its words. */
	if (body && json_body_read(body, "the body", keys, &w, r) &&
		run_outcome_told(w.outcome, &outcome, &w.end_reason))
		code = finish_run(app, argument_text(a, "run_id"), outcome, &w, r);
	json_decref(body);
	return code;
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"run_id", KEY_TEXT, .required = true, .help = "Id of the run"},
	{"outcome", KEY_TEXT, .required = true, .help = "The outcome"},
	{0},
};
/* clang-format on */

const struct route route_post_finish = {
	.path = "/runs/{run_id}/finish",
	.help = "Ends a run that this exporter records",
	.parameters = parameters,
	.answer = answer,
	.body = keys,
	.gives = answer_keys,
	.errors = (const struct route_error[]){{400, "bad_body"}, {404, "no_open_run"},
		{503, "not_followed"}, {0}},
};
