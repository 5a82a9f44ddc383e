/* One page: from the cache while it is fresh, else from the network, at the Keeper's pace. */
#include "exporter/catalogue/keeper_call.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"

#define CREDITS_PER_MINUTE 60.0 /* what anybody may spend */
#define WINDOW_SECONDS     60.0 /* over which they are counted */
#define FIRST_RETRY        2.0  /* seconds; doubles with each attempt */
#define LONGEST_RETRY      300.0
#define DEFAULT_MAX_AGE    3600.0 /* of an answer that does not say */

void keeper_begin(struct keeper *k, const struct keeper_options *o,
	const struct keeper_transport *t, struct catalogue_cache *cache, struct keeper_report *r)
{
	*k = (struct keeper){.options = o, .transport = t, .cache = cache, .report = r};
	*r = (struct keeper_report){.expected_servers = NAN};
	k->answer.body = BUF_MAX(CATALOGUE_PAGE_MAX);
	k->body = BUF_MAX(CATALOGUE_PAGE_MAX);
	k->next_call = t->now(t->context);
}

void keeper_end(struct keeper *k)
{
	buf_done(&k->answer.body);
	buf_done(&k->body);
}

static void tell(struct keeper *k, double waiting, const char *why)
{
	k->progress.waiting_seconds = waiting;
	k->progress.why = why;
	if (k->options->progress)
		k->options->progress(k->options->progress_context, &k->progress);
}

static int wait_for(struct keeper *k, double seconds, const char *why, struct err *e)
{
	if (!(seconds > 0))
		return 0;
	tell(k, seconds, why);
	bool go_on = k->transport->wait(k->transport->context, seconds);

	tell(k, 0, NULL);
	return go_on ? 0 : err_set(e, -ECANCELED, "stopped");
}

/* A half more or less, so that many who failed together do not come back together. */
static double jittered(struct keeper *k, double seconds)
{
	return seconds * (0.5 + k->transport->random(k->transport->context));
}

static struct wall after(struct wall at, double seconds)
{
	return (struct wall){.ns = at.ns + (int64_t)(seconds * 1e9)};
}

static double seconds_until(struct keeper *k, struct wall at)
{
	return (double)(at.ns - k->transport->now(k->transport->context).ns) / 1e9;
}

/* When the next call may be: credits are spent evenly, and when they have run out, a window later.
 */
static void pace(struct keeper *k, double credits)
{
	struct wall now = k->transport->now(k->transport->context);
	double limit = k->answer.rate_limit > 0 && k->answer.rate_limit < CREDITS_PER_MINUTE ?
			       k->answer.rate_limit :
			       CREDITS_PER_MINUTE;

	k->next_call = after(now, fmin(credits * WINDOW_SECONDS / limit, LONGEST_RETRY));
	if (k->answer.rate_remaining < credits)
		k->next_call = after(now, WINDOW_SECONDS);
}

/* Seconds until this may be tried again; NaN = never. why: of the waiting. */
static double retry_after(struct keeper *k, int code, unsigned attempt, const char **why)
{
	double later = jittered(k, fmin(FIRST_RETRY * (double)(1u << attempt), LONGEST_RETRY));
	int status = k->answer.status;

	if (code == -ECANCELED || code == -EINVAL || code == -ENOSYS || code == -E2BIG)
		return NAN;
	*why = code ? "no answer, or not a whole one" : "the answer is not what it should be";
	if (code || status == 200 || status == 304)
		return later;
	if (status == 429) {
		*why = "too many calls";
		return k->answer.retry_after_seconds > 0 ? k->answer.retry_after_seconds :
							   WINDOW_SECONDS + jittered(k, 1);
	}
	*why = "it has too much to do";
	if (status == 408 || status >= 500)
		return k->answer.retry_after_seconds > 0 ? k->answer.retry_after_seconds : later;
	return NAN;
}

