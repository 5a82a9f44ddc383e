/* Fetches the whole catalogue from the Keeper. This file defines the requests, their order, and how
 * the answers are read. */
#include "exporter/catalogue/keeper.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <zlib.h>

#include "collectors/base/utf8.h"
#include "exporter/client/failure.h"
#include "recommender/catalogue/benchmark_config.h"
#include "recommender/catalogue/build.h"

#define SERVERS_CREDITS 3.0
#define OTHER_CREDITS   1.0

/* Name of the benchmark with the single-core score. It must be requested by name, because a server
 * object has no field for it. */
#define SINGLE_CORE "stress_ng:best1"

#define CREDITS_PER_MINUTE 60.0   /* credits that the public Keeper grants each client */
#define CREDITS_MOST       6000.0 /* most credits per minute to use, even if a Keeper grants more */
#define WINDOW_SECONDS     60.0   /* period in which credits are counted */
#define FIRST_RETRY        2.0    /* wait before the first retry, seconds; doubles each time */
#define LONGEST_RETRY      300.0
#define DEFAULT_MAX_AGE    3600.0 /* max-age of an answer that has none, seconds */

/* ---- one page: from the cache while it is fresh, otherwise from the network ---- */

struct keeper {
	const struct keeper_options *options;
	const struct keeper_transport *transport;
	struct catalogue_cache *cache;
	struct keeper_report *report;
	struct keeper_progress progress;
	char host[HOST_MAX];
	struct http_response answer; /* answer to the last call */
	struct buf body;             /* body of the last page, from the network or the cache */
	struct wall called_at;       /* time of the last call; 0 = none */
	struct wall next_call;       /* earliest time of the next call */
	/* limit of credits per minute in the last answer that had one */
	double credits;
	unsigned attempts; /* attempts allowed for each call */
};

