/* Fetches the whole catalogue from the Keeper. This file defines the requests, their order, and how
 * the answers are read. */
#include "exporter/catalogue/keeper.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "collectors/base/utf8.h"
#include "recommender/catalogue/build.h"

#define SERVERS_CREDITS 3.0
#define OTHER_CREDITS   1.0

/* Name of the benchmark with the single-core score. It must be requested by name, because a server
 * object has no field for it. */
#define SINGLE_CORE "stress_ng:best1"

#define CREDITS_PER_MINUTE 60.0 /* credits that the Keeper grants each client */
#define WINDOW_SECONDS     60.0 /* period in which credits are counted */
#define FIRST_RETRY        2.0  /* seconds; doubles with each attempt */
#define LONGEST_RETRY      300.0
#define DEFAULT_MAX_AGE    3600.0 /* seconds; used if the answer has no max-age */

/* ---- one page: from the cache while it is fresh, else from the network within the credits ---- */

struct keeper {
	const struct keeper_options *options;
	const struct keeper_transport *transport;
	struct catalogue_cache *cache;
	struct keeper_report *report;
	struct keeper_progress progress;
	struct http_response answer; /* answer to the last call */
	struct buf body;             /* body of the last page, from the network or the cache */
	struct wall next_call;       /* earliest time of the next call */
};

static void keeper_call_begin(struct keeper *k, const struct keeper_options *o,
	const struct keeper_transport *t, struct catalogue_cache *cache, struct keeper_report *r)
{
	*k = (struct keeper){.options = o, .transport = t, .cache = cache, .report = r};
	*r = (struct keeper_report){.expected_servers = NAN};
	k->answer.body = BUF_MAX(CATALOGUE_PAGE_MAX);
	k->body = BUF_MAX(CATALOGUE_PAGE_MAX);
	k->next_call = t->now(t->context);
}

static void keeper_call_end(struct keeper *k)
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

/* Varies a delay randomly by up to 50 %. Otherwise clients that failed at the same time would all
 * retry at the same time. */
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

/* Sets the earliest time of the next call, so that the credits last for the whole window. If the
 * remaining credits are not enough for another such call, the next call waits for a new window. */
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

/* Returns the seconds until the next attempt. NaN = do not retry. *why gets the reason for the
 * wait. */
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

/* Makes the error for a refused call. Its text contains the first line of the answer's body. The
 * body is plain text or {"detail": ...}. Returns -EPROTO. */
static int refused(struct keeper *k, const char *url, struct err *e)
{
	const char *text = buf_text(&k->answer.body);
	size_t n = strcspn(text, "\r\n");

	return err_set(e, -EPROTO, "%s: status %d: %.*s", url, k->answer.status,
		(int)(n < 120 ? n : 120), text);
}

/* Stores the page with its ETag in the cache. Ignores a failure, because the page is needed only to
 * save a later call. */
static void keep(struct keeper *k, const char *url, const char etag[], const struct buf *body)
{
	struct cached_page page = {.fetched_at = k->transport->now(k->transport->context)};

	page.max_age_seconds =
		isnan(k->answer.max_age_seconds) ? DEFAULT_MAX_AGE : k->answer.max_age_seconds;
	snprintf(page.etag, sizeof page.etag, "%s", etag);
	if (k->cache)
		catalogue_cache_keep_page(k->cache, url, &page, body, NULL);
}

struct keeper_request {
	const char *url;
	double credits;
	int (*check)(void *context, const struct buf *body, struct err *e);
	void *context;
	/* The cached page. Its body is in k->body. fetched_at 0 = no page is cached. */
	struct cached_page known;
};

/* Makes one attempt. Returns 0 when k->body is the page, else an error. retry_after decides whether
 * to try again. */
