/* POST /runs: takes ended runs from another exporter. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "exporter/core/json_key.h"
#include "exporter/core/app.h"
#include "exporter/history/historian.h"
#include "exporter/core/json.h"
#include "exporter/api/route.h"
#include "exporter/forward/run_message.h"

static const struct parameter no_parameters[] = {{0}};

/* A batch of runs that is added to the history. known[i] = the history already had the i-th run. */
struct run_addition {
	const struct run_batch *batch;
	bool *known;
};

static int add_runs(struct history *h, void *context, struct err *e)
{
	struct run_addition *a = context;

	for (size_t i = 0; i < a->batch->n; i++) {
		if (a->batch->told[i].wrong.code)
			continue;
		int code = history_run_add(h, &a->batch->told[i].run, e);

		if (code < 0)
			return code;
		a->known[i] = code == 0;
	}
	return 0;
}

/* Seconds. If a request has waited in vain for a locked history, further requests are refused
 * immediately for this time. */
#define LOCKED_SECONDS 2

static atomic_int_least64_t locked_until; /* nanoseconds, as in struct mono */

static int add_unless_locked(struct app *app, struct run_addition *a, struct err *e)
{
	if (now_read().mono.ns < atomic_load(&locked_until))
		return err_set(e, -EBUSY, "the history is locked by another program");
	int code = historian_takes_runs(app->historian, e);

	if (code == 0)
		code = historian_do(app->historian, add_runs, a, e);
	if (code == -EBUSY)
		atomic_store(&locked_until, now_read().mono.ns + LOCKED_SECONDS * NS_PER_S);
	return code;
}

static json_t *told_json(const struct told_run *told, bool known)
{
	json_t *o = json_object();

	json_put(o, "run_id", json_text(told->run_id));
	if (told->wrong.code)
		json_put(o, "error", reply_error_json("bad_body", told->wrong.text));
	else
		json_put(o, "known", json_boolean(known));
	return o;
}

static int reply_batch(struct reply *r, const struct run_addition *a)
{
	json_t *o = json_object(), *runs = json_array();

	for (size_t i = 0; i < a->batch->n; i++)
		json_push(runs, told_json(&a->batch->told[i], a->known[i]));
	json_put(o, "runs", runs);
	return reply_json(r, 200, o);
}

/* Adds the runs to the history. Replies only when the runs are on disk, because the sender marks
 * them as sent after the reply. */
static int keep_runs(struct app *app, const struct run_batch *batch, struct arena *arena,
	struct reply *r)
{
	struct run_addition a = {batch, arena_alloc(arena, batch->n * sizeof(bool))};
	struct err e = {0};

	for (size_t i = 0; i < batch->n; i++)
		a.known[i] = false;
	if (add_unless_locked(app, &a, &e))
		return reply_error(r, 503, "not_kept", "%s",
			e.text[0] ? e.text : "the history cannot be written");
	if (batch->is_list)
		return reply_batch(r, &a);
	return reply_json(r, a.known[0] ? 200 : 201, told_json(batch->told, a.known[0]));
}

/* For a client with the token of a namespace (args->only_space): puts runs without a namespace into
 * that namespace, and refuses runs of other namespaces. */
static void take_spaces(const struct arguments *args, const struct run_batch *batch,
	struct arena *arena)
{
	for (size_t i = 0; i < batch->n && *args->only_space; i++) {
		struct told_run *t = &batch->told[i];

		if (t->wrong.code)
			continue;
		struct job_parts p = job_key_parts(t->run.job_name);
		char key[JOB_KEY_MAX];

		if (*p.space && strcmp(p.space, args->only_space) != 0)
			err_set(&t->wrong, -EACCES,
				"namespace: accepted is %s, the namespace of this token, not %s",
				args->only_space, p.space);
		job_key_write(p.name, args->only_space, p.cluster, key);
		t->run.job_name = arena_text(arena, key, strlen(key));
	}
}

static int answer(struct app *app, const struct arguments *args, struct reply *r, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct run_batch batch;
	double now = wall_seconds(now_read().wall);

	if (run_batch_read(&batch, args->body.data, args->body.len, &arena, e))
		return reply_error(r, 400, "bad_body", "%s", e->text);
	for (size_t i = 0; i < batch.n; i++)
		if (!batch.told[i].wrong.code)
			run_message_check_age(&batch.told[i].run, now,
				app->options->history_retention, &batch.told[i].wrong);
	take_spaces(args, &batch, &arena);
	if (!batch.is_list && batch.told->wrong.code)
		return reply_error(r, 400, "bad_body", "%s", batch.told->wrong.text);
	return keep_runs(app, &batch, &arena, r);
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"run_id", KEY_TEXT, .help = "Id of the run"},
	{"known", KEY_FLAG, .help = "Whether the run was known already"},
	{"runs", KEY_LIST, .help = "Of an array of runs: for each run, in the same order, its id and whether it was known, or the error that kept it out"},
	{0},
};
/* clang-format on */

const struct route route_post_runs = {
	.path = "/runs",
	.help = "Takes a run that ended elsewhere, or an array of up to 1024 runs, as --forward.url sends "
		"them, or such an array as GET /runs gives it with export=true: once, however often they "
		"come; a wrong run keeps no other out",
	.parameters = no_parameters,
	.answer = answer,
	.takes_long = true,
	.body = run_message_keys,
	.bodies = true,
	.gives = answer_keys,
	.creates = true,
	.of_space = true,
	.errors = (const struct route_error[]){{400, "bad_body"}, {503, "not_kept"}, {0}},
};
