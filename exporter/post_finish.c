/* POST /runs/{run_id}/finish: somebody says that a run is over, and how it ended. */
#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "exporter/app.h"
#include "exporter/body.h"
#include "exporter/finder.h"
#include "exporter/json.h"
#include "exporter/sampler.h"

static const struct parameter parameters[] = {
	{.name = "run_id",
		.kind = PARAMETER_TEXT,
		.required = true,
		.least = 1,
		.most = RUN_ID_MAX - 1,
		.help = "Id of the run, in the path"},
	{0},
};

struct wanted {
	const char *outcome;
	double exit_code;
};

static const struct body_key keys[] = {
	{"outcome", BODY_TEXT, true, 1, 32, offsetof(struct wanted, outcome)},
	{"exit_code", BODY_WHOLE, false, 0, 255, offsetof(struct wanted, exit_code)},
	{0},
};

struct call {
	const char *run_id;
	enum outcome outcome;
	double exit_code;
	int code;
};

static void finish(struct finder *f, const struct host *host, void *context)
{
	struct call *c = context;

	c->code = finder_finish(f, host, c->run_id, c->outcome, c->exit_code);
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	struct call c = {.run_id = argument_text(a, "run_id"), .code = -ENOENT};
	struct wanted w = {.exit_code = NAN};
	json_t *body = body_parse(a->body, r);

	(void)e;
	bool read = body && body_read(body, "the body", keys, &w, r);
	bool known = read && outcome_parse(w.outcome, &c.outcome) && c.outcome != OUTCOME_RUNNING;

	json_decref(body);
	if (!read)
		return 0;
	if (!known)
		return reply_error(r, 400, "bad_body",
			"outcome: accepted is succeeded, failed, oom_killed, interrupted or "
			"unknown",
			NULL, NULL);
	c.exit_code = w.exit_code;
	if (!sampler_find(app->sampler, finish, &c) && app->self)
		return reply_error(r, 503, "not_followed", SAMPLER_NO_ANSWER, NULL, NULL);
	if (c.code)
		return reply_error(r, 404, "no_open_run",
			"no run of this id is open that this exporter records", NULL, NULL);

	json_t *o = json_object();

	json_put(o, "run_id", json_text(c.run_id));
	json_put(o, "outcome", json_text(outcome_name(c.outcome)));
	return reply_json(r, 200, o);
}

const struct route route_post_finish = {
	.path = "/runs/{run_id}/finish",
	.help = "Ends a run that this exporter records: {\"outcome\", \"exit_code\"}; outcome is "
		"succeeded, failed, oom_killed, interrupted or unknown",
	.parameters = parameters,
	.answer = answer,
};
