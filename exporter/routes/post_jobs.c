/* POST /jobs: announces a process as a run of a job, or as a helper that is no part of a run. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "collectors/base/utf8.h"
#include "exporter/core/app.h"
#include "exporter/api/json_body.h"
#include "exporter/discovery/finder.h"
#include "exporter/discovery/pod.h"
#include "exporter/core/json.h"
#include "exporter/sampling/sampler.h"
#include "recommender/advice/advice.h"

static const struct parameter no_parameters[] = {{0}};

struct announce_body {
	double pid, input_bytes, attempt;
	bool helper, from_now;
	const char *job_name, *space, *cluster, *system;
	const json_t *labels, *requested;
};

struct announce_request {
	double cpu, memory;
};

/* Returns the i-th accepted value of "system", such as "slurm". Each is the name of the format in
 * which jobs of this system state a request. */
static const char *system_name(size_t i)
{
	return advice_formats[i + 1].name; /* the first format is json */
}

/* clang-format off */
static const struct json_key requested_keys[] = {
	{"cpu", KEY_CORES, false, QUANTITY_CORES_LEAST, QUANTITY_CORES_MOST,
		offsetof(struct announce_request, cpu), .unit = "cores",
		.help = "CPUs that were requested"},
	{"memory", KEY_BYTES, false, 1, QUANTITY_BYTES_MOST,
		offsetof(struct announce_request, memory), .unit = "bytes",
		.help = "Memory that was requested"},
	{0},
};

static_assert(JOB_LABELS_MAX == 8 && LABEL_NAME_MAX == 64, "the manual says so below");
static const struct json_key label_keys[] = {
	{KEY_ANY, KEY_TEXT, .required = true, .most = JOB_WORD_MAX - 1,
		.help = "A label: up to 8 of them, with names of up to 63 bytes"},
	{0},
};

static const struct json_key keys[] = {
	{"pid", KEY_WHOLE, false, 1, 4194304, offsetof(struct announce_body, pid),
		.help = "Process id, as this exporter sees it; over the Unix socket the process that "
			"asks is the default"},
	{"job_name", KEY_TEXT, false, 1, JOB_NAME_MAX - 1, offsetof(struct announce_body, job_name),
		.help = "Name of the job; needed without helper"},
	{"namespace", KEY_TEXT, false, 1, JOB_SPACE_MAX - 1, offsetof(struct announce_body, space),
		.help = "Namespace of the job (default: --jobs.namespace, or that of the exporter's pod)"},
	{"cluster", KEY_TEXT, false, 1, JOB_SPACE_MAX - 1, offsetof(struct announce_body, cluster),
		.help = "Cluster of the job (default: --jobs.cluster)"},
	{"system", KEY_CHOICE, false, 0, 0, offsetof(struct announce_body, system),
		.choice = system_name,
		.help = "System that runs the job; recommendations have the line to paste into it"},
	{"labels", KEY_OBJECT, false, 0, 0, offsetof(struct announce_body, labels),
		.members = label_keys, .help = "Labels of the run"},
	{"requested", KEY_OBJECT, false, 0, 0, offsetof(struct announce_body, requested),
		.members = requested_keys, .help = "What was requested for the run"},
	{"input_bytes", KEY_BYTES, false, 0, QUANTITY_BYTES_MOST,
		offsetof(struct announce_body, input_bytes), .unit = "bytes",
		.help = "Size of the run's input"},
	{"attempt", KEY_WHOLE, false, 1, ATTEMPT_MOST, offsetof(struct announce_body, attempt),
		.help = "Which attempt of the work this is"},
	{"from_now", KEY_FLAG, false, 0, 0, offsetof(struct announce_body, from_now),
		.help = "true begins the run now: what the process used before is no part of it. By "
			"default the run began with its process"},
	{"helper", KEY_FLAG, false, 0, 0, offsetof(struct announce_body, helper),
		.help = "true leaves the process and its descendants out of the runs that they are in, as "
			"RIGHTSIZE_HELPER=1 in an environment does; only pid may stand beside it"},
	{0},
};
/* clang-format on */

static bool bad_label(struct reply *r)
{

	reply_error(r, 400, "bad_body",
		"labels: accepted are up to %d texts without control characters, of at most %d "
		"bytes each, names too",
		JOB_LABELS_MAX, JOB_WORD_MAX - 1);
	return false;
}

static bool is_word(const char *s, size_t size)
{
	return s && utf8_plain(s) && strlen(s) < size;
}

static bool read_labels(const json_t *labels, struct announcement *a, struct reply *r)
{
	json_t *value, *all = (json_t *)(uintptr_t)labels;
	const char *name;

	json_object_foreach(all, name, value)
	{
		const char *text = json_string_value(value);

		if (a->n_labels == JOB_LABELS_MAX || !is_word(name, LABEL_NAME_MAX) ||
			!is_word(text, JOB_WORD_MAX))
			return bad_label(r);
		text_copy(name, a->label[a->n_labels].name, LABEL_NAME_MAX);
		text_copy(text, a->label[a->n_labels++].value, JOB_WORD_MAX);
	}
	return true;
}

/* Reads the PID of the run's process. If the body has no PID, the client announces its own process,
 * whose PID is known only over a Unix socket. */
static bool read_pid(const struct announce_body *w, const struct peer *peer, struct announcement *a,
	struct reply *r)
{
	a->pid = isnan(w->pid) ? peer->pid : (pid_t)w->pid;
	if (a->pid > 0)
		return true;
	reply_error(r, 400, "bad_body",
		"the body needs pid: only over the Unix socket it may be absent, for the process "
		"that asks");
	return false;
}

