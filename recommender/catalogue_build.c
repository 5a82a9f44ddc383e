/* Collects servers and prices in any order, then sorts and packs them. */
#include "recommender/catalogue_build.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recommender/names.h"
#include "recommender/server_fields.h"

#define REGIONS_MAX    65535
#define CURRENCIES_MAX 255

struct added_price {
	struct price price;
	uint32_t server; /* in the order they were added, later in the catalogue's order */
};

struct catalogue_builder {
	struct arena memory;  /* becomes the catalogue's */
	struct arena scratch; /* keys of the lookups */
	struct names texts, by_id, by_region, by_zone;
	const char *note, *as_of;
	size_t n, room;
	struct server *server;
	size_t n_prices, prices_room;
	struct added_price *price;
	size_t n_regions, regions_room;
	struct region *region;
	size_t n_currencies, currencies_room;
	struct currency *currency;
};

static const char *keep(struct catalogue_builder *b, const char *text)
{
	return names_add(&b->texts, text, strlen(text))->text;
}

static void builder_begin(struct catalogue_builder *b)
{
	*b = (struct catalogue_builder){.note = "", .as_of = ""};
	b->texts.arena = &b->memory;
	b->by_id.arena = b->by_region.arena = b->by_zone.arena = &b->scratch;

	const struct region nowhere = {keep(b, ""), keep(b, "")};
	const struct currency dollar = {keep(b, "USD"), 1};

	GROW(b->region, b->n_regions, b->regions_room);
	b->region[b->n_regions++] = nowhere;
	GROW(b->currency, b->n_currencies, b->currencies_room);
	b->currency[b->n_currencies++] = dollar;
}

/* Everything but memory, which may have moved on. */
static void builder_drop(struct catalogue_builder *b)
{
	names_done(&b->texts);
	names_done(&b->by_id);
	names_done(&b->by_region);
	names_done(&b->by_zone);
	arena_done(&b->scratch);
	free(b->server);
	free(b->price);
	free(b->region);
	free(b->currency);
}

struct catalogue_builder *catalogue_builder_new(void)
{
	struct catalogue_builder *b = xmalloc(sizeof *b);

	builder_begin(b);
	return b;
}

void catalogue_builder_free(struct catalogue_builder *b)
{
	if (!b)
		return;
	builder_drop(b);
	arena_done(&b->memory);
	free(b);
}

void catalogue_set_note(struct catalogue_builder *b, const char *note)
{
	b->note = keep(b, note);
}

void catalogue_set_as_of(struct catalogue_builder *b, const char *as_of)
{
	b->as_of = keep(b, as_of);
}

static int currency_index(
	struct catalogue_builder *b, const char *code, uint8_t *ret, struct err *e)
{
	for (size_t i = 0; i < b->n_currencies; i++)
		if (strcmp(b->currency[i].code, code) == 0) {
			*ret = (uint8_t)i;
			return 0;
		}
	if (strlen(code) != 3 || strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3)
		return err_set(e, -EINVAL,
			"currency: \"%.40s\" is not a code of three capitals, as USD or EUR", code);
	if (b->n_currencies > CURRENCIES_MAX)
		return err_set(e, -E2BIG, "currency: more than %d", CURRENCIES_MAX);
	GROW(b->currency, b->n_currencies, b->currencies_room);
	*ret = (uint8_t)b->n_currencies;
	b->currency[b->n_currencies++] = (struct currency){keep(b, code), NAN};
	return 0;
}

int catalogue_set_rate(struct catalogue_builder *b, const char *currency, double usd, struct err *e)
{
	uint8_t i;
	int code = currency_index(b, currency, &i, e);

	if (code)
		return code;
	if (!(usd > 0) || isinf(usd) || (i == 0 && usd < 1) || (i == 0 && usd > 1))
		return err_set(
			e, -EINVAL, "rate: %g US dollars for one %s cannot be", usd, currency);
	b->currency[i].usd = usd;
	return 0;
}

