/* POST /runs: takes an ended run from another exporter. */
#include <errno.h>
#include <stdatomic.h>

#include "collectors/base/clock.h"
#include "exporter/core/json_key.h"
#include "exporter/core/app.h"
#include "exporter/history/historian.h"
#include "exporter/core/json.h"
#include "exporter/api/route.h"
#include "exporter/forward/run_message.h"

static const struct parameter no_parameters[] = {{0}};

struct run_addition {
	const struct run *run;
	bool known;
};

static int add(struct history *h, void *context, struct err *e)
{
	struct run_addition *a = context;
	int code = history_run_add(h, a->run, e);

	a->known = code == 0;
	return code;
}

/* After a request has waited in vain for the locked history, later requests are refused at once for
 * this many seconds. */
#define LOCKED_SECONDS 2

static atomic_int_least64_t locked_until; /* nanoseconds, as in struct mono */

static int add_unless_locked(struct app *app, struct run_addition *a, struct err *e)
{
	if (now_read().mono.ns < atomic_load(&locked_until))
		return err_set(e, -EBUSY, "the history is locked by another program");
	int code = historian_do(app->historian, add, a, e);

	if (code == -EBUSY)
		atomic_store(&locked_until, now_read().mono.ns + LOCKED_SECONDS * NS_PER_S);
	return code;
}

/* Replies only after the run is on disk, because the sender forgets the run when it gets the
 * reply. */
static int keep_run(struct app *app, const struct run *run, struct reply *r)
{
	struct run_addition a = {.run = run};
	struct err e = {0};

	if (add_unless_locked(app, &a, &e))
		return reply_error(r, 503, "not_kept", "%s",
			e.text[0] ? e.text : "the history cannot be written");
	json_t *o = json_object();

	json_put(o, "run_id", json_text(run->run_id));
	json_put(o, "known", json_boolean(a.known));
	return reply_json(r, a.known ? 200 : 201, o);
}

static int answer(struct app *app, const struct arguments *args, struct reply *r, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct run run;

	if (run_message_read(&run, args->body.data, args->body.len, &arena, e) ||
		run_message_check_age(&run, wall_seconds(now_read().wall),
			app->options->history_retention, e))
		return reply_error(r, 400, "bad_body", "%s", e->text);
	return keep_run(app, &run, r);
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"run_id", KEY_TEXT, .required = true, .help = "Id of the run"},
	{"known", KEY_FLAG, .required = true, .help = "Whether the run was known already"},
	{0},
};
/* clang-format on */

const struct route route_post_runs = {
	.path = "/runs",
	.help = "Takes a run that ended elsewhere, as --forward.url sends it: once, however often "
		"it comes",
	.parameters = no_parameters,
	.answer = answer,
	.takes_long = true,
	.body = run_message_keys,
	.gives = answer_keys,
	.creates = true,
	.errors = (const struct route_error[]){{400, "bad_body"}, {503, "not_kept"}, {0}},
};
