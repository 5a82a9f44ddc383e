/* Connects the Keeper protocol (keeper.h) to the real network, clock and cache. */
#include "exporter/catalogue/update.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/utf8.h"
#include "exporter/core/memory_budget.h"
#include "exporter/core/random_share.h"

#define CONNECT_SECONDS 5.0
#define TOTAL_SECONDS   60.0
#define IDLE_SECONDS    15.0
/* Limit on the text of the regions and benchmarks, in bytes. No command line is longer. */
#define ASKED_MAX (4u << 20)

struct update_network {
	struct download *download;
	struct worker *worker;
};

static int network_get(void *context, const char *url, const char *etag, struct http_response *ret,
	struct err *e)
{
	struct update_network *n = context;

	if (memory_budget_is_short(0))
		return err_set(e, -ENOMEM, "the catalogue does not fit into the memory limit");
	return download_get(n->download, url, etag, ret, e);
}

static bool network_wait(void *context, double seconds)
{
	struct update_network *n = context;

	return worker_wait(n->worker, seconds);
}

static struct wall network_now(void *context)
{
	(void)context;
	return now_read().wall;
}

bool catalogue_is_url(const char *source)
{
	return strncasecmp(source, "http://", 7) == 0 || strncasecmp(source, "https://", 8) == 0;
}

static size_t length_without_slashes(const char *url)
{
	size_t n = strlen(url);

	while (n && url[n - 1] == '/')
		n--;
	return n;
}

static bool is_of(const char *source, const char *url)
{
	size_t n = length_without_slashes(url);

	return length_without_slashes(source) == n && strncmp(source, url, n) == 0;
}

void catalogue_source_text(const struct catalogue_source *s, char ret[CATALOGUE_SOURCE_TEXT_MAX])
{
	struct buf b = BUF_MAX(ASKED_MAX);

	for (size_t i = 0; i < s->regions.n; i++)
		buf_addf(&b, "%s%s", b.len ? " " : "", s->regions.text[i]);
	if (s->home)
		buf_addf(&b, "%s%s", b.len ? " " : "", s->home);
	for (size_t i = 0; i < s->benchmarks.n; i++)
		buf_addf(&b, "%s%s", b.len ? " " : "", s->benchmarks.text[i]);
	utf8_clean(buf_text(&b), b.len, ret, CATALOGUE_SOURCE_TEXT_MAX);
	buf_done(&b);
}

bool catalogue_is_from(const struct catalogue_source *s, const struct cache_origin *o)
{
	struct cache_origin own;

	catalogue_source_text(s, own.source_text);
	return is_of(o->source, s->url) && strcmp(own.source_text, o->source_text) == 0;
}

const char *catalogue_home(const char *vendor_id, const char *region, char out[CATALOGUE_HOME_MAX])
{
	snprintf(out, CATALOGUE_HOME_MAX, "%s~%s", vendor_id, region);
	return *vendor_id && *region ? out : NULL;
}

static double network_random(void *context)
{
	(void)context;
	return random_share();
}

/* Reads the origin of the cached catalogue. If the catalogue was not fetched with the settings in
 * `s`, all members of `ret` are 0. */
static void known_origin(const struct catalogue_source *s, struct cache_origin *ret)
{
	*ret = (struct cache_origin){0};
	/* The cached catalogue may have been imported, or fetched with other settings. */
	if (catalogue_cache_origin(ret, s->cache_path, NULL) == 0 && !catalogue_is_from(s, ret))
		*ret = (struct cache_origin){0};
}

static int save_catalogue(const struct catalogue_source *s, struct catalogue_cache *cache,
	const struct catalogue *c, const struct keeper_report *report, struct err *e)
{
	struct cache_origin origin = {.at = now_read().wall};

	utf8_clean(s->url, strlen(s->url), origin.source, sizeof origin.source);
	snprintf(origin.hash, sizeof origin.hash, "%s", report->hash);
	catalogue_source_text(s, origin.source_text);
	return c ? catalogue_cache_save(cache, c, &origin, e) :
		   catalogue_cache_confirm(cache, origin.at, e);
}

int catalogue_update_over(const struct catalogue_source *s, const struct keeper_transport *t,
	struct catalogue **ret, struct keeper_report *report, struct err *notice, struct err *e)
{
	struct catalogue_cache *cache = NULL;
	struct cache_origin known;

	known_origin(s, &known);
	int no_cache = catalogue_cache_open(&cache, s->cache_path, notice);
	struct keeper_options o = {.url = s->url,
		.regions = s->regions,
		.home = s->home,
		.benchmarks = s->benchmarks,
		.known_hash = s->force ? NULL : known.hash,
		.attended = s->attended,
		.progress = s->progress,
		.progress_context = s->progress_context};
	int code = keeper_fetch(&o, t, cache, ret, report, e);

	if (code == 0 && !no_cache)
		no_cache = save_catalogue(s, cache, *ret, report, notice);
	/* If this call renamed a damaged cache file, report this even when nothing was fetched. A
	 * later call sees only the new file. */
	if (!no_cache)
		catalogue_cache_aside(cache, notice);
	catalogue_cache_close(cache);
	return code;
}

int catalogue_update(const struct catalogue_source *s, struct worker *worker,
	struct catalogue **ret, struct keeper_report *report, struct err *notice, struct err *e)
{
	struct download_options options = {.user_agent = "rightsize-exporter",
		.ca_file = s->ca_file,
		.ca_option = "--catalogue.ca-file",
		.connect_seconds = CONNECT_SECONDS,
		.total_seconds = TOTAL_SECONDS,
		.idle_seconds = IDLE_SECONDS,
		.max_bytes = memory_budget()->page,
		.stop = &worker->stop};
	AUTO(freep) char *url = xstrdup(s->url);
	struct update_network n = {.worker = worker};
	int code;

	if (!catalogue_is_url(url))
		return err_set(e, -EINVAL,
			"\"%.80s\" is no URL that begins with https:// or http://", url);
	code = download_open(&n.download, &options, e);
	url[length_without_slashes(url)] = '\0';

	struct catalogue_source source = *s;
	struct keeper_transport transport = {
		&n, network_get, network_wait, network_now, network_random};

	source.url = url;
	if (code == 0)
		code = catalogue_update_over(&source, &transport, ret, report, notice, e);
	download_close(n.download);
	return code;
}
