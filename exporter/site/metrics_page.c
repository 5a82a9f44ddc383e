/* Answers /metrics: gets a recent snapshot, and writes the requested metric families in the
 * negotiated format. */
#include "exporter/site/site_state.h"

#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/collector.h"
#include "exporter/core/memory_budget.h"
#include "exporter/sampling/sampler.h"

/* Seconds that a scrape waits for a recent snapshot: the scraper's timeout minus WAIT_MARGIN, but
 * at least WAIT_LEAST and at most WAIT_DEFAULT. If the scraper sends no timeout, WAIT_DEFAULT. */
#define WAIT_DEFAULT 5.0
#define WAIT_MARGIN  0.5 /* subtracted from the scraper's timeout, to send the answer */
#define WAIT_LEAST   0.1
#define WAIT_ENOUGH  1.0 /* a shorter wait does not show that the sampler hangs */

/* Bytes of the longest error message, which lists all collectors. */
#define ERROR_MAX 4096

static const struct parameter parameters[] = {
	{.name = "collect",
		.kind = PARAMETER_TEXT,
		.repeats = true,
		.least = 1,
		.most = 100,
		.help = "Only this collector"},
	{.name = "exclude",
		.kind = PARAMETER_TEXT,
		.repeats = true,
		.least = 1,
		.most = 100,
		.help = "Not this collector"},
	{.name = "name",
		.kind = PARAMETER_TEXT,
		.repeats = true,
		.least = 1,
		.most = 200,
		.help = "Only this metric; a name that none has gives an empty page, as with "
			"Prometheus's client libraries"},
	{0},
};

static const char *content_types(size_t i)
{
	static const char *const types[] = {"text/plain", "application/openmetrics-text", NULL};

	return types[i];
}

const struct route site_metrics_about = {
	.path = "/metrics",
	.help = "Metrics for Prometheus",
	.parameters = parameters,
	.content_types = content_types,
	.errors = (const struct route_error[]){{500, "too_large"}, {503, "no_sample"}, {0}},
};

static struct exposition_filter filter_of(const struct arguments *a)
{
	struct exposition_filter f = {0};

	f.n_collect = argument_texts(a, "collect", &f.collect);
	f.n_exclude = argument_texts(a, "exclude", &f.exclude);
	f.n_name = argument_texts(a, "name", &f.name);
	return f;
}

static bool is_collector(const struct snapshot *s, const char *name)
{
	for (size_t i = 0; i < s->n_blocks; i++)
		if (strcmp(s->blocks[i].collector->name, name) == 0)
			return true;
	return false;
}

static bool collectors_ok(const struct snapshot *s, const char *parameter, const char *const *name,
	size_t n, struct reply *r)
{
	struct buf message AUTO(buf_done) = BUF_MAX(ERROR_MAX);
	size_t i = 0;

	while (i < n && is_collector(s, name[i]))
		i++;
	if (i == n)
		return true;
	buf_addf(&message, "%s[]: \"%s\" is no collector, or it is switched off: give", parameter,
		name[i]);
	for (size_t k = 0; k < s->n_blocks; k++)
		buf_addf(&message, "%s %s", k ? "," : "", s->blocks[k].collector->name);
	reply_error(r, 400, "bad_parameter", "%s", buf_text(&message));
	return false;
}

/* Checks that the snapshot has all collectors that the filter names, and that the filter does not
 * have both collect[] and exclude[]. Otherwise writes an error to `r` and returns false. */
static bool filter_ok(const struct exposition_filter *f, const struct snapshot *s, struct reply *r)
{
	if (f->n_collect && f->n_exclude) {
		reply_error(r, 400, "bad_parameter", "give collect[] or exclude[], not both");
		return false;
	}
	return collectors_ok(s, "collect", f->collect, f->n_collect, r) &&
	       collectors_ok(s, "exclude", f->exclude, f->n_exclude, r);
}

