#include "exporter/site/site_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/answers/job_runs.h"
#include "exporter/core/memory_budget.h"
#include "exporter/sampling/health.h"
#include "exporter/site/host_header.h"
#include "exporter/site/event_stream.h"
#include "exporter/site/description.h"
#include "exporter/site/manual_pages.h"
#include "exporter/site/page.h"
#include "exporter/sampling/sampler.h"
#include "exporter/site/change.h"
#include "exporter/history/historian.h"
#include "exporter/history/read_failed.h"
#include "exporter/options/shapes.h"
#include "exporter/remote/history_reader.h"

/* Bytes of the longest error message, which lists all paths. */
#define ERROR_MAX 4096

static void text_page(struct http_answer *ret, int status, const char *text)
{
	struct reply r = {.status = status, .body = BUF_MAX(1024)};

	buf_adds(&r.body, text);
	site_reply(ret, &r);
}

static void healthy(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret)
{
	struct health h = health_of(s->app, s->started);
	char text[128];

	(void)r;
	(void)t;
	if (h.ok) {
		text_page(ret, 200, "rightsize-exporter is healthy.\n");
		return;
	}
	snprintf(text, sizeof text,
		"The last sample is %.1f seconds old; at most %.1f are normal.\n", h.age, h.most);
	text_page(ret, 503, text);
}

#define READY "rightsize-exporter is ready.\n"

/* Returns true when this exporter is ready to answer. If it is not ready, `e` gives the reason. If
 * it is ready but cannot write its history, `e` gives the reason for that. */
static bool is_ready(const struct app *app, struct err *e)
{
	struct reader_counts reader = reader_counts();

	if (!app->sampler || !isfinite(sampler_age(app->sampler)))
		err_set(e, -EAGAIN, "There is no sample yet.");
	else if (reader.active && !reader.complete)
		err_set(e, -EAGAIN, "reading the history: %.0f %%", floor(100 * reader.share));
	else
		return !app->historian || historian_takes_runs(app->historian, e) == 0 ||
		       !site_changes_come_by_tcp(app->options);
	return false;
}

static void ready(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret)
{
	struct err e = {0};
	char text[sizeof READY + sizeof e.text + 1];

	(void)r;
	(void)t;
	bool is = is_ready(s->app, &e);

	snprintf(text, sizeof text, "%s%s%s", is ? READY : "", e.text, e.code ? "\n" : "");
	text_page(ret, is ? 200 : 503, text);
}

static const struct route_error text_if_not[] = {{503, ROUTE_ERROR_TEXT}, {0}};

static const struct route front_about = {
	.path = "/",
	.help = "This page",
	.content_type = "text/html",
};

static const struct route healthy_about = {
	.path = "/-/healthy",
	.help = "200 while the sampler works, else 503",
	.content_type = "text/plain",
	.errors = text_if_not,
};

static const struct route ready_about = {
	.path = "/-/ready",
	.help = "200 after the first sample, until then 503; 503 and the reason also while runs of others cannot be taken, because the history is full or its disk does not answer. A server that takes no runs of others stays ready, and says why its history cannot be written",
	.content_type = "text/plain",
	.errors = text_if_not,
};

/* The pages at fixed paths. The table has no /metrics, because --web.telemetry-path may move it.
 * Routes are in all_routes. */
static const struct site_page pages[] = {
	{&front_about, site_front},
	{&site_manual_about, site_manual},
	{&site_openapi_about, site_openapi},
	{&site_runbook_about, site_manual},
	{&site_events_about, site_events},
	{&healthy_about, healthy},
	{&ready_about, ready},
	{0},
};

static const struct site_page *page_at(const char *path)
{
	/* All pages of the manual (/manual/NAME) share the row of the table for /manual. */
	const char *known = strncmp(path, "/manual/", 8) == 0 && manual_page_find(path) ?
				    site_manual_about.path :
				    path;

	for (const struct site_page *p = pages; p->about; p++)
		if (strcmp(known, p->about->path) == 0)
			return p;
	return NULL;
}

