#include "exporter/site/change.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/core/log.h"
#include "exporter/site/host_header.h"
#include "exporter/client/bearer_token.h"

#define PATH_VALUES_MAX 4
#define PATH_VALUE_MAX  256

/* The values at the places {name} of a route's path, such as {run_id}. */
struct path_values {
	size_t n;
	char name[PATH_VALUES_MAX][PATH_VALUE_MAX], value[PATH_VALUES_MAX][PATH_VALUE_MAX];
};

static bool take_value(struct path_values *v, struct slice name, struct slice value)
{
	if (v->n == PATH_VALUES_MAX || value.len == 0 || value.len >= PATH_VALUE_MAX)
		return false;
	/* Store the name without its braces. */
	slice_copy((struct slice){name.data + 1, name.len - 2}, v->name[v->n], PATH_VALUE_MAX);
	slice_copy(value, v->value[v->n++], PATH_VALUE_MAX);
	return true;
}

static bool next_part(struct scan *s, struct slice *ret)
{
	if (!scan_char(s, '/'))
		return false;
	const char *end = memchr(s->at, '/', (size_t)(s->end - s->at));

	end = end ? end : s->end;
	*ret = (struct slice){s->at, (size_t)(end - s->at)};
	s->at = end;
	return true;
}

static bool matches(const char *path, const char *pattern, struct path_values *v)
{
	struct scan at = SCAN(path, strlen(path)), want = SCAN(pattern, strlen(pattern));
	struct slice part, name;

	v->n = 0;
	while (next_part(&want, &name)) {
		if (!next_part(&at, &part))
			return false;
		if (slice_starts(name, "{")) {
			if (!take_value(v, name, part))
				return false;
		} else if (part.len != name.len || memcmp(part.data, name.data, part.len) != 0) {
			return false;
		}
	}
	return scan_end(&at);
}

static const struct route *find_change(const char *path, struct path_values *v)
{
	for (const struct route *const *route = all_changes; *route; route++)
		if (matches(path, (*route)->path, v))
			return *route;
	return NULL;
}

bool site_change_at(const char *path)
{
	struct path_values ignored;

	return find_change(path, &ignored) != NULL;
}

bool site_change_takes_long(const char *path)
{
	struct path_values ignored;
	const struct route *route = find_change(path, &ignored);

	return route && route->takes_long;
}

/* ---- who may make changes ---- */

/* Returns true when a browser sent the request for a page of another site. Browsers tell this by
 * the headers Sec-Fetch-Site and Origin. Other programs usually send neither. */
static bool is_from_elsewhere(const struct http_request *r)
{
	const char *site = r->fetch_site;
	const char *origin = r->origin ? strstr(r->origin, "://") : NULL;

	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return true;
	return r->origin && (!origin || !r->host || strcasecmp(origin + 3, r->host) != 0);
}

static bool is_json(const char *content_type)
{
	size_t n = strlen("application/json");

	return content_type && strncasecmp(content_type, "application/json", n) == 0 &&
	       (content_type[n] == '\0' || strchr("; \t", content_type[n]));
}

static bool refuse(struct reply *r, int status, const char *code, const char *message)
{
	reply_error(r, status, code, "%s", message);
	return false;
}

/* Checks the token of --web.changes-token-file. No other check is needed, because pages of other
 * sites do not know the token. */
static bool may_by_token(const char *path, const struct http_request *r, struct reply *refusal)
{
	struct err e = {0};

	if (bearer_token_matches(path, r->authorization, &e) == 0)
		return true;
	return refuse(refusal, e.code == -EACCES ? 401 : 503, "not_allowed", e.text);
}

bool site_changes_come_by_tcp(const struct options *o)
{
	return o->allow_changes || o->changes_token_file || o->namespace_tokens ||
	       o->web_config_file;
}

bool site_token_space(struct site *s, const struct http_request *r, char ret[static JOB_SPACE_MAX])
{
	const char *folder = s->app->options->namespace_tokens;
	struct err e = {0};

	*ret = '\0';
	if (!folder || r->peer.local || !r->authorization)
		return false;
	int code = bearer_token_namespace(folder, r->authorization, ret, &e);
	bool unreadable = code && code != -EACCES;

	if (atomic_exchange(&s->tokens_unreadable, unreadable) != unreadable && unreadable)
		log_line(LOG_LEVEL_WARN, BEARER_TOKENS_UNREADABLE, "err", e.text, NULL);
	return code == 0;
}