/* Checks that the body describes either a job or a helper, and not both. A body for a helper may
 * contain only the keys pid and helper. */
static bool check_subject(const json_t *body, const struct announce_body *w, struct reply *r)
{
	size_t others = json_object_size(body) - (json_object_get(body, "pid") != NULL) -
			(json_object_get(body, "helper") != NULL);

	if (w->helper ? others == 0 : w->job_name != NULL)
		return true;
	reply_error(r, 400, "bad_body",
		w->helper ? "helper: a process that is left out of runs has no job of its own: "
			    "accepted is only pid besides" :
			    "the body needs job_name: accepted is a text of 1 to %d bytes without "
			    "control characters, or helper: true in its place",
		JOB_NAME_MAX - 1);
	return false;
}

static bool read_announcement(const struct options *o, const json_t *body,
	const struct arguments *args, struct announcement *a, struct reply *r)
{
	struct announce_body w = {.pid = NAN, .input_bytes = NAN, .attempt = NAN};
	struct announce_request requested = {NAN, NAN};
	char space[JOB_SPACE_MAX];

	if (!json_body_read(body, "the body", keys, &w, r) ||
		!json_body_read(w.requested, "requested", requested_keys, &requested, r))
		return false;
	if (!check_subject(body, &w, r))
		return false;
	*a = (struct announcement){
		.helper = w.helper,
		.from_now = w.from_now,
		.cpu_cores = requested.cpu,
		.memory_bytes = requested.memory,
		.input_bytes = w.input_bytes,
		.attempt = w.attempt,
		.system = w.system ? advice_format_find(w.system)->name : NULL,
	};
	pod_job_space(o, space);
	if (w.job_name)
		job_key_write(w.job_name, w.space ? w.space : space,
			w.cluster ? w.cluster : o->jobs_cluster, a->job);
	return read_pid(&w, &args->peer, a, r) && read_labels(w.labels, a, r);
}

/* A call of a function on the sampler thread. The struct has copies of all data, because a sampler
 * that hangs may still use them after the reply was sent. */
struct announce_call {
	struct shared shared;
	struct announcement announcement;
	struct announced_run announced;
	struct err e;
	int code;
};

static void call_release(struct shared *shared)
{
	free((struct announce_call *)(void *)shared);
}

static struct announce_call *call_new(const struct announcement *a)
{
	struct announce_call *c = xcalloc(1, sizeof *c);

	shared_init(&c->shared, call_release);
	c->announcement = *a;
	return c;
}

static void announce(struct finder *f, const struct host *host, void *context)
{
	struct announce_call *c = context;

	if (c->announcement.helper)
		c->code = finder_declare_helper(f, host, c->announcement.pid, &c->e);
	else
		c->code = finder_announce(f, host, &c->announcement, &c->announced, &c->e);
}

static int reply_failure(struct reply *r, int code, const char *text)
{
	if (code == -ESRCH)
		return reply_error(r, 404, "no_such_process", "%s", text);
	if (code == -EEXIST)
		return reply_error(r, 409, "recorded_elsewhere", "%s", text);
	return reply_error(r, 503, "not_followed", "%s", text);
}

static int reply_announced(struct reply *r, const struct announce_call *c)
{
	if (c->code)
		return reply_failure(r, c->code, c->e.text);

	json_t *o = json_object();

	if (!c->announcement.helper) {
		json_put(o, "run_id", json_text(c->announced.run_id));
		json_put_job(o, c->announcement.job);
	}
	json_put(o, "pid", json_num(c->announcement.pid));
	if (c->announcement.helper)
		json_put(o, "helper", json_true());
	return reply_json(r, c->announced.known || c->announcement.helper ? 200 : 201, o);
}

static int begin_run(struct app *app, const struct announcement *a, struct reply *r)
{
	struct announce_call *c = call_new(a);
	int code;

	if (sampler_find(app->sampler, announce, c, NULL))
		code = reply_announced(r, c);
	else
		code = reply_error(r, 503, "not_followed", "%s",
			app->self ? SAMPLER_NO_ANSWER : "this exporter follows no runs of others");
	shared_drop(&c->shared);
	return code;
}

static int answer(struct app *app, const struct arguments *args, struct reply *r, struct err *e)
{
	json_t *body = json_body_parse(args->body, r);
	struct announcement a;
	int code = 0;

	(void)e;
	if (body && read_announcement(app->options, body, args, &a, r))
		code = begin_run(app, &a, r);
	json_decref(body);
	return code;
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"run_id", KEY_TEXT, .help = "Id of the run; absent with helper"},
	{"job_name", KEY_TEXT, .help = "Name of the job; absent with helper"},
	JOB_PLACE_KEYS,
	{"pid", KEY_NUMBER, .required = true, .help = "The process"},
	{"helper", KEY_FLAG, .help = "True with helper"},
	{0},
};
/* clang-format on */

const struct route route_post_jobs = {
	.path = "/jobs",
	.help = "Announces a process as a run of a job, or as a helper that is no part of a run",
	.parameters = no_parameters,
	.answer = answer,
	.body = keys,
	.gives = answer_keys,
	.creates = true,
	.errors = (const struct route_error[]){{400, "bad_body"}, {404, "no_such_process"},
		{409, "recorded_elsewhere"}, {503, "not_followed"}, {0}},
};