static int attempt_call(struct keeper *k, const struct keeper_request *c, struct err *e)
{
	int code = wait_for(k, seconds_until(k, k->next_call), "the pace that is allowed", e);

	if (code)
		return code;
	response_headers_clear(&k->answer);
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

/* Reads the page of `path` ("/servers?...") into k->body. `credits` is what the call costs, out of
 * 60 credits a minute. `check` validates the body, and may be NULL. If a body fails `check`, it is
 * not stored, and the page is requested again. */
static int keeper_call_page(struct keeper *k, const char *path, double credits,
	int (*check)(void *context, const struct buf *body, struct err *e), void *context,
	struct err *e)
{
	struct buf url = BUF_MAX(4096);
	struct keeper_request c = {.credits = credits, .check = check, .context = context};
	int code = 0;

	buf_addf(&url, "%s%s", k->options->url, path);
	c.url = buf_text(&url);
	k->report->pages++;
	k->progress.pages++;
	response_headers_clear(&k->answer); /* drop the headers of the previous page */
	tell(k, 0, NULL);
	if (k->cache && catalogue_cache_page(k->cache, c.url, &c.known, &k->body, NULL) == 0 &&
		check && check(context, &k->body, NULL))
		c.known = (struct cached_page){0}; /* ignore a page that fails `check` */
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

/* ---- the whole catalogue ---- */

struct fetching {
	struct keeper k;
	struct catalogue_builder *b;
	/* Vendors and regions, for later requests that need their names. */
	struct catalogue *places;
	struct buf path;
};

/* Arguments of read_array. */
struct keeper_reading {
	struct catalogue_builder *b; /* NULL = only check that the page can be parsed */
	const struct json_reading *how;
	size_t objects;
};

static int read_array(void *context, const struct buf *body, struct err *e)
{
	struct keeper_reading *r = context;
	struct catalogue_builder *b = r->b ? r->b : catalogue_builder_new();
	int code = catalogue_read_json(b, buf_text(body), body->len, r->how, &r->objects, e);

	if (!r->b)
		catalogue_builder_free(b);
	return code;
}

/* Fetches a page that is a JSON array, and adds its objects to `b`. A truncated page must not add
 * half of its objects, so the page is first checked as a whole. */
static int fetch_array(struct fetching *f, const char *path, double credits,
	const struct json_reading *how, struct catalogue_builder *b, size_t *objects, struct err *e)
{
	struct keeper_reading look = {NULL, how, 0}, add = {b, how, 0};
	int code = keeper_call_page(&f->k, path, credits, read_array, &look, e);

	if (code == 0)
		code = read_array(&add, &f->k.body, e);
	if (code == 0 && objects)
		*objects = add.objects;
	return code;
}

/* ---- health, tables and benchmarks ---- */

#define YEAR_2255 9e9

/* Sets the date of the catalogue from a Unix time. A time outside 1970 to 2255 is ignored. */
static void set_as_of(struct catalogue_builder *b, double seconds)
{
	char text[WALL_TEXT_MAX];

	if (!(seconds > 0 && seconds < YEAR_2255))
		return;
	wall_text(text, wall_from_seconds(seconds));
	text[10] = '\0';
	catalogue_set_as_of(b, text);
}

/* Checks that `body` is JSON of the expected type. `context` points to a json_type. */
static int is_json(void *context, const struct buf *body, struct err *e)
{
	const json_type *type = context;
	json_t *v = json_loadb(buf_text(body), body->len, 0, NULL);
	int code = 0;

	if (!v || json_typeof(v) != *type)
		code = err_set(e, -EINVAL, "not a JSON %s",
			*type == JSON_OBJECT ? "object" : "array");
	json_decref(v);
	return code;
}

/* Reads the hash of the Keeper's current database. Does not use the cache, because a cached answer
 * would have the hash of an older database. */
static int fetch_health(struct fetching *f, struct err *e)
{
	struct catalogue_cache *cache = f->k.cache;
	json_type object = JSON_OBJECT;

	f->k.progress.doing = "the state of the Keeper";
	f->k.cache = NULL;
	int code = keeper_call_page(&f->k, "/healthcheck", OTHER_CREDITS, is_json, &object, e);

	f->k.cache = cache;
	if (code)
		return f->k.answer.status == 404 ? 0 : code; /* older Keepers lack this path */
	json_t *health = json_loadb(buf_text(&f->k.body), f->k.body.len, 0, NULL);
	const char *hash = json_string_value(json_object_get(health, "database_hash"));

	if (hash)
		utf8_clean(hash, strlen(hash), f->k.report->hash, sizeof f->k.report->hash);
	set_as_of(f->b, json_number_value(json_object_get(health, "database_last_updated")));
	json_decref(health);
	return 0;
}

static const struct {
	const char *path, *doing;
	struct json_reading how;
} tables[] = {
	{"/table/country", "countries", {.kind = READ_COUNTRIES, .lenient = true}},
	{"/table/vendor", "vendors", {.kind = READ_VENDORS, .lenient = true}},
	{"/table/region", "regions", {.kind = READ_REGIONS, .lenient = true}},
};

/* Fetches countries, vendors and regions into the catalogue, and into a second catalogue f->places.
 * Later requests need the names of vendors and regions before the first catalogue is complete. */
static int fetch_tables(struct fetching *f, struct err *e)
{
	struct catalogue_builder *places = catalogue_builder_new();
	int code = 0;

	for (size_t i = 0; code == 0 && i < ARRAY_LEN(tables); i++) {
		struct keeper_reading again = {places, &tables[i].how, 0};

		f->k.progress.doing = tables[i].doing;
		code = fetch_array(f, tables[i].path, OTHER_CREDITS, &tables[i].how, f->b, NULL, e);
		if (code == 0)
			code = read_array(&again, &f->k.body, e);
	}
	catalogue_finish(places, "places", &f->places);
	catalogue_builder_free(places);
	if (code == 0 && f->places->n_vendors == 0)
		code = err_set(e, -EPROTO, "%s/table/vendor: has no vendor", f->k.options->url);
	return code;
}

/* Adds the descriptions of the configured benchmarks. The Keeper has them in a table of all its
 * benchmarks. */
static int fetch_benchmarks(struct fetching *f, struct err *e)
{
	const struct text_list *wanted = &f->k.options->benchmarks;
	json_type array = JSON_ARRAY;
	int code;

	f->k.progress.doing = "benchmarks";
	code = keeper_call_page(&f->k, "/table/benchmark", OTHER_CREDITS, is_json, &array, e);
	if (code)
		return code;
	json_t *list = json_loadb(buf_text(&f->k.body), f->k.body.len, 0, NULL), *v;
	size_t i;

	json_array_foreach(list, i, v)
	{
		const char *id = json_string_value(json_object_get(v, "benchmark_id"));
		const char *name = json_string_value(json_object_get(v, "name"));
		const char *category = json_string_value(json_object_get(v, "category"));
		const char *unit = json_string_value(json_object_get(v, "unit"));
		struct benchmark b = {id, name ? name : "", category ? category : "",
			unit ? unit : "", !json_is_false(json_object_get(v, "higher_is_better")),
			NULL, NULL};

		if (id && (strcmp(id, SINGLE_CORE) == 0 || text_list_has(wanted, id)))
			catalogue_add_benchmark(f->b, &b, NULL);
	}
	json_decref(list);
	return 0;
}

/* ---- servers ---- */

/* Appends a query value. Every byte except letters, digits and -._~ becomes %XX. */
static void add_encoded(struct buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			strchr("-._~", c))
			buf_addc(out, *text);
		else
			buf_addf(out, "%%%02X", c);
	}
}