static const struct route *route_at(const char *path)
{
	for (const struct route *const *route = all_routes; *route; route++)
		if (strcmp(path, (*route)->path) == 0)
			return *route;
	return NULL;
}

/* Returns true when `path` cannot be the path of the metrics (--web.telemetry-path), because a
 * route, a page or a file already has it. The front page is an exception: the metrics may replace
 * it. */
static bool is_taken(const char *path)
{
	return route_at(path) || (page_at(path) && page_at(path) != pages) || page_find(path) ||
	       site_change_at(path);
}

struct site *site_new(struct app *app)
{
	struct site *s = xcalloc(1, sizeof *s);

	s->app = app;
	s->pages = pages;
	s->rendered_cache = rendered_cache_new();
	s->event_streams = event_streams_new(app);
	s->started = now_read().mono;
	return s;
}

json_t *site_description(const char *metrics_path)
{
	return description_of(pages, metrics_path);
}

int site_check_options(const struct options *o, struct err *e)
{
	const char *metrics = o->telemetry_path;

	if (is_taken(metrics))
		return err_set(e, -EINVAL, "--web.telemetry-path=%s: accepted is %s", metrics,
			shape_metrics_path.accepted);
	return 0;
}

int site_start(struct site *s, struct err *e)
{
	return event_streams_start(s->event_streams, e);
}

void site_stop(struct site *s)
{
	event_streams_stop(s->event_streams);
}

void site_free(struct site *s)
{
	if (!s)
		return;
	event_streams_stop(s->event_streams);
	event_streams_free(s->event_streams);
	rendered_cache_free(s->rendered_cache);
	free(s);
}

bool site_disk_may_hang(const struct site *s)
{
	return historian_is_loose(s->app->historian);
}

void site_no_answer(struct site *s, struct http_answer *ret)
{
	/* Make the historian write now, even if it has nothing to write. It then notices that the
	 * disk does not answer. */
	historian_flush(s->app->historian, 0);
	site_refusal(ret, 503, "overloaded", "the history's disk does not answer; try again later");
}

/* Calls the route. If the history file was replaced meanwhile, calls the route a second time. If
 * the history is damaged, reports this to the historian. */
static int answer_or_reopen(struct app *app, const struct route *route, const struct arguments *a,
	struct reply *r, struct err *e)
{
	int code = route->answer(app, a, r, e);

	if (code == -ESTALE) {
		buf_done(&r->body);
		*r = (struct reply){.body = BUF_MAX(memory_budget()->answer)};
		*e = (struct err){0};
		code = route->answer(app, a, r, e);
	}
	history_read_failed(app, code);
	return code;
}

static void add_limit(struct buf *out)
{
	if (!memory_budget()->limit)
		return;
	buf_adds(out, ", with a memory limit of ");
	memory_budget_words(out, memory_budget()->limit);
}

/* Appends the names of those parameters of the route that can make its answer smaller. */
static void add_advice(struct buf *out, const struct route *route)
{
	static const char *const less[] = {"from", "to", "points", "limit", "runs"};
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(less); i++) {
		if (!route_parameter_find(route->parameters, less[i]))
			continue;
		buf_adds(out, any ? ", " : "; request less with ");
		buf_adds(out, less[i]);
		any = true;
	}
}

/* Replaces the reply by the error that the answer is too large. `now`: true = memory is short now,
 * so a later attempt may succeed; false = the answer exceeds the limit that always applies. */
