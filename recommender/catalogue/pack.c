/* Turns a builder into the packed, sorted catalogue. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "recommender/catalogue/builder.h"
#include "recommender/catalogue/gpus.h"
#include "recommender/catalogue/reference_rates.h"

static int by_identity(const void *left, const void *right)
{
	const struct server *a = left, *b = right;
	int order = strcmp(a->vendor_id, b->vendor_id);

	return order ? order : strcmp(a->server_id, b->server_id);
}

static int by_place(const void *left, const void *right)
{
	const struct price *a = left, *b = right;

	if (a->allocation != b->allocation)
		return a->allocation < b->allocation ? -1 : 1;
	if (a->region != b->region)
		return a->region < b->region ? -1 : 1;
	if (a->currency != b->currency)
		return a->currency < b->currency ? -1 : 1;
	if (a->estimated != b->estimated)
		return a->estimated ? 1 : -1;
	if (a->zone != b->zone)
		return a->zone < b->zone ? -1 : 1;
	return (a->price > b->price) - (a->price < b->price);
}

static void *pack_array(struct catalogue *c, const void *array, size_t n, size_t size)
{
	void *packed = arena_alloc(&c->memory, (n + 1) * size);

	c->bytes += n * size;
	return n ? memcpy(packed, array, n * size) : packed;
}

/* Sorts the servers. rank[i] becomes the new index of the server that was added at index `i`. */
static struct server *pack_servers(struct catalogue_builder *b, struct catalogue *c, uint32_t *rank)
{
	for (size_t i = 0; i < b->n; i++)
		b->server[i].first_price = (uint32_t)i; /* keeps the old index during the sort */
	if (b->n)
		qsort(b->server, b->n, sizeof *b->server, by_identity);

	struct server *server = pack_array(c, b->server, b->n, sizeof *server);

	for (size_t i = 0; i < b->n; i++)
		rank[server[i].first_price] = (uint32_t)i;
	c->n = b->n;
	c->server = server;
	return server;
}

static bool same_region(const struct price *a, const struct price *b)
{
	return a->allocation == b->allocation && a->region == b->region &&
	       a->currency == b->currency && a->estimated == b->estimated;
}

/* Writes the prices of one region to `out`: the lowest price of each zone, or one price if all
 * zones cost the same. `row` is sorted by zone, then price. Returns the number of prices
 * written. */
static size_t pack_region(struct price *out, const struct price *row, size_t n)
{
	bool all_equal = true;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && out[kept - 1].zone == row[i].zone)
			continue;
		all_equal = all_equal && !(row[i].price < row[0].price) &&
			    !(row[i].price > row[0].price);
		out[kept++] = row[i];
	}
	if (kept < 2 || !all_equal)
		return kept;
	out[0].zone = 0;
	return 1;
}

/* Packs the prices of each server, region by region (pack_region). The result overwrites `price`.
 * Returns the number of prices that remain. */
static size_t pack_places(struct price *price, struct server *server, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct price *own = price + server[i].first_price;
		size_t n_own = server[i].n_prices, first = kept;

		if (n_own > 1)
			qsort(own, n_own, sizeof *own, by_place);
		for (size_t from = 0, to; from < n_own; from = to) {
			for (to = from + 1; to < n_own && same_region(&own[from], &own[to]); to++)
				;
			kept += pack_region(price + kept, own + from, to - from);
		}
		server[i].first_price = (uint32_t)first;
		server[i].n_prices = (uint32_t)(kept - first);
	}
	return kept;
}

/* Drops the prices with ALLOCATION_ANY of servers that have an on-demand price. */
static void drop_prices_of_any(struct catalogue_builder *b)
{
	AUTO(freep) bool *ondemand = xcalloc(b->n, sizeof *ondemand);
	size_t kept = 0;

	for (size_t i = 0; i < b->n_prices; i++)
		if (b->price[i].price.allocation == ALLOCATION_ONDEMAND)
			ondemand[b->price[i].server] = true;
	for (size_t i = 0; i < b->n_prices; i++)
		if (b->price[i].price.allocation != ALLOCATION_ANY || !ondemand[b->price[i].server])
			b->price[kept++] = b->price[i];
	b->n_prices = kept;
}

/* Groups the prices by server. Counts the prices of each server first, then copies each price to
 * its place. */