/* Fetches all pages of the servers with `which`=`value`. `which` is "vendor" or
 * "vendor_regions". */
static int fetch_servers(struct fetching *f, const char *which, const char *value,
	const struct json_reading *how, bool count, struct err *e)
{
	size_t n = KEEPER_PAGE_SIZE;
	int code = 0;

	for (unsigned page = 1; code == 0 && n >= KEEPER_PAGE_SIZE; page++) {
		if (page > KEEPER_PAGES_MAX)
			return err_set(e, -EPROTO, "%s/servers: more than %d pages of %s",
				f->k.options->url, KEEPER_PAGES_MAX, value);
		buf_reset(&f->path);
		buf_addf(&f->path, "/servers?%s=", which);
		add_encoded(&f->path, value);
		buf_addf(&f->path,
			"&vcpus_min=1&only_active=true&currency=USD&limit=%d&page=%u&order_by="
			"server_id&order_dir=asc",
			KEEPER_PAGE_SIZE, page);
		if (count && page == 1)
			buf_adds(&f->path, "&add_total_count_header=true");
		if (how->benchmark_id) {
			buf_adds(&f->path, "&benchmark_id=");
			add_encoded(&f->path, how->benchmark_id);
		}
		code = fetch_array(f, buf_text(&f->path), SERVERS_CREDITS, how, f->b, &n, e);
		f->k.progress.servers = catalogue_builder_servers(f->b);
		if (code == 0 && count && page == 1)
			f->k.report->expected_servers += f->k.answer.total_count;
	}
	return code;
}