static void reply_too_much(struct reply *r, const struct route *route, bool now)
{
	struct buf message AUTO(buf_done) = BUF_MAX(ERROR_MAX);

	buf_done(&r->body);
	*r = (struct reply){.body = BUF_MAX(REPLY_BODY_MAX)};
	buf_adds(&message, now ? "there is no memory left for this answer" :
				 "the answer would be larger than ");
	if (!now)
		memory_budget_words(&message, memory_budget()->answer);
	add_limit(&message);
	add_advice(&message, route);
	if (now)
		buf_adds(&message, "; or try again in a second");
	reply_error(r, now ? 503 : 422, now ? "overloaded" : "too_large", "%s", buf_text(&message));
}

/* With --web.namespace-tokens.read, restricts the answer to the namespace whose token the request
 * has. If the request names another namespace, writes an error to `r` and returns false. */
static bool limit_to_space(const struct site *s, const struct http_request *request,
	struct arguments *a, struct reply *r)
{
	struct err e = {0};

	if (!s->app->options->namespace_tokens_read || !request->space ||
		arguments_limit(a, request->space, &e) == 0)
		return true;
	reply_error(r, 403, "not_allowed", "%s", e.text);
	return false;
}

static void answer_route(struct site *s, const struct http_request *request,
	const struct route *route, struct request_target *t, struct http_answer *ret)
{
	struct reply r = {.body = BUF_MAX(memory_budget()->answer)};
	struct arguments a;
	struct err e = {0};

	memory_budget_begin_answer();
	bool known =
		site_arguments(&a, route->parameters, t, &r) && limit_to_space(s, request, &a, &r);

	if (known)
		answer_complete_job(s->app, &a);
	if (known && answer_or_reopen(s->app, route, &a, &r, &e) != 0)
		reply_error(&r, 500, "internal", "%s", e.text[0] ? e.text : "no reason was given");
	bool over = memory_budget_end_answer();

	if (over || r.body.full)
		reply_too_much(&r, route, over);
	site_reply(ret, &r);
	site_compress(s, request, ret);
}

static void refuse_method(struct http_answer *ret, const char *allow)
{
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};

	ret->allow = allow;
	reply_error(&r, 405, "method_not_allowed", "only %s %s answered here", allow,
		strchr(allow, ',') ? "are" : "is");
	site_reply(ret, &r);
}

static void not_found(struct site *s, const struct request_target *t, struct http_answer *ret)
{
	struct buf message AUTO(buf_done) = BUF_MAX(ERROR_MAX);
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};

	if (site_change_at(t->path)) {
		refuse_method(ret, "POST");
		return;
	}
	bool manual = strncmp(t->path, "/manual/", 8) == 0;

	buf_addf(&message, "there is nothing at %.200s; known are %s", t->path,
		manual ? site_manual_about.path : s->app->options->telemetry_path);
	for (const struct manual_page *p = manual_pages; manual && p->name; p++)
		if (!p->title)
			buf_addf(&message, ", /manual/%s", p->name);
	for (const struct route *const *route = all_routes; !manual && *route; route++)
		buf_addf(&message, ", %s", (*route)->path);
	for (const struct site_page *p = pages; !manual && p->about; p++)
		buf_addf(&message, ", %s", p->about->path);
	ret->handler = "other";
	reply_error(&r, 404, "not_found", "%s", buf_text(&message));
	site_reply(ret, &r);
}

/* Returns true when the answer at this path contains no data about jobs. Examples: the files of the
 * page, the manual, /-/healthy. */
static bool is_public(const struct site *s, const char *path)
{
	return !route_at(path) && strcmp(path, s->app->options->telemetry_path) != 0 &&
	       strcmp(path, site_events_about.path) != 0;
}

/* Returns true when the client may read this path. If not, fills `ret` with a refusal. Without
 * --web.namespace-tokens.read, every client may read every path. */
static bool may_read(const struct site *s, const struct http_request *r, const char *path,
	struct http_answer *ret)
{
	if (!s->app->options->namespace_tokens_read || r->peer.local || r->user ||
		is_public(s, path))
		return true;
	if (r->space && route_at(path))
		return true;
	site_refusal(ret, r->space ? 403 : 401, "not_allowed",
		r->space ?
			"the token of a namespace shows jobs, but no metrics and no events" :
			"jobs are shown to users of --web.config.file, and to those who send the "
			"token of a namespace: Authorization: Bearer TOKEN");
	return false;
}