static void pack_prices(struct catalogue_builder *b, struct catalogue *c, struct server *server,
	const uint32_t *rank)
{
	struct price *price = arena_alloc(&c->memory, (b->n_prices + 1) * sizeof *price);
	uint32_t first = 0;

	for (size_t i = 0; i < b->n; i++)
		server[i].n_prices = 0;
	for (size_t i = 0; i < b->n_prices; i++)
		server[rank[b->price[i].server]].n_prices++;
	for (size_t i = 0; i < b->n; i++) {
		server[i].first_price = first;
		first += server[i].n_prices;
		server[i].n_prices = 0;
	}
	for (size_t i = 0; i < b->n_prices; i++) {
		struct server *s = &server[rank[b->price[i].server]];

		price[s->first_price + s->n_prices++] = b->price[i].price;
	}
	c->n_prices = pack_places(price, server, b->n);
	c->bytes += c->n_prices * sizeof *price;
	c->price = price;
}

/* The SCore fields of a server. Each field is also added as a benchmark, because a source may have
 * SCore only as a field. */
static const struct {
	struct benchmark about;
	size_t offset; /* offset of the score in struct server */
} own_scores[] = {
	{{"stress_ng:bestn", "SCore, all CPUs", "CPU", "", true, NULL, NULL},
		offsetof(struct server, score)},
	{{"stress_ng:best1", "SCore, one CPU", "CPU", "", true, NULL, NULL},
		offsetof(struct server, score1)},
};

static double own_score(const struct server *s, size_t offset)
{
	return *(const double *)(const void *)((const char *)s + offset);
}

/* Adds the SCore benchmarks. Call it before the servers are sorted, because scores are indexed in
 * the order in which servers were added. */
static void add_own_scores(struct catalogue_builder *b)
{
	for (size_t i = 0; i < ARRAY_LEN(own_scores); i++) {
		const struct benchmark *about = &own_scores[i].about;
		size_t n = 0;

		for (size_t k = 0; k < b->n; k++)
			n += isnan(own_score(&b->server[k], own_scores[i].offset)) ? 0 : 1;
		if (n == 0 || catalogue_add_benchmark(b, about, NULL))
			continue;
		for (size_t k = 0; k < b->n; k++)
			catalogue_add_score(b, b->server[k].vendor_id, b->server[k].server_id,
				about->benchmark_id,
				own_score(&b->server[k], own_scores[i].offset));
	}
}

/* Returns an array of scores in the order of the packed servers. rank[i]: new index of the server
 * that was added at index i. */
static float *pack_scores(struct catalogue *c, const struct added_scores *a, const uint32_t *rank)
{
	float *score = arena_alloc(&c->memory, (c->n + 1) * sizeof *score);

	for (size_t i = 0; i < c->n; i++)
		score[rank[i]] = i < a->n ? a->score[i] : NAN;
	c->bytes += c->n * sizeof *score;
	return score;
}

static void pack_benchmarks(struct catalogue_builder *b, struct catalogue *c, const uint32_t *rank)
{
	struct benchmark *benchmark =
		arena_alloc(&c->memory, (b->n_benchmarks + 1) * sizeof *benchmark);

	for (size_t i = 0; i < b->n_benchmarks; i++) {
		const struct added_benchmark *a = &b->benchmark[i];
		float *score = pack_scores(c, &a->all, rank);

		benchmark[i] = a->about;
		benchmark[i].score = score;
		benchmark[i].single_score = NULL;
		c->bytes += sizeof *benchmark;
		if (!a->single.n)
			continue;
		benchmark[i].single_score = pack_scores(c, &a->single, rank);
		for (size_t k = 0; k < c->n; k++)
			if (isnan(score[k]))
				score[k] = benchmark[i].single_score[k];
	}
	c->n_benchmarks = b->n_benchmarks;
	c->benchmark = benchmark;
}

/* Returns the lower price. Returns `a` if the currencies cannot be compared. `a` may be NULL. */
static const struct price *lower_price(const struct catalogue *c, const struct price *a,
	const struct price *b)
{
	const struct currency *of = c->currency;

	if (!a)
		return b;
	return b->price * catalogue_currency_rate(&of[b->currency], &of[a->currency]) < a->price ?
		       b :
		       a;
}

/* Sets the lowest on-demand price and the lowest spot price of a server, both in the currency of
 * the on-demand price. Prices of an unknown allocation only set the currency and region of a server
 * without other prices. */
static void summarise_prices(const struct catalogue *c, struct server *s)
{
	const struct price *ondemand = NULL, *spot = NULL, *any = NULL;
	const struct price *first = c->price + s->first_price;

	for (const struct price *p = first; p < first + s->n_prices; p++)
		if (p->allocation == ALLOCATION_ONDEMAND && !p->estimated)
			ondemand = lower_price(c, ondemand, p);
	for (const struct price *p = first; p < first + s->n_prices; p++)
		if (p->allocation == ALLOCATION_SPOT && !p->estimated &&
			(!ondemand || p->currency == ondemand->currency))
			spot = lower_price(c, spot, p);
	for (const struct price *p = first; p < first + s->n_prices; p++)
		if (p->allocation == ALLOCATION_ANY)
			any = lower_price(c, any, p);

	const struct price *named = ondemand ? ondemand : spot ? spot : any;

	s->min_price_ondemand = ondemand ? ondemand->price : (double)NAN;
	s->min_price_spot = spot ? spot->price : (double)NAN;
	if (!named)
		return;
	s->currency = c->currency[named->currency].code;
	s->region_id = c->region[named->region].region_id;
}