/* What the Keeper says of a refusal: {"detail": ...}, or plain text; one line of it. */
static int refused(struct keeper *k, const char *url, struct err *e)
{
	const char *text = buf_text(&k->answer.body);
	size_t n = strcspn(text, "\r\n");

	return err_set(e, -EPROTO, "%s: status %d: %.*s", url, k->answer.status,
		(int)(n < 120 ? n : 120), text);
}

/* Keeps the page under its ETag. The cache is only a help: that it fails is nobody's error. */
static void keep(struct keeper *k, const char *url, const char etag[], const struct buf *body)
{
	struct cached_page page = {.fetched_at = k->transport->now(k->transport->context)};

	page.max_age_seconds =
		isnan(k->answer.max_age_seconds) ? DEFAULT_MAX_AGE : k->answer.max_age_seconds;
	snprintf(page.etag, sizeof page.etag, "%s", etag);
	if (k->cache)
		catalogue_cache_keep_page(k->cache, url, &page, body, NULL);
}

struct call {
	const char *url;
	double credits;
	int (*check)(void *context, const struct buf *body, struct err *e);
	void *context;
	struct cached_page known; /* fetched_at 0 = none; its body is in k->body */
};

/* One attempt: 0 when k->body is the page, else the error; whether it may be tried again is another
 * question. */
static int attempt_call(struct keeper *k, const struct call *c, struct err *e)
{
	int code = wait_for(k, seconds_until(k, k->next_call), "the pace that is allowed", e);

	if (code)
		return code;
	answer_clear(&k->answer);
	k->report->calls++;
	code = k->transport->get(k->transport->context, c->url, c->known.etag, &k->answer, e);
	pace(k, c->credits);
	if (code)
		return code;
	if (k->answer.status == 304 && c->known.fetched_at.ns) {
		k->report->unmodified++;
		keep(k, c->url, c->known.etag, NULL);
		return 0;
	}
	if (k->answer.status != 200)
		return refused(k, c->url, e);
	code = c->check ? c->check(c->context, &k->answer.body, e) : 0;
	if (code) {
		err_wrap(e, "%s", c->url);
		return -EPROTO;
	}
	struct buf swapped = k->body;

	k->body = k->answer.body;
	k->answer.body = swapped;
	keep(k, c->url, k->answer.etag, &k->body);
	return 0;
}

static bool is_fresh(struct keeper *k, const struct cached_page *p)
{
	double age = -seconds_until(k, p->fetched_at);

	return age >= 0 && age < p->max_age_seconds;
}

int keeper_page(struct keeper *k, const char *path, double credits,
	int (*check)(void *context, const struct buf *body, struct err *e), void *context,
	struct err *e)
{
	struct buf url = BUF_MAX(4096);
	struct call c = {.credits = credits, .check = check, .context = context};
	int code = 0;

	buf_addf(&url, "%s%s", k->options->url, path);
	c.url = buf_text(&url);
	k->report->pages++;
	k->progress.pages++;
	answer_clear(&k->answer); /* what it says below is of this page */
	tell(k, 0, NULL);
	if (k->cache && catalogue_cache_page(k->cache, c.url, &c.known, &k->body, NULL) == 0 &&
		check && check(context, &k->body, NULL))
		c.known = (struct cached_page){0}; /* what is cached is not what it should be */
	if (!c.known.fetched_at.ns || !is_fresh(k, &c.known)) {
		for (unsigned attempt = 0;; attempt++) {
			const char *why = NULL;

			k->answer.status = 0;
			code = attempt_call(k, &c, e);
			if (code == 0)
				break;
			double later = retry_after(k, code == -EPROTO ? 0 : code, attempt, &why);

			if (isnan(later) || attempt + 1 >= KEEPER_ATTEMPTS)
				break;
			k->report->retries++;
			int stopped = wait_for(k, later, why, e);

			if (stopped) {
				code = stopped;
				break;
			}
		}
	}
	buf_done(&url);
	return code;
}