static void dispatch(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret)
{
	ret->handler = s->app->options->telemetry_path;
	if (strcmp(t->path, ret->handler) == 0) {
		site_metrics(s, r, t, ret);
		return;
	}

	const struct route *route = route_at(t->path);
	const struct site_page *page = page_at(t->path);

	if (route) {
		ret->handler = route->path;
		answer_route(s, r, route, t, ret);
	} else if (page) {
		ret->handler = page->about->path;
		page->answer(s, r, t, ret);
	} else if (!site_file(s, r, t, ret)) {
		not_found(s, t, ret);
	}
}

enum site_way site_way_of(const struct http_request *r)
{
	AUTO(freep) char *copy = xstrdup(r->target);
	struct request_target t;
	struct err e = {0};

	if (request_target_split(copy, &t, &e) != 0)
		return SITE_AT_ONCE;
	if (strcmp(r->method, "POST") == 0)
		return site_change_takes_long(t.path) ? SITE_LATER : SITE_AT_ONCE;

	const struct route *route = route_at(t.path);
	const struct site_page *page = page_at(t.path);

	if (!route)
		return page && page->about->takes_long ? SITE_LATER : SITE_AT_ONCE;
	if (!route->takes_long)
		return SITE_AT_ONCE;
	return route->of_samples ? SITE_OF_SAMPLES : SITE_LATER;
}

/* Returns true when the Host header of a request must be checked (host_header.h):
 * - It is checked for a loopback address: a browser with an attacker's page may have sent the
 *   request.
 * - It is checked for other addresses only with --web.allowed-host, because requests may use
 *   various names for this machine.
 * - It is not checked for a Unix socket, or with TLS, a password or a token: such a request cannot
 *   be an attack by DNS rebinding.
 * - A request without Host is not checked, because browsers always send Host.
 *
 * Changes have their own checks (change.h). */
static bool host_matters(const struct site *s, const struct http_request *r)
{
	return r->host && !r->peer.local && !r->vouched &&
	       (r->loopback || s->app->options->allowed_hosts.n);
}

static void refuse_host(const struct http_request *r, struct http_answer *ret)
{
	char message[HOST_NAME_MAX_BYTES + 256];

	snprintf(message, sizeof message, "Host is \"%.*s\"; it must be " HOSTS_ACCEPTED,
		HOST_NAME_MAX_BYTES, r->host);
	site_refusal(ret, 403, "bad_host", message);
}

static const char *methods_of(const char *path)
{
	if (!site_change_at(path))
		return "GET, HEAD";
	return route_at(path) ? "GET, HEAD, POST" : "POST";
}

void site_answer(struct site *s, const struct http_request *r, struct http_answer *ret)
{
	struct reply refusal = {.body = BUF_MAX(REPLY_BODY_MAX)};
	bool get = strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;
	bool post = strcmp(r->method, "POST") == 0;
	struct request_target t;
	struct err e = {0};

	*ret = (struct http_answer){.handler = "other"};
	if (get && host_matters(s, r) &&
		!host_header_is_ours(&s->app->options->allowed_hosts, r->host)) {
		refuse_host(r, ret);
		return;
	}
	int code = request_target_split(r->target, &t, &e);

	if ((get || post) && code) {
		reply_error(&refusal, 400, "bad_path", "%s", e.text);
		site_reply(ret, &refusal);
	} else if (get) {
		if (may_read(s, r, t.path, ret))
			dispatch(s, r, &t, ret);
	} else if (!post || !site_change(s, r, &t, ret)) {
		refuse_method(ret, code ? "GET, HEAD" : methods_of(t.path));
	}
}
