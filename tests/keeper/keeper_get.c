/* Fetches a Keeper's catalogue over the real network. The program never waits: it sets its clock
 * forward instead. tests/keeper/test_keeper.py uses it.
 *
 * keeper_get URL CACHE CA-FILE|- REGION...
 *
 * Prints one line: "ok servers=N prices=N calls=N retries=N unmodified=N hash=..." or "error:
 * ...; calls=N retries=N waited=SECONDS", with "notice: ..." before it if there is one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/catalogue/update.h"

struct hurry {
	struct download *download;
	double skipped; /* seconds */
};

static int hurry_get(void *context, const char *url, const char *etag, struct http_response *ret,
	struct err *e)
{
	struct hurry *h = context;

	return download_get(h->download, url, etag, ret, e);
}

static bool hurry_wait(void *context, double seconds)
{
	struct hurry *h = context;

	h->skipped += seconds;
	return true;
}

static struct wall hurry_now(void *context)
{
	struct hurry *h = context;

	return (struct wall){.ns = now_read().wall.ns + (int64_t)(h->skipped * 1e9)};
}

static double hurry_random(void *context)
{
	(void)context;
	return 0.5;
}

int main(int argc, char **argv)
{
	struct download_options options = {.user_agent = "keeper_get",
		.ca_option = "--catalogue.ca-file",
		.connect_seconds = 10,
		.total_seconds = 10,
		.max_bytes = CATALOGUE_PAGE_MAX};
	struct hurry h = {0};
	struct keeper_transport transport = {&h, hurry_get, hurry_wait, hurry_now, hurry_random};
	struct catalogue *c = NULL;
	struct keeper_report r = {0};
	struct err e = {0}, notice = {0};

	if (argc < 4) {
		fprintf(stderr, "usage: %s URL CACHE CA-FILE|- REGION...\n", argv[0]);
		return 2;
	}
	if (strcmp(argv[3], "-") != 0)
		options.ca_file = argv[3];
	struct catalogue_source s = {.url = argv[1],
		.cache_path = argv[2],
		.regions = {(size_t)argc - 4, (const char *const *)argv + 4},
		.force = true};
	int code = download_open(&h.download, &options, &e);

	if (code == 0)
		code = catalogue_update_over(&s, &transport, &c, &r, &notice, &e);
	printf("%s", notice.code ? "notice: " : "");
	printf("%s", notice.code ? notice.text : "");
	if (code)
		printf("error: %s; calls=%u retries=%u waited=%.0f\n", e.text, r.calls, r.retries,
			h.skipped);
	else
		printf("ok servers=%zu prices=%zu calls=%u retries=%u unmodified=%u waited=%.0f "
		       "as_of=%s hash=%s\n",
			c->n, c->n_prices, r.calls, r.retries, r.unmodified, h.skipped, c->as_of,
			r.hash);
	catalogue_free(c);
	download_close(h.download);
	return code ? 1 : 0;
}