static double wait_of(const char *scrape_timeout)
{
	struct scan s = SCAN(scrape_timeout ? scrape_timeout : "",
		scrape_timeout ? strlen(scrape_timeout) : 0);
	double seconds;

	if (!scan_double(&s, &seconds) || seconds <= 0)
		return WAIT_DEFAULT;
	return fmax(WAIT_LEAST, fmin(WAIT_DEFAULT, seconds - WAIT_MARGIN));
}

/* Waits at most `wait` seconds for a recent snapshot. If the wait shows that the sampler hangs,
 * later scrapes wait only WAIT_LEAST, until the sampler ticks again. Otherwise the waiting scrapes
 * could use all threads, and none would be free for /-/healthy. */
static struct snapshot *fresh_snapshot(struct site *s, double wait)
{
	struct sampler *sampler = s->app->sampler;
	struct mono gave_up = {atomic_load(&s->gave_up)};

	if (gave_up.ns && sampler_age(sampler) > mono_seconds_between(gave_up, now_read().mono))
		wait = WAIT_LEAST;
	struct snapshot *ret = sampler_scrape(sampler, SITE_METRICS_AGE, wait);

	if (wait >= WAIT_ENOUGH && sampler_age(sampler) >= wait)
		atomic_store(&s->gave_up, now_read().mono.ns);
	return ret;
}

static void send_snapshot(struct site *s, const struct http_request *r,
	const struct snapshot *snapshot, const struct exposition_filter *filter,
	struct http_answer *ret)
{
	struct reply error = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct negotiated n = negotiate(r->accept);
	bool gzip = !s->app->options->disable_compression && negotiate_gzip(r->accept_encoding);
	bool all = filter->n_collect + filter->n_exclude + filter->n_name == 0;

	ret->negotiated = true;
	/* When memory is short, refuse a scrape with a filter. It needs a body of its own. All
	 * scrapes without a filter share one body. */
	if (!all && memory_budget_is_short(0)) {
		reply_error(&error, 503, "overloaded",
			"there is no memory left to filter metrics: request all of them, or try "
			"again in a second");
		site_reply(ret, &error);
		return;
	}
	ret->body = rendered_cache_body(s->rendered_cache, snapshot, n.format, all ? NULL : filter,
		gzip);
	if (!ret->body) {
		reply_error(&error, 500, "too_large", "the metrics are larger than 64 MiB");
		site_reply(ret, &error);
		return;
	}
	ret->status = 200;
	memcpy(ret->content_type, n.content_type, sizeof n.content_type);
	/* An ended run disappears from /metrics after a scrape has shown it. Only a request with a
	 * header for the scrape timeout counts as such a scrape. Prometheus and similar servers
	 * send this header, and a person with curl does not. */
	if (all && r->scrape_timeout && strcmp(r->method, "GET") == 0)
		ret->scraped = ret->body->generation;
}

static void answer_with(struct site *s, const struct http_request *r,
	const struct exposition_filter *filter, struct http_answer *ret)
{
	struct reply error = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct snapshot *snapshot =
		s->app->sampler ? fresh_snapshot(s, wait_of(r->scrape_timeout)) : NULL;

	if (!snapshot) {
		reply_error(&error, 503, "no_sample", "there is no sample yet");
		site_reply(ret, &error);
		return;
	}
	if (filter_ok(filter, snapshot, &error))
		send_snapshot(s, r, snapshot, filter, ret);
	else
		site_reply(ret, &error);
	shared_drop(&snapshot->shared);
}

static void answer_query(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret)
{
	struct reply error = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct arguments a;

	if (!site_arguments(&a, parameters, t, &error)) {
		site_reply(ret, &error);
		return;
	}
	struct exposition_filter filter = filter_of(&a);

	answer_with(s, r, &filter, ret);
}

/* Answers /metrics. Nearly all scrapes have no query. They do not go through answer_query, whose
 * struct arguments needs a large stack frame. */
void site_metrics(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret)
{
	if (t->query[0])
		answer_query(s, r, t, ret);
	else
		answer_with(s, r, &(struct exposition_filter){0}, ret);
}