static int fetch_vendors(struct fetching *f, const char *benchmark_id, bool count, struct err *e)
{
	struct json_reading how = {.lenient = true, .benchmark_id = benchmark_id};
	char doing[320];
	int code = 0;

	for (size_t i = 0; code == 0 && i < f->places->n_vendors; i++) {
		const char *vendor = f->places->vendor[i].vendor_id;

		snprintf(doing, sizeof doing, "servers of %s", vendor);
		f->k.progress.doing = doing;
		code = fetch_servers(f, "vendor", vendor, &how, count, e);
	}
	f->k.progress.doing = "";
	return code;
}

/* Fetches the prices in every region with this name. Regions of several vendors may have the same
 * name, such as 1000. If `known` is true, it is an error when no region has the name. */
static int fetch_region(struct fetching *f, const char *name, bool known, struct err *e)
{
	char which[2 * FIELD_TEXT_MAX + 1], doing[2 * FIELD_TEXT_MAX + 32];
	size_t found = 0;
	int code = 0;

	for (size_t i = 1; code == 0 && i < f->places->n_regions; i++) {
		const struct region *r = &f->places->region[i];
		struct json_reading how = {.lenient = true, .region_id = r->region_id};

		if (!region_is(r, name))
			continue;
		found++;
		snprintf(which, sizeof which, "%s~%s", r->vendor_id, r->region_id);
		snprintf(doing, sizeof doing, "prices in %s", which);
		f->k.progress.doing = doing;
		code = fetch_servers(f, "vendor_regions", which, &how, false, e);
	}
	f->k.progress.doing = "";
	if (code == 0 && !found && known)
		code = err_set(e, -ENOENT, "%s knows no region \"%.60s\"", f->k.options->url, name);
	return code;
}

/* Checks that at least 90 % of the expected servers were received. The list may change between two
 * pages, but not by 10 %. */
static int check_count(struct fetching *f, struct err *e)
{
	size_t n = catalogue_builder_servers(f->b);
	double expected = f->k.report->expected_servers;

	if (n == 0)
		return err_set(e, -EPROTO, "%s/servers: has no server", f->k.options->url);
	if ((double)n < 0.9 * expected)
		return err_set(e, -EPROTO, "%s/servers: only %zu of %.0f servers came",
			f->k.options->url, n, expected);
	return 0;
}

static int fetch_all(struct fetching *f, struct err *e)
{
	const struct keeper_options *o = f->k.options;
	int code = fetch_health(f, e);

	if (code)
		return code;
	if (o->known_hash && *o->known_hash && strcmp(o->known_hash, f->k.report->hash) == 0) {
		f->k.report->unchanged = true;
		return 0;
	}
	code = fetch_tables(f, e);
	if (code == 0)
		code = fetch_benchmarks(f, e);
	if (code == 0) {
		/* The sum becomes NaN if an answer has no count. A page from the cache has none. */
		f->k.report->expected_servers = 0;
		code = fetch_vendors(f, SINGLE_CORE, true, e);
	}
	for (size_t i = 0; code == 0 && i < o->benchmarks.n; i++)
		code = fetch_vendors(f, o->benchmarks.text[i], false, e);
	for (size_t i = 0; code == 0 && i < o->regions.n; i++)
		code = fetch_region(f, o->regions.text[i], true, e);
	if (code == 0 && o->home)
		code = fetch_region(f, o->home, false, e);
	return code ? code : check_count(f, e);
}

int keeper_fetch(const struct keeper_options *o, const struct keeper_transport *t,
	struct catalogue_cache *cache, struct catalogue **ret, struct keeper_report *r,
	struct err *e)
{
	struct fetching f = {.b = catalogue_builder_new(), .path = BUF_MAX(2048)};
	struct wall start = t->now(t->context);

	keeper_call_begin(&f.k, o, t, cache, r);
	catalogue_set_note(f.b, "Spare Cores, CC BY-SA 4.0");
	int code = fetch_all(&f, e);

	if (code == 0 && r->unchanged)
		*ret = NULL;
	else if (code == 0)
		catalogue_finish(f.b, o->url, ret);
	if (code == 0 && !r->unchanged && cache)
		catalogue_cache_forget_pages(cache, (struct wall){start.ns - 7 * 86400 * NS_PER_S},
			NULL);
	catalogue_free(f.places);
	catalogue_builder_free(f.b);
	keeper_call_end(&f.k);
	buf_done(&f.path);
	return code;
}