static int region_index(struct catalogue_builder *b, const char *vendor, const char *region,
	uint16_t *ret, struct err *e)
{
	*ret = 0;
	if (!*region)
		return 0;
	struct name *known = names_add_pair(&b->by_region, vendor, region);

	if (!known->value) {
		if (b->n_regions > REGIONS_MAX)
			return err_set(e, -E2BIG, "more than %d regions", REGIONS_MAX);
		GROW(b->region, b->n_regions, b->regions_room);
		known->value = (uint32_t)b->n_regions;
		b->region[b->n_regions++] = (struct region){keep(b, vendor), keep(b, region)};
	}
	*ret = (uint16_t)known->value;
	return 0;
}

/* Zones are told apart, not described: a number within the catalogue. */
static int zone_index(
	struct catalogue_builder *b, const struct price_row *row, uint16_t *ret, struct err *e)
{
	*ret = 0;
	if (!row->zone_id || !*row->zone_id)
		return 0;
	struct name *known = names_add_pair(&b->by_zone, row->vendor_id, row->zone_id);

	if (!known->value) {
		if (b->by_zone.n > REGIONS_MAX)
			return err_set(e, -E2BIG, "more than %d zones", REGIONS_MAX);
		known->value = (uint32_t)b->by_zone.n;
	}
	*ret = (uint16_t)known->value;
	return 0;
}

static int add_price(
	struct catalogue_builder *b, uint32_t server, const struct price_row *row, struct err *e)
{
	struct price p = {.price = row->price, .allocation = (uint8_t)row->allocation};
	int code;

	if (!(row->price >= 0) || isinf(row->price))
		return err_set(e, -EINVAL, "price: %g cannot be", row->price);
	if (b->n_prices >= CATALOGUE_PRICES_MAX)
		return err_set(e, -E2BIG, "more than %d prices", CATALOGUE_PRICES_MAX);
	if ((code = currency_index(b, row->currency, &p.currency, e)) ||
		(code = region_index(b, row->vendor_id, row->region_id, &p.region, e)) ||
		(code = zone_index(b, row, &p.zone, e)))
		return code;
	GROW(b->price, b->n_prices, b->prices_room);
	b->price[b->n_prices++] = (struct added_price){p, server};
	return 0;
}

int catalogue_add_price(struct catalogue_builder *b, const struct price_row *row, struct err *e)
{
	uint32_t known = names_add_pair(&b->by_id, row->vendor_id, row->server_id)->value;

	if (!known)
		return err_set(e, -ENOENT, "a price of %s/%s, which is not in the catalogue",
			row->vendor_id, row->server_id);
	return add_price(b, known - 1, row, e);
}

static int add_own_prices(
	struct catalogue_builder *b, uint32_t server, const struct server *s, struct err *e)
{
	const double price[] = {s->min_price_ondemand, s->min_price_spot};
	const enum allocation allocation[] = {ALLOCATION_ONDEMAND, ALLOCATION_SPOT};
	struct price_row row = {s->vendor_id, s->server_id, s->region_id, "", s->currency,
		ALLOCATION_ONDEMAND, NAN};
	uint8_t currency;
	size_t before = b->n_prices;
	int code = currency_index(b, s->currency, &currency, e);

	for (size_t i = 0; code == 0 && i < ARRAY_LEN(price); i++) {
		row.allocation = allocation[i];
		row.price = price[i];
		if (!isnan(row.price))
			code = add_price(b, server, &row, e);
	}
	if (code)
		b->n_prices = before;
	return code;
}

int catalogue_add_server(struct catalogue_builder *b, const struct server *s, struct err *e)
{
	if (!*s->vendor_id || !*s->server_id)
		return err_set(e, -EINVAL, "a server without %s",
			*s->vendor_id ? "server_id" : "vendor_id");
	if (b->n >= CATALOGUE_SERVERS_MAX)
		return err_set(e, -E2BIG, "more than %d servers", CATALOGUE_SERVERS_MAX);
	struct name *known = names_add_pair(&b->by_id, s->vendor_id, s->server_id);

	if (known->value)
		return err_set(e, -EEXIST, "%s/%s is there twice", s->vendor_id, s->server_id);

	struct server added = *s;

	if (!*added.api_reference)
		added.api_reference = added.server_id;
	if (!*added.display_name)
		added.display_name = added.api_reference;
	if (!*added.currency)
		added.currency = "USD";
	int code = add_own_prices(b, (uint32_t)b->n, &added, e);

	if (code)
		return code;
	for (const struct server_field *f = server_fields; f->name; f++)
		if (f->kind == FIELD_TEXT) {
			const char **text = (const char **)(void *)((char *)&added + f->offset);

			*text = keep(b, *text);
		}
	known->value = (uint32_t)b->n + 1;
	GROW(b->server, b->n, b->room);
	b->server[b->n++] = added;
	return 0;
}

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
	if (a->zone != b->zone)
		return a->zone < b->zone ? -1 : 1;
	return (a->price > b->price) - (a->price < b->price);
}