static void keeper_call_begin(struct keeper *k, const struct keeper_options *o,
	const struct keeper_transport *t, struct catalogue_cache *cache, struct keeper_report *r)
{
	*k = (struct keeper){.options = o, .transport = t, .cache = cache, .report = r};
	*r = (struct keeper_report){.expected_servers = NAN};
	k->answer.body = BUF_MAX(CATALOGUE_PAGE_MAX);
	k->body = BUF_MAX(CATALOGUE_PAGE_MAX);
	k->next_call = t->now(t->context);
	k->credits = CREDITS_PER_MINUTE;
	k->attempts = KEEPER_ATTEMPTS;
	url_host(o->url, k->host);
	k->progress.host = k->host;
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

/* Call it after a failed attempt. Returns how many attempts the call may have in total. While a
 * person waits, the result is 1 until the Keeper has answered a call. The fetch then soon fails:
 * its first two calls, for the state and for the countries, have one attempt each. */
static unsigned attempts_of(const struct keeper *k)
{
	if (!k->options->attended || k->answer.status == 429)
		return k->attempts;
	if (!k->progress.answered)
		return 1;
	return k->attempts < KEEPER_ATTEMPTS_ATTENDED ? k->attempts : KEEPER_ATTEMPTS_ATTENDED;
}

/* Varies a delay randomly by up to 50 %. Without this, clients that failed at the same time would
 * all retry at the same time. */
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

/* Returns how many seconds the Keeper takes to grant this number of credits; at most
 * LONGEST_RETRY. */
static double seconds_for(const struct keeper *k, double credits)
{
	return fmin(credits * WINDOW_SECONDS / k->credits, LONGEST_RETRY);
}

/* Records a call that cost `credits`, and sets the earliest time of the next call. Calls are spread
 * evenly, so that the credits of a window last until its end. If fewer than `credits` remain, the
 * next call waits for a new window (WINDOW_SECONDS). */
static void pace(struct keeper *k, double credits)
{
	if (k->answer.rate_limit > 0)
		k->credits = fmin(k->answer.rate_limit, CREDITS_MOST);
	k->called_at = k->transport->now(k->transport->context);
	k->next_call = after(k->called_at,
		k->answer.rate_remaining < credits ? WINDOW_SECONDS : seconds_for(k, credits));
}

/* Returns the seconds until a call that costs `credits` may begin. The Keeper grants 60 credits in
 * 60 s. Between two calls, it must grant the credits of the more expensive call. The credits of the
 * earlier call would not be enough: 19 calls of 3 credits, then calls of 1 and 3 credits would use
 * 61 credits in 58 s. */
static double seconds_to_wait(struct keeper *k, double credits)
{
	return fmax(seconds_until(k, k->next_call),
		seconds_until(k, after(k->called_at, seconds_for(k, credits))));
}

/* Refusals of a request by the Keeper or a proxy. Each row is for a range of HTTP statuses. */
static const struct keeper_refusal {
	int from, to; /* first and last status of the row */
	bool passes;
	const char *why;   /* reason to wait and retry, for the progress; NULL = do not retry */
	const char *means; /* meaning and advice, appended to the message; may be "" */
} refusals[] = {
	{401, 403, false, NULL,
		". It, or a proxy on the way, does not let this machine in: check https_proxy"},
	{404, 404, false, NULL, ". This is no Keeper: check --catalogue.url"},
	{407, 407, false, NULL,
		". The proxy asks for a user: https_proxy=http://USER:PASSWORD@HOST:PORT"},
	{408, 408, true, "no answer in time", ". It is too slow: try again later"},
	{429, 429, true, "too many calls",
		". It grants each address 60 credits a minute: try again in some minutes"},
	{500, 599, true, "it is broken or busy", ". It is broken or busy: try again later"},
	{INT_MIN, INT_MAX, false, NULL, ""},
};

static const struct keeper_refusal *refusal_of(int status)
{
	const struct keeper_refusal *found = refusals;

	while (status < found->from || status > found->to)
		found++;
	return found;
}

/* Returns how many seconds to wait after a failed attempt before the next attempt; NaN = do not
 * retry. `attempt` is the number of the failed attempt, from 0 on. `code` is the result of
 * attempt_call. `*why` receives the reason for the wait. */
static double retry_after(struct keeper *k, int code, unsigned attempt, const char **why)
{
	double later = jittered(k, fmin(FIRST_RETRY * (double)(1u << attempt), LONGEST_RETRY));
	int status = k->answer.status;
	const struct keeper_refusal *refusal = refusal_of(status);

	if (code != -EPROTO)
		return failure_passes(code, why) ? later : (double)NAN;
	*why = "the answer is not what it should be";
	if (status == 200)
		return later;
	*why = refusal->why;
	if (!refusal->passes)
		return NAN;
	if (k->answer.retry_after_seconds > 0)
		return k->answer.retry_after_seconds;
	return status == 429 ? WINDOW_SECONDS + jittered(k, 1) : later;
}

/* Returns the length of a URL without its query. Messages leave out the query, because it is
 * long. */
static int length_without_query(const char *url)
{
	return (int)strcspn(url, "?");
}

/* Sets the error for a refused call. Its message contains the first line of the answer's body,
 * which is plain text or {"detail": ...}. Returns -EPROTO. */
static int refused(struct keeper *k, const char *url, struct err *e)
{
	const char *text = buf_text(&k->answer.body);
	size_t n = strcspn(text, "\r\n");

	return err_set(e, -EPROTO, "%.*s: status %d: %.*s%s", length_without_query(url), url,
		k->answer.status, (int)(n < 90 ? n : 90), text,
		refusal_of(k->answer.status)->means);
}

/* Sets the error for an unusable body. The message says what the body seems to be, such as a web
 * page. Returns -EPROTO. */
static int unusable(struct keeper *k, const char *url, struct err *e)
{
	const char *text = buf_text(&k->answer.body);
	json_t *json = json_loadb(text, k->answer.body.len, JSON_DECODE_ANY, NULL);
	const char *means =
		json ? "not the data of a Keeper: check --catalogue.url" :
		text[strspn(text, " \t\r\n")] == '<' ?
		       "a web page, perhaps of a proxy or a sign-in: open it in a browser" :
		       "the answer is cut off or damaged: try again later";

	json_decref(json);
	err_wrap(e, "%.*s: %s", length_without_query(url), url, means);
	return -EPROTO;
}

/* Stores the page in the cache, with its ETag and maximum age. `body` NULL = the stored body is
 * still right. Ignores a failure, which only costs one more call later. */
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

/* Makes one attempt to read a page into k->body. Returns 0 or an error. After an error, retry_after
 * decides whether to try again. */
static int attempt_call(struct keeper *k, const struct keeper_request *c, struct err *e)
{
	int code = wait_for(k, seconds_to_wait(k, c->credits), "the pace that is allowed", e);

	if (code)
		return code;
	response_headers_clear(&k->answer);
	k->report->calls++;
	code = k->transport->get(k->transport->context, c->url, c->known.etag, &k->answer, e);
	pace(k, c->credits);
	if (code)
		return code;
	k->progress.answered = true;
	if (k->answer.status == 304 && c->known.fetched_at.ns) {
		k->report->unmodified++;
		keep(k, c->url, c->known.etag, NULL);
		return 0;
	}
	if (k->answer.status != 200)
		return refused(k, c->url, e);
	code = c->check ? c->check(c->context, &k->answer.body, e) : 0;
	if (code)
		return unusable(k, c->url, e);
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

/* Reads the page of `path` ("/servers?...") into k->body, from the cache or from the Keeper.
 * `credits` is the number of credits that a call costs. `check` validates the body; may be NULL. If
 * a body fails `check`, it is not stored, and the page is requested again. */
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
		c.known = (struct cached_page){0}; /* ignore a cached page that fails `check` */
	if (!c.known.fetched_at.ns || !is_fresh(k, &c.known)) {
		for (unsigned attempt = 0;; attempt++) {
			const char *why = NULL;

			k->answer.status = 0;
			code = attempt_call(k, &c, e);
			if (code == 0)
				break;
			double later = retry_after(k, code, attempt, &why);

			if (isnan(later) || attempt + 1 >= attempts_of(k))
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
	/* A catalogue with only vendors and regions. Later requests contain their names. */
	struct catalogue *places;
	bool *sells; /* [i]: vendor i of `places` has servers */
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

/* Fetches a page that is a JSON array, and adds its objects to `b`. A page that cannot be parsed to
 * its end adds no objects: the page is parsed twice, and only the second time adds objects. */
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
 * would have the hash of an older database. Returns 0 after a failure, too: without the hash, only
 * more calls are made. Examples of failures: an older Keeper has no /healthcheck, and a Keeper whose
 * users run it on a database of their own answers with status 500. */
static int fetch_health(struct fetching *f, struct err *e)
{
	struct catalogue_cache *cache = f->k.cache;
	json_type object = JSON_OBJECT;

	f->k.progress.doing = "the state of the Keeper";
	f->k.cache = NULL;
	f->k.attempts = 1;
	int code = keeper_call_page(&f->k, "/healthcheck", OTHER_CREDITS, is_json, &object, e);

	f->k.attempts = KEEPER_ATTEMPTS;
	f->k.cache = cache;
	if (code)
		return code == -ECANCELED ? code : 0;
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

/* Fetches countries, vendors and regions. Adds them to the new catalogue. Also adds them to
 * f->places, because later requests contain the names of vendors and regions. */
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
	f->sells = xcalloc(f->places->n_vendors, sizeof *f->sells);
	if (code == 0 && f->places->n_vendors == 0)
		code = err_set(e, -EPROTO, "%s/table/vendor: has no vendor", f->k.options->url);
	return code;
}

/* Adds the descriptions of the benchmarks in keeper_options. Reads them from the Keeper's table of
 * all benchmarks. */
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

/* Values of the query parameter best_price_allocation, by json_reading.prices. NULL = left out. */
static const char *const best_price_allocations[] = {
	[PRICES_ALL] = NULL,
	[PRICES_ONDEMAND] = "ONDEMAND_ONLY",
	[PRICES_SPOT] = "SPOT_ONLY",
	[PRICES_NONE] = NULL,
};

/* One pass over the Keeper's servers: which servers to fetch, and what to read from them. Only
 * servers with `which` = `value` are fetched. `which` is the query parameter "vendor" or
 * "vendor_regions". */
struct server_pass {
	const char *which, *value;
	const char *config; /* configuration of the benchmark; NULL = the one with the best score */
	struct json_reading how;
	bool count; /* also ask for the number of servers */
};

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

static void add_parameter(struct buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	buf_addf(out, "&%s=", name);
	add_encoded(out, value);
}

static void write_path(struct buf *path, const struct server_pass *p, unsigned page)
{
	buf_reset(path);
	buf_addf(path, "/servers?%s=", p->which);
	add_encoded(path, p->value);
	buf_addf(path,
		"&vcpus_min=1&only_active=true&currency=USD&limit=%d&page=%u&order_by="
		"server_id&order_dir=asc",
		KEEPER_PAGE_SIZE, page);
	add_parameter(path, "add_total_count_header", p->count && page == 1 ? "true" : NULL);
	add_parameter(path, "best_price_allocation", best_price_allocations[p->how.prices]);
	add_parameter(path, "benchmark_id", p->how.benchmark_id);
	add_parameter(path, "benchmark_config", p->config);
}

static int endless(const struct fetching *f, const struct server_pass *p, struct err *e)
{
	return err_set(e, -EPROTO, "%s/servers: its pages of %s do not end. Check --catalogue.url",
		f->k.options->url, p->value);
}

/* Fetches all pages of a pass over the servers (struct server_pass). If a page equals the previous
 * page, returns an error: the Keeper, or a cache before it, ignores the page number. */
static int fetch_servers(struct fetching *f, const struct server_pass *p, struct err *e)
{
	size_t n = KEEPER_PAGE_SIZE;
	uLong before = 0;
	int code = 0;

	for (unsigned page = 1; code == 0 && n >= KEEPER_PAGE_SIZE; page++) {
		if (page > KEEPER_PAGES_MAX)
			return endless(f, p, e);
		write_path(&f->path, p, page);
		code = fetch_array(f, buf_text(&f->path), SERVERS_CREDITS, &p->how, f->b, &n, e);
		f->k.progress.servers = catalogue_builder_servers(f->b);
		if (code)
			break;
		uLong now = crc32(0, (const Bytef *)buf_text(&f->k.body), (uInt)f->k.body.len);

		if (page > 1 && n > 0 && now == before)
			return endless(f, p, e);
		before = now;
		if (p->count && page == 1)
			f->k.report->expected_servers += f->k.answer.total_count;
	}
	return code;
}

static int fetch_vendors(struct fetching *f, const struct server_pass *each, struct err *e)
{
	char doing[320];
	int code = 0;

	for (size_t i = 0; code == 0 && i < f->places->n_vendors; i++) {
		struct server_pass p = *each;

		p.which = "vendor";
		p.value = f->places->vendor[i].vendor_id;
		snprintf(doing, sizeof doing, "servers of %s", p.value);
		f->k.progress.doing = doing;
		size_t before = catalogue_builder_servers(f->b);

		code = fetch_servers(f, &p, e);
		f->sells[i] = f->sells[i] || catalogue_builder_servers(f->b) > before;
	}
	f->k.progress.doing = "";
	return code;
}

/* Fetches the prices of one region: first the on-demand prices, then the spot prices. Then sets
 * prices_known of the region. From then on, a server without a price counts as not for rent in this
 * region. */
static int fetch_prices(struct fetching *f, const struct region *r, struct err *e)
{
	char value[2 * FIELD_TEXT_MAX + 1], doing[2 * FIELD_TEXT_MAX + 32];
	struct server_pass p = {.which = "vendor_regions",
		.value = value,
		.how = {.lenient = true, .region_id = r->region_id, .prices = PRICES_ONDEMAND}};
	struct region known = *r;

	snprintf(value, sizeof value, "%s~%s", r->vendor_id, r->region_id);
	snprintf(doing, sizeof doing, "prices in %s", value);
	f->k.progress.doing = doing;
	int code = fetch_servers(f, &p, e);

	p.how.prices = PRICES_SPOT;
	if (code == 0)
		code = fetch_servers(f, &p, e);
	known.prices_known = true;
	return code ? code : catalogue_add_region(f->b, &known, e);
}

/* Fetches the prices in every region with this name. Regions of several vendors may have the same
 * name, such as 1000. If no region has the name, returns -ENOENT if `known` is true, otherwise
 * 0. */
static int fetch_region(struct fetching *f, const char *name, bool known, struct err *e)
{
	size_t found = 0;
	int code = 0;

	for (size_t i = 1; code == 0 && i < f->places->n_regions; i++) {
		if (!region_is(&f->places->region[i], name))
			continue;
		found++;
		code = fetch_prices(f, &f->places->region[i], e);
	}
	f->k.progress.doing = "";
	if (code == 0 && !found && known)
		code = err_set(e, -ENOENT, "%s knows no region \"%.60s\"", f->k.options->url, name);
	return code;
}

/* ---- compliance frameworks ---- */

/* Finds out whether vendor `i` meets a compliance framework. The Keeper has no table for this, but
 * it can filter servers by vendor and framework. The call requests one server with both filters. If
 * the vendor does not meet the framework, the Keeper ignores the filters and returns the first of
 * all servers. The sort order is chosen so that this server belongs to another vendor. */
static int ask_framework(struct fetching *f, size_t i, const char *framework, bool *ret,
	struct err *e)
{
	const char *vendor = f->places->vendor[i].vendor_id;
	json_type array = JSON_ARRAY;
	bool first = true;

	for (size_t k = 0; k < f->places->n_vendors; k++)
		if (f->sells[k] && strcmp(f->places->vendor[k].vendor_id, vendor) < 0)
			first = false;
	buf_reset(&f->path);
	buf_adds(&f->path, "/servers?vendor=");
	add_encoded(&f->path, vendor);
	add_parameter(&f->path, "compliance_framework", framework);
	buf_addf(&f->path,
		"&vcpus_min=1&only_active=true&limit=1&page=1&order_by=vendor_id&order_dir=%s",
		first ? "desc" : "asc");
	int code = keeper_call_page(&f->k, buf_text(&f->path), SERVERS_CREDITS, is_json, &array, e);

	if (code)
		return code;
	json_t *list = json_loadb(buf_text(&f->k.body), f->k.body.len, 0, NULL);
	const char *found =
		json_string_value(json_object_get(json_array_get(list, 0), "vendor_id"));

	*ret = found && strcmp(found, vendor) == 0;
	json_decref(list);
	return 0;
}

static int fetch_frameworks_of(struct fetching *f, size_t vendor, const json_t *list, struct err *e)
{
	struct buf met AUTO(buf_done) = BUF_MAX(FIELD_TEXT_MAX - 1);
	struct vendor known = f->places->vendor[vendor];
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *id =
			json_string_value(json_object_get(item, "compliance_framework_id"));
		bool meets = false;
		int code = id && !strchr(id, ' ') ? ask_framework(f, vendor, id, &meets, e) : 0;

		if (code)
			return code;
		if (meets)
			buf_addf(&met, "%s%s", met.len ? " " : "", id);
	}
	if (met.full)
		return 0;
	known.compliance = buf_text(&met);
	known.compliance_known = true;
	return catalogue_add_vendor(f->b, &known, e);
}

/* Fetches which compliance frameworks each vendor meets. If the Keeper gives no answer, they stay
 * unknown and the fetch goes on, because prices are useful without them. Needs two vendors:
 * ask_framework recognises a "no" by a server of another vendor. */
static int fetch_frameworks(struct fetching *f, struct err *e)
{
	json_type array = JSON_ARRAY;
	size_t selling = 0;
	int code;

	for (size_t i = 0; i < f->places->n_vendors; i++)
		selling += f->sells[i];
	if (selling < 2)
		return 0;
	f->k.progress.doing = "compliance frameworks";
	code = keeper_call_page(&f->k, "/table/compliance_framework", OTHER_CREDITS, is_json,
		&array, e);
	if (code == 0) {
		json_t *list = json_loadb(buf_text(&f->k.body), f->k.body.len, 0, NULL);

		for (size_t i = 0; code == 0 && i < f->places->n_vendors; i++)
			code = f->sells[i] ? fetch_frameworks_of(f, i, list, e) : 0;
		json_decref(list);
	}
	f->k.progress.doing = "";
	return code == -ECANCELED ? code : 0;
}

/* ---- requested benchmarks ---- */

/* Fetches the best scores of a benchmark over all configurations. Some configurations only set the
 * number of cores to one. If the benchmark has such a configuration, also fetches the scores of the
 * first one. */
static int fetch_scores(struct fetching *f, const char *benchmark_id, const json_t *configs,
	struct err *e)
{
	struct server_pass p = {
		.how = {.lenient = true, .benchmark_id = benchmark_id, .prices = PRICES_NONE}};
	int code = fetch_vendors(f, &p, e);
	const json_t *item;
	size_t i;

	p.how.single_core = true;
	json_array_foreach(configs, i, item)
	{
		const char *id = json_string_value(json_object_get(item, "benchmark_id"));
		const char *config = json_string_value(json_object_get(item, "config"));

		if (code || !id || !config || strcmp(id, benchmark_id) != 0 ||
			benchmark_config_cores(config, strlen(config)) != CORES_ONE_NO_MORE)
			continue;
		p.config = config;
		return fetch_vendors(f, &p, e);
	}
	return code;
}

static int fetch_more_scores(struct fetching *f, struct err *e)
{
	const struct text_list *wanted = &f->k.options->benchmarks;
	json_type array = JSON_ARRAY;
	int code = 0;

	if (!wanted->n)
		return 0;
	f->k.progress.doing = "configurations of benchmarks";
	code = keeper_call_page(&f->k, "/benchmark_configs", OTHER_CREDITS, is_json, &array, e);
	if (code && f->k.answer.status != 404) /* older Keepers lack this path */
		return code;
	json_t *configs = code ? NULL : json_loadb(buf_text(&f->k.body), f->k.body.len, 0, NULL);

	code = 0;
	for (size_t i = 0; code == 0 && i < wanted->n; i++)
		code = fetch_scores(f, wanted->text[i], configs, e);
	json_decref(configs);
	return code;
}

/* Checks that at least 90 % of the expected servers were received. Some may be missing, because the
 * list can change between two pages, but it does not change by 10 %. */
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

/* Checks that at least half of the servers have a price. The Keeper was asked only for servers with
 * a price. If most have none, this program cannot read the Keeper's format, and the catalogue must
 * not replace an older one. */
static int check_prices(const struct catalogue *c, const char *url, struct err *e)
{
	size_t priced = 0;

	for (size_t i = 0; i < c->n; i++)
		priced += c->server[i].n_prices > 0;
	if (2 * priced >= c->n)
		return 0;
	return err_set(e, -EPROTO,
		"%s/servers: %zu of %zu servers have a price that can be read. Check --catalogue.url; "
		"a newer Keeper needs a newer version of this program",
		url, priced, c->n);
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
		/* The sum becomes NaN if one answer has no count, such as a page from the cache. */
		f->k.report->expected_servers = 0;
		code = fetch_vendors(f,
			&(struct server_pass){.how = {.lenient = true, .benchmark_id = SINGLE_CORE},
				.count = true},
			e);
	}
	if (code == 0)
		code = fetch_frameworks(f, e);
	if (code == 0)
		code = fetch_more_scores(f, e);
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

	if (code == 0 && r->unchanged) {
		*ret = NULL;
	} else if (code == 0) {
		struct catalogue *c = NULL;

		catalogue_finish(f.b, o->url, &c);
		code = check_prices(c, o->url, e);
		if (code)
			catalogue_free(c);
		else
			*ret = c;
	}
	if (code == 0 && !r->unchanged && cache)
		catalogue_cache_forget_pages(cache, (struct wall){start.ns - 7 * 86400 * NS_PER_S},
			NULL);
	catalogue_free(f.places);
	free(f.sells);
	catalogue_builder_free(f.b);
	keeper_call_end(&f.k);
	buf_done(&f.path);
	return code;
}