static bool needs_token(const struct options *o, const struct http_request *r)
{
	return !r->peer.local && o->changes_token_file;
}

static bool may_change(const struct options *o, const struct http_request *r, struct reply *refusal)
{
	if (r->space)
		return true;
	if (needs_token(o, r))
		return may_by_token(o->changes_token_file, r, refusal);
	if (r->peer.local)
		return r->peer.uid == 0 || r->peer.uid == geteuid() ||
		       refuse(refusal, 403, "not_allowed",
			       "changes are accepted from root and from the user that the exporter "
			       "runs as");
	if (!r->user && !o->allow_changes)
		return refuse(refusal, 403, "not_allowed",
			"changes are accepted by the Unix socket of --web.unix-socket; over TCP "
			"from users of --web.config.file, or with --web.allow-changes, "
			"--web.changes-token-file or --web.namespace-tokens");
	/* The check of Host prevents attacks by DNS rebinding. A user of --web.config.file needs no
	 * check: in such an attack, the browser uses the attacker's host name, and does not send
	 * the user's password to that name. */
	if (!r->user && !host_header_is_ours(&o->allowed_hosts, r->host))
		return refuse(refusal, 403, "bad_host",
			"changes are accepted when Host is " HOSTS_ACCEPTED);
	if (is_from_elsewhere(r))
		return refuse(refusal, 403, "cross_origin",
			"changes are not accepted from pages of other sites");
	return true;
}

static bool is_acceptable(const struct options *o, const struct http_request *r,
	struct reply *refusal)
{
	if (!may_change(o, r, refusal))
		return false;
	if (r->body_too_large)
		return refuse(refusal, 413, "too_large", "a body may have at most 262144 bytes");
	if (r->body.len && !is_json(r->content_type))
		return refuse(refusal, 415, "unsupported_media_type",
			"the body must be JSON, with Content-Type: application/json");
	return true;
}

bool site_takes_body(const struct site *s, const struct http_request *r, bool *by_token)
{
	struct reply refusal = {.body = BUF_MAX(REPLY_BODY_MAX)};
	AUTO(freep) char *copy = xstrdup(r->target);
	struct err e = {0};
	struct request_target t;
	const struct options *o = s->app->options;
	bool post = strcmp(r->method, "POST") == 0;

	*by_token = !post && o->namespace_tokens_read && r->space;
	if (!post || request_target_split(copy, &t, &e))
		return false;
	bool taken = site_change_at(t.path) && may_change(o, r, &refusal);

	*by_token = taken && (needs_token(o, r) || r->space);
	buf_done(&refusal.body);
	return taken;
}

/* ---- answering ---- */

static bool fill_arguments(struct arguments *a, const struct route *route, struct path_values *v,
	struct request_target *t, struct reply *r)
{
	struct err e = {0};
	char *name, *value;
	int code = 0;

	arguments_begin(a, route->parameters);
	for (size_t i = 0; i < v->n && code == 0; i++)
		code = arguments_add(a, v->name[i], v->value[i], &e);
	while (code == 0 && (code = request_target_next(t, &name, &value, &e)) > 0)
		code = arguments_add(a, name, value, &e);
	if (code == 0)
		code = arguments_finish(a, &e);
	return code == 0 || refuse(r, 400, "bad_parameter", e.text);
}

bool site_change(struct site *s, const struct http_request *request, struct request_target *t,
	struct http_answer *ret)
{
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct path_values values;
	struct arguments a;
	struct err e = {0};
	const struct route *route = find_change(t->path, &values);

	if (!route)
		return false;
	ret->handler = route->path;
	if (is_acceptable(s->app->options, request, &r) &&
		fill_arguments(&a, route, &values, t, &r)) {
		a.body = request->body;
		a.peer = request->peer;
		text_copy(request->space ? request->space : "", a.only_space, sizeof a.only_space);
		if (request->space && !route->of_space)
			refuse(&r, 403, "not_allowed",
				"the token of a namespace allows only POST /runs");
		else if (route->answer(s->app, &a, &r, &e))
			refuse(&r, 500, "internal", e.text[0] ? e.text : "no reason was given");
	}
	site_reply(ret, &r);
	return true;
}