/* The servers in their order; rank[i]: the new place of the one added as number i. */
static struct server *pack_servers(struct catalogue_builder *b, uint32_t *rank)
{
	struct server *server = arena_alloc(&b->memory, (b->n + 1) * sizeof *server);

	for (size_t i = 0; i < b->n; i++)
		b->server[i].first_price = (uint32_t)i; /* for the time of sorting */
	if (b->n) {
		qsort(b->server, b->n, sizeof *b->server, by_identity);
		memcpy(server, b->server, b->n * sizeof *server);
	}
	for (size_t i = 0; i < b->n; i++)
		rank[server[i].first_price] = (uint32_t)i;
	return server;
}

/* The prices, grouped by server: count, then place. */
static struct price *pack_prices(
	struct catalogue_builder *b, struct server *server, const uint32_t *rank)
{
	struct price *price = arena_alloc(&b->memory, (b->n_prices + 1) * sizeof *price);
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
	for (size_t i = 0; i < b->n; i++)
		if (server[i].n_prices > 1)
			qsort(price + server[i].first_price, server[i].n_prices, sizeof *price,
				by_place);
	return price;
}

/* The lower of two prices; of two that cannot be compared, the first. NULL is none. */
static const struct price *lower(
	const struct catalogue *c, const struct price *a, const struct price *b)
{
	if (!a)
		return b;
	if (a->currency == b->currency)
		return b->price < a->price ? b : a;
	return price_usd(c, b) < price_usd(c, a) ? b : a;
}

/* The server's lowest prices, both in the currency of the one on demand. */
static void summarise_prices(const struct catalogue *c, struct server *s)
{
	const struct price *ondemand = NULL, *spot = NULL;
	const struct price *first = c->price + s->first_price;

	for (const struct price *p = first; p < first + s->n_prices; p++)
		if (p->allocation == ALLOCATION_ONDEMAND)
			ondemand = lower(c, ondemand, p);
	for (const struct price *p = first; p < first + s->n_prices; p++)
		if (p->allocation == ALLOCATION_SPOT &&
			(!ondemand || p->currency == ondemand->currency))
			spot = lower(c, spot, p);

	const struct price *named = ondemand ? ondemand : spot;

	s->min_price_ondemand = ondemand ? ondemand->price : (double)NAN;
	s->min_price_spot = spot ? spot->price : (double)NAN;
	if (!named)
		return;
	s->currency = c->currency[named->currency].code;
	s->region_id = c->region[named->region].region_id;
}

static void *pack(struct arena *memory, const void *array, size_t n, size_t size)
{
	return memcpy(arena_alloc(memory, n * size), array, n * size);
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
	struct server *server = pack_servers(b, rank);

	*c = (struct catalogue){
		.source = keep(b, source),
		.note = b->note,
		.as_of = b->as_of,
		.n = b->n,
		.server = server,
		.n_prices = b->n_prices,
		.price = pack_prices(b, server, rank),
		.n_regions = b->n_regions,
		.region = pack(&b->memory, b->region, b->n_regions, sizeof *b->region),
		.n_currencies = b->n_currencies,
		.currency = pack(&b->memory, b->currency, b->n_currencies, sizeof *b->currency),
	};
	for (size_t i = 0; i < c->n; i++)
		summarise_prices(c, &server[i]);
	shared_init(&c->shared, catalogue_release);
	c->memory = b->memory;
	builder_drop(b);
	builder_begin(b);
	*ret = c;
}