/* Fills unknown SCore fields of servers from the benchmarks of the same name. */
static void share_scores(const struct catalogue *c, struct server *server)
{
	const struct benchmark *all = catalogue_benchmark(c, "stress_ng:bestn");
	const struct benchmark *single = catalogue_benchmark(c, "stress_ng:best1");

	for (size_t i = 0; i < c->n; i++) {
		if (all && isnan(server[i].score))
			server[i].score = (double)all->score[i];
		if (single && isnan(server[i].score1))
			server[i].score1 = (double)single->score[i];
	}
}

/* Sets the continents of regions from their countries. Equal texts are the same pointer, so
 * countries are compared by pointer. */
static void name_continents(struct catalogue_builder *b)
{
	for (size_t i = 1; i < b->n_regions; i++) {
		struct region *r = &b->region[i];

		for (size_t k = 0; k < b->n_countries && !*r->continent; k++)
			if (b->country[k].country_id == r->country_id)
				r->continent = b->country[k].continent;
	}
}

/* Sets the manufacturers of GPUs that the source does not name. */
static void name_gpus(struct catalogue_builder *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct server *s = &b->server[i];

		if (s->gpu_count > 0 && !*s->gpu_manufacturer)
			s->gpu_manufacturer = catalogue_keep(b, gpus_manufacturer(s));
	}
}

/* Sets compliance_known of each vendor with frameworks and prices_known of each region with prices,
 * because the source may not have set them. */
static void mark_known(struct catalogue_builder *b)
{
	for (size_t i = 0; i < b->n_vendors; i++)
		if (*b->vendor[i].compliance)
			b->vendor[i].compliance_known = true;
	for (size_t i = 0; i < b->n_prices; i++)
		if (b->price[i].price.region)
			b->region[b->price[i].price.region].prices_known = true;
}

/* Sets the date and source of each rate. A rate from the catalogue's source gets the date of that
 * source. A currency without such a rate gets the compiled-in rate. Prices in a currency without
 * any rate are kept, but cannot be compared. */
static void date_rates(struct catalogue_builder *b, const char *source)
{
	for (size_t i = 1; i < b->n_currencies; i++) {
		struct currency *of = &b->currency[i];
		const struct currency *reference = isnan(of->usd) ? reference_rate(of->code) : NULL;

		if (reference)
			*of = (struct currency){
				of->code, reference->usd, reference->as_of, reference->source};
		else if (!isnan(of->usd))
			*of = (struct currency){of->code, of->usd, b->as_of, source};
	}
}

static void catalogue_release(struct shared *s)
{
	struct catalogue *c = (struct catalogue *)(void *)s;

	arena_done(&c->memory);
	free(c);
}

void catalogue_finish(struct catalogue_builder *b, const char *source, struct catalogue **ret)
{
	struct catalogue *c = xmalloc(sizeof *c);
	AUTO(freep) uint32_t *rank = xcalloc(b->n, sizeof *rank);
	const char *kept_source = catalogue_keep(b, source);

	name_continents(b);
	name_gpus(b);
	mark_known(b);
	drop_prices_of_any(b);
	date_rates(b, kept_source);
	add_own_scores(b);
	*c = (struct catalogue){.source = kept_source, .note = b->note, .as_of = b->as_of};
	c->bytes = b->texts.bytes;
	c->memory = b->memory;
	c->n_vendors = b->n_vendors;
	c->vendor = pack_array(c, b->vendor, b->n_vendors, sizeof *b->vendor);
	c->n_regions = b->n_regions;
	c->region = pack_array(c, b->region, b->n_regions, sizeof *b->region);
	c->n_zones = b->n_zones;
	c->zone = pack_array(c, b->zone, b->n_zones, sizeof *b->zone);
	c->n_currencies = b->n_currencies;
	c->currency = pack_array(c, b->currency, b->n_currencies, sizeof *b->currency);

	struct server *server = pack_servers(b, c, rank);

	pack_prices(b, c, server, rank);
	pack_benchmarks(b, c, rank);
	for (size_t i = 0; i < c->n; i++)
		summarise_prices(c, &server[i]);
	share_scores(c, server);
	shared_init(&c->shared, catalogue_release);
	catalogue_builder_done(b);
	catalogue_builder_init(b);
	*ret = c;
}
