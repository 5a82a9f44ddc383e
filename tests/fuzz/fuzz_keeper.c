/* The input is the answers of a Keeper, separated by "@@". Each call gets the next answer: a
 * status, then header lines up to an empty line, then the body. A wait takes no time. After
 * WAITS_MAX waits the fetch is stopped. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "exporter/catalogue/keeper.h"
#include "tests/fuzz/fuzz.h"

#define CALLS_MAX 60
#define WAITS_MAX 200

struct world {
	struct scan rest;
	unsigned calls, waits;
	double seconds;
};

/* Returns the next answer. After the last answer all further ones are empty. */
static struct scan next_answer(struct world *w)
{
	const char *end = w->rest.at == w->rest.end ?
				  NULL :
				  memmem(w->rest.at, (size_t)(w->rest.end - w->rest.at), "@@", 2);
	struct scan ret = {w->rest.at, end ? end : w->rest.end};

	w->rest.at = end ? end + 2 : w->rest.end;
	return ret;
}

static int get(void *context, const char *url, const char *etag, struct http_response *ret,
	struct err *e)
{
	struct world *w = context;
	struct scan s = next_answer(w), line;
	uint64_t status = 0;

	assert(strncmp(url, "http://k/", 9) == 0);
	assert(!etag || !strpbrk(etag, "\r\n"));
	if (w->calls++ > CALLS_MAX)
		return err_set(e, -ECANCELED, "enough");
	response_headers_clear(ret);
	if (!scan_line(&s, &line) || !scan_u64(&line, &status))
		return err_set(e, -EIO, "no answer");
	ret->status = (int)(status % 1000);
	while (scan_line(&s, &line) && line.at < line.end)
		response_headers_read(ret, line.at, (size_t)(line.end - line.at));
	buf_add(&ret->body, s.at, (size_t)(s.end - s.at));
	assert(!(ret->max_age_seconds < 0) && !(ret->retry_after_seconds < 0));
	assert(memchr(ret->etag, '\0', sizeof ret->etag));
	return 0;
}

static bool wait_(void *context, double seconds)
{
	struct world *w = context;

	assert(seconds > 0 && seconds < 1e6);
	w->seconds += seconds;
	return w->waits++ < WAITS_MAX;
}

static struct wall now(void *context)
{
	struct world *w = context;

	return (struct wall){(int64_t)((1.8e9 + w->seconds) * 1e9)};
}

static double half(void *context)
{
	(void)context;
	return 0.5;
}

static void fetch(const struct keeper_options *o, const struct keeper_transport *t,
	struct catalogue_cache *cache)
{
	struct catalogue *c = NULL;
	struct keeper_report r;
	struct err e = {0};
	int code = keeper_fetch(o, t, cache, &c, &r, &e);

	assert((code == 0) == (c || r.unchanged));
	assert(code == 0 || e.text[0]);
	assert(memchr(r.hash, '\0', sizeof r.hash));
	catalogue_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *regions[] = {"here"}, *benchmarks[] = {"geekbench:score"};
	struct world w = {.rest = {(const char *)data, (const char *)data + size}};
	struct keeper_transport t = {&w, get, wait_, now, half};
	struct keeper_options o = {.url = "http://k",
		.regions = {1, regions},
		.benchmarks = {1, benchmarks},
		.known_hash = "h0"};
	struct catalogue_cache *cache = NULL;
	struct err e = {0};

	/* If the input has an odd length, there is a cache and a second fetch. The second fetch
	 * finds pages in the cache that are still fresh, or that the Keeper confirms. */
	if (size % 2 && catalogue_cache_open(&cache, ":memory:", &e))
		abort();
	fetch(&o, &t, cache);
	if (cache)
		fetch(&o, &t, cache);
	catalogue_cache_close(cache);
	return 0;
}
