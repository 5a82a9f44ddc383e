#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recommender/catalogue/builder.h"
#include "recommender/catalogue/reference_rates.h"
#include "recommender/catalogue/regions.h"

#define INDEX_MAX 65535 /* largest index of a vendor, region or zone: 16 bits in struct price */

static const char *const storage_types[] = {"hdd", "ssd", "nvme ssd", "network"};

const char *catalogue_keep(struct catalogue_builder *b, const char *text)
{
	return string_table_add(&b->texts, text, strlen(text))->text;
}

static void keep_texts(struct catalogue_builder *b, enum field_part part, void *object)
{
	for (const struct field *f = fields; f->name; f++)
		if (f->part == part && f->kind == FIELD_TEXT) {
			const char **text = (const char **)(void *)((char *)object + f->offset);

			*text = catalogue_keep(b, *text);
		}
}

void catalogue_builder_init(struct catalogue_builder *b)
{
	struct field_row nothing;

	*b = (struct catalogue_builder){.note = "", .as_of = ""};
	b->texts.arena = &b->memory;
	b->by_server.arena = b->by_vendor.arena = b->by_region.arena = &b->scratch;
	b->by_zone.arena = b->by_benchmark.arena = &b->scratch;
	field_row_clear(&nothing);
	keep_texts(b, PART_REGION, &nothing.region);
	GROW(b->region, b->n_regions, b->regions_room);
	b->region[b->n_regions++] = nothing.region;
	GROW(b->zone, b->n_zones, b->zones_room);
	b->zone[b->n_zones++] = catalogue_keep(b, "");
	GROW(b->currency, b->n_currencies, b->currencies_room);
	b->currency[b->n_currencies++] = (struct currency){catalogue_keep(b, "USD"), 1, "", ""};
}

void catalogue_builder_done(struct catalogue_builder *b)
{
	struct string_table *tables[] = {&b->texts, &b->by_server, &b->by_vendor, &b->by_region,
		&b->by_zone, &b->by_benchmark};

	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		string_table_done(tables[i]);
	arena_done(&b->scratch);
	for (size_t i = 0; i < b->n_benchmarks; i++) {
		free(b->benchmark[i].all.score);
		free(b->benchmark[i].single.score);
	}
	free(b->benchmark);
	free(b->server);
	free(b->price);
	free(b->vendor);
	free(b->region);
	free(b->country);
	free(b->zone);
	free(b->currency);
}

struct catalogue_builder *catalogue_builder_new(void)
{
	struct catalogue_builder *b = xmalloc(sizeof *b);

	catalogue_builder_init(b);
	return b;
}

void catalogue_builder_free(struct catalogue_builder *b)
{
	if (!b)
		return;
	catalogue_builder_done(b);
	arena_done(&b->memory);
	free(b);
}

size_t catalogue_builder_servers(const struct catalogue_builder *b)
{
	return b->n;
}

void catalogue_set_note(struct catalogue_builder *b, const char *note)
{
	b->note = catalogue_keep(b, note);
}

void catalogue_set_as_of(struct catalogue_builder *b, const char *as_of)
{
	b->as_of = catalogue_keep(b, as_of);
}

static int currency_index(struct catalogue_builder *b, const char *code, uint8_t *ret,
	struct err *e)
{
	for (size_t i = 0; i < b->n_currencies; i++)
		if (strcmp(b->currency[i].code, code) == 0) {
			*ret = (uint8_t)i;
			return 0;
		}
	int refused = catalogue_currency_check(code, b->n_currencies, e);

	if (refused)
		return refused;
	GROW(b->currency, b->n_currencies, b->currencies_room);
	*ret = (uint8_t)b->n_currencies;
	b->currency[b->n_currencies++] = (struct currency){catalogue_keep(b, code), NAN, "", ""};
	return 0;
}

int catalogue_set_rate(struct catalogue_builder *b, const char *currency, double usd, struct err *e)
{
	uint8_t i;
	int code = currency_index(b, currency, &i, e);

	if (code)
		return code;
	if (!(usd > 0) || isinf(usd) || (i == 0 && (usd < 1 || usd > 1)))
		return err_set(e, -EINVAL, "rate: %g US dollars for one %s is not a valid rate",
			usd, currency);
	b->currency[i].usd = usd;
	return 0;
}

/* Sets the unknown members of `old` to those of `new`. Both point to the struct of `part`. */
static void fill_unknown(enum field_part part, void *old, const void *new)
{
	for (const struct field *f = fields; f->name; f++) {
		if (f->part != part)
			continue;
		if (f->kind == FIELD_TEXT && !*field_text(f, old))
			*(const char **)(void *)((char *)old + f->offset) = field_text(f, new);
		else if (f->kind == FIELD_NUMBER && isnan(field_number(f, old)))
			*(double *)(void *)((char *)old + f->offset) = field_number(f, new);
	}
}

static int vendor_index(struct catalogue_builder *b, const struct vendor *v, uint16_t *ret,
	struct err *e)
{
	struct string_entry *known =
		string_table_add(&b->by_vendor, v->vendor_id, strlen(v->vendor_id));
	struct vendor kept = *v;

	if (!known->value) {
		if (b->n_vendors > INDEX_MAX)
			return err_set(e, -E2BIG, "more than %d vendors", INDEX_MAX);
		GROW(b->vendor, b->n_vendors, b->vendors_room);
		keep_texts(b, PART_VENDOR, &kept);
		b->vendor[b->n_vendors++] = kept;
		known->value = (uint32_t)b->n_vendors;
	} else {
		struct vendor *before = &b->vendor[known->value - 1];

		keep_texts(b, PART_VENDOR, &kept);
		fill_unknown(PART_VENDOR, before, &kept);
		before->compliance_known = before->compliance_known || kept.compliance_known;
	}
	*ret = (uint16_t)(known->value - 1);
	return 0;
}

int catalogue_add_vendor(struct catalogue_builder *b, const struct vendor *v, struct err *e)
{
	uint16_t i;

	if (!*v->vendor_id)
		return err_set(e, -EINVAL, "a vendor without vendor_id");
	return vendor_index(b, v, &i, e);
}

/* Hetzner's servers are ordered in a location, such as "fsn1". Sources name the data centre,
 * "fsn1-dc14", which Hetzner's tools refuse (hcloud 1.67.0, 2026-07-24). The part before the "-" is
 * the location. The name of the data centre becomes an alias. */
static void name_location(struct catalogue_builder *b, struct region *r)
{
	size_t n = strcspn(r->api_reference, "-");
	char text[FIELD_TEXT_MAX];

	if (strcmp(r->vendor_id, "hcloud") != 0 || !r->api_reference[n])
		return;
	if (!region_list_has(r->aliases, '|', r->api_reference) &&
		snprintf(text, sizeof text, "%s%s%s", r->aliases, *r->aliases ? "|" : "",
			r->api_reference) < (int)sizeof text)
		r->aliases = catalogue_keep(b, text);
	r->api_reference = string_table_add(&b->texts, r->api_reference, n)->text;
}

int catalogue_add_region(struct catalogue_builder *b, const struct region *r, struct err *e)
{
	struct region kept = *r;
	uint8_t currency;
	int code = *r->extras_currency ? currency_index(b, r->extras_currency, &currency, e) : 0;

	if (code)
		return code;
	if (!*r->vendor_id || !*r->region_id)
		return err_set(e, -EINVAL, "a region without %s",
			*r->vendor_id ? "region_id" : "vendor_id");
	struct string_entry *known =
		string_table_add_pair(&b->by_region, r->vendor_id, r->region_id);

	keep_texts(b, PART_REGION, &kept);
	name_location(b, &kept);
	if (known->value) {
		struct region *before = &b->region[known->value];

		fill_unknown(PART_REGION, before, &kept);
		before->prices_known = before->prices_known || kept.prices_known;
		return 0;
	}
	if (b->n_regions > INDEX_MAX)
		return err_set(e, -E2BIG, "more than %d regions", INDEX_MAX);
	GROW(b->region, b->n_regions, b->regions_room);
	known->value = (uint32_t)b->n_regions;
	b->region[b->n_regions++] = kept;
	return 0;
}

void catalogue_add_country(struct catalogue_builder *b, const char *country_id,
	const char *continent)
{
	GROW(b->country, b->n_countries, b->countries_room);
	b->country[b->n_countries++] =
		(struct country){catalogue_keep(b, country_id), catalogue_keep(b, continent)};
}

static int region_index(struct catalogue_builder *b, const char *vendor, const char *region,
	uint16_t *ret, struct err *e)
{
	struct field_row row;
	int code;

	*ret = 0;
	if (!*region)
		return 0;
	struct string_entry *known = string_table_add_pair(&b->by_region, vendor, region);

	if (!known->value) {
		field_row_clear(&row);
		row.region.vendor_id = vendor;
		row.region.region_id = region;
		code = catalogue_add_region(b, &row.region, e);
		if (code)
			return code;
	}
	*ret = (uint16_t)known->value;
	return 0;
}

static int zone_index(struct catalogue_builder *b, const struct price_row *row, uint16_t *ret,
	struct err *e)
{
	*ret = 0;
	if (!*row->zone_id)
		return 0;
	struct string_entry *known =
		string_table_add_pair(&b->by_zone, row->vendor_id, row->zone_id);

	if (!known->value) {
		if (b->n_zones > INDEX_MAX)
			return err_set(e, -E2BIG, "more than %d zones", INDEX_MAX);
		GROW(b->zone, b->n_zones, b->zones_room);
		known->value = (uint32_t)b->n_zones;
		b->zone[b->n_zones++] = catalogue_keep(b, row->zone_id);
	}
	*ret = (uint16_t)known->value;
	return 0;
}

int catalogue_place_price(struct catalogue_builder *b, const struct price_row *row,
	struct price *ret, struct err *e)
{
	struct price p = {.price = row->price,
		.allocation = (uint8_t)row->allocation,
		.estimated = row->estimated};
	int code;

	if ((code = currency_index(b, *row->currency ? row->currency : "USD", &p.currency, e)) ||
		(code = region_index(b, row->vendor_id, row->region_id, &p.region, e)) ||
		(code = zone_index(b, row, &p.zone, e)))
		return code;
	*ret = p;
	return 0;
}

int catalogue_add_placed(struct catalogue_builder *b, size_t server, const struct price *p,
	struct err *e)
{
	if (b->n_prices >= CATALOGUE_PRICES_MAX)
		return err_set(e, -E2BIG, "more than %d prices", CATALOGUE_PRICES_MAX);
	GROW(b->price, b->n_prices, b->prices_room);
	b->price[b->n_prices++] = (struct added_price){*p, (uint32_t)server};
	return 0;
}

/* Returns US dollars for one unit of a currency: the rate that the source gave, or the compiled-in
 * rate if the source gave none. NaN = unknown. */
static double usd_of(const struct catalogue_builder *b, const char *code)
{
	const struct currency *reference = reference_rate(code);

	for (size_t i = 0; i < b->n_currencies; i++)
		if (strcmp(b->currency[i].code, code) == 0 && !isnan(b->currency[i].usd))
			return b->currency[i].usd;
	return reference ? reference->usd : (double)NAN;
}

static int check_size(const struct catalogue_builder *b, const struct price_row *row, struct err *e)
{
	if (row->price <= CATALOGUE_PRICE_MAX_USD)
		/* Such a number is possible in any currency: no unit of a currency is worth many
		 * dollars. */
		return 0;
	const char *currency = *row->currency ? row->currency : "USD";
	double usd = usd_of(b, currency);

	if (isnan(usd) ? row->price <= CATALOGUE_PRICE_MAX :
			 row->price * usd <= CATALOGUE_PRICE_MAX_USD)
		return 0;
	return err_set(e, -EINVAL, "price: %.10g %s an hour is more than %.10g %s", row->price,
		currency, isnan(usd) ? CATALOGUE_PRICE_MAX : CATALOGUE_PRICE_MAX_USD,
		isnan(usd) ? currency : "USD");
}

static int add_price(struct catalogue_builder *b, uint32_t server, const struct price_row *row,
	struct err *e)
{
	struct price p;
	int code;

	if (!(row->price >= 0) || isinf(row->price))
		return err_set(e, -EINVAL, "price: %g is not a valid price", row->price);
	if (!(row->price > 0))
		return 0;
	if ((code = check_size(b, row, e)) || (code = catalogue_place_price(b, row, &p, e)))
		return code;
	return catalogue_add_placed(b, server, &p, e);
}

int catalogue_add_price(struct catalogue_builder *b, const struct price_row *row, struct err *e)
{
	uint32_t known =
		string_table_add_pair(&b->by_server, row->vendor_id, row->server_id)->value;

	if (!known)
		return err_set(e, -ENOENT, "a price of %s/%s, which is not in the catalogue",
			row->vendor_id, row->server_id);
	return add_price(b, known - 1, row, e);
}

/* Adds up to three prices of a server: s->min_price_ondemand, s->min_price_spot and `price`. Leaves
 * out unknown prices. On an error, adds none of them. */
static int add_prices_of(struct catalogue_builder *b, uint32_t server, const struct server *s,
	const struct price_row *price, struct err *e)
{
	struct price_row rows[3] = {
		{.allocation = ALLOCATION_ONDEMAND, .price = s->min_price_ondemand, .zone_id = ""},
		{.allocation = ALLOCATION_SPOT, .price = s->min_price_spot, .zone_id = ""},
	};
	size_t before = b->n_prices;
	int code = 0;

	rows[2] = *price;
	for (size_t i = 0; code == 0 && i < ARRAY_LEN(rows); i++) {
		rows[i].vendor_id = s->vendor_id;
		rows[i].server_id = s->server_id;
		rows[i].region_id = s->region_id;
		rows[i].currency = s->currency;
		if (!isnan(rows[i].price))
			code = add_price(b, server, &rows[i], e);
	}
	if (code)
		b->n_prices = before;
	return code;
}

static int check_identity(const struct server *s, struct err *e)
{
	if (!*s->vendor_id || !*s->server_id)
		return err_set(e, -EINVAL, "a server without %s",
			*s->vendor_id ? "server_id" : "vendor_id");
	return 0;
}

/* Returns the spelling in storage_types: "nvme ssd" for "NVME_SSD". Returns unknown texts
 * unchanged. */
static const char *storage_type(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(storage_types); i++) {
		const char *a = storage_types[i], *t = text;

		while (*a && (*a == *t || *a == *t + ('a' - 'A') || (*a == ' ' && *t == '_')))
			a++, t++;
		if (!*a && !*t)
			return storage_types[i];
	}
	return text;
}

static int add_server(struct catalogue_builder *b, struct string_entry *known,
	const struct server *s, const struct price_row *price, struct err *e)
{
	struct server added = *s;
	struct field_row row;
	uint8_t currency;
	int code;

	if (b->n >= CATALOGUE_SERVERS_MAX)
		return err_set(e, -E2BIG, "more than %d servers", CATALOGUE_SERVERS_MAX);
	if (!*added.api_reference)
		added.api_reference = added.server_id;
	if (!*added.display_name)
		added.display_name = added.api_reference;
	if (!*added.currency)
		added.currency = "USD";
	added.storage_type = storage_type(added.storage_type);
	field_row_clear(&row);
	row.vendor.vendor_id = s->vendor_id;
	if ((code = currency_index(b, added.currency, &currency, e)) ||
		(code = vendor_index(b, &row.vendor, &added.vendor, e)) ||
		(code = add_prices_of(b, (uint32_t)b->n, &added, price, e)))
		return code;
	keep_texts(b, PART_SERVER, &added);
	known->value = (uint32_t)b->n + 1;
	GROW(b->server, b->n, b->servers_room);
	b->server[b->n++] = added;
	return 0;
}

int catalogue_add_server(struct catalogue_builder *b, const struct server *s, struct err *e)
{
	int code = check_identity(s, e);

	if (code)
		return code;
	struct string_entry *known =
		string_table_add_pair(&b->by_server, s->vendor_id, s->server_id);

	if (known->value)
		return err_set(e, -EEXIST, "%s/%s is there twice", s->vendor_id, s->server_id);
	return add_server(b, known, s, &(struct price_row){.price = NAN, .zone_id = ""}, e);
}

/* Compares two rows of the same server. Returns the first field in which they contradict each
 * other. NULL = no contradiction. */
static const struct field *contradiction(const struct server *before, const struct server *now)
{
	for (const struct field *f = fields; f->name; f++) {
		if (f->part != PART_SERVER || f->offset == offsetof(struct server, region_id) ||
			f->offset == offsetof(struct server, currency) ||
			f->offset == offsetof(struct server, min_price_ondemand) ||
			f->offset == offsetof(struct server, min_price_spot))
			continue;
		if (f->kind == FIELD_NUMBER) {
			double a = field_number(f, before), z = field_number(f, now);

			if (a < z || a > z || (isnan(a) && !isnan(z)))
				return f;
		} else if (*field_text(f, now) &&
			   strcmp(field_text(f, before), field_text(f, now)) != 0 &&
			   f->kind != FIELD_STATUS) {
			return f;
		}
	}
	return NULL;
}

static int add_again(struct catalogue_builder *b, uint32_t server, const struct field_row *r,
	struct err *e)
{
	const struct server *s = &r->server;
	struct server priced = *s;

	priced.storage_type = storage_type(s->storage_type);
	const struct field *f = contradiction(&b->server[server], &priced);

	if (!(s->min_price_ondemand > 0) && !(s->min_price_spot > 0) && !(r->price.price > 0))
		return err_set(e, -EEXIST, "%s/%s is there twice, and this line has no price",
			s->vendor_id, s->server_id);
	if (f)
		return err_set(e, -EEXIST, "%s: differs from an earlier line of %s/%s", f->name,
			s->vendor_id, s->server_id);
	if (!*priced.currency)
		priced.currency = b->server[server].currency;
	return add_prices_of(b, server, &priced, &r->price, e);
}

int catalogue_add_row(struct catalogue_builder *b, const struct field_row *r, struct err *e)
{
	struct vendor vendor = r->vendor;
	struct region region = r->region;
	int code = check_identity(&r->server, e);

	if (code)
		return code;
	struct string_entry *known =
		string_table_add_pair(&b->by_server, r->server.vendor_id, r->server.server_id);

	code = known->value ? add_again(b, known->value - 1, r, e) :
			      add_server(b, known, &r->server, &r->price, e);
	vendor.vendor_id = region.vendor_id = r->server.vendor_id;
	region.region_id = r->server.region_id;
	if (code == 0)
		code = catalogue_add_vendor(b, &vendor, e);
	if (code == 0 && *region.region_id)
		code = catalogue_add_region(b, &region, e);
	return code;
}

int catalogue_add_benchmark(struct catalogue_builder *b, const struct benchmark *benchmark,
	struct err *e)
{
	if (b->n_benchmarks >= CATALOGUE_BENCHMARKS_MAX)
		return err_set(e, -E2BIG, "more than %d benchmarks", CATALOGUE_BENCHMARKS_MAX);
	struct string_entry *known = string_table_add(&b->by_benchmark, benchmark->benchmark_id,
		strlen(benchmark->benchmark_id));

	if (known->value)
		return err_set(e, -EEXIST, "benchmark %s is there twice", benchmark->benchmark_id);
	GROW(b->benchmark, b->n_benchmarks, b->benchmarks_room);
	b->benchmark[b->n_benchmarks++] = (struct added_benchmark){
		.about = {
			.benchmark_id = catalogue_keep(b, benchmark->benchmark_id),
			.name = catalogue_keep(b, benchmark->name),
			.category = catalogue_keep(b, benchmark->category),
			.unit = catalogue_keep(b, benchmark->unit),
			.higher_is_better = benchmark->higher_is_better,
		}};
	known->value = (uint32_t)b->n_benchmarks;
	return 0;
}

static void add_score(struct catalogue_builder *b, const char *vendor_id, const char *server_id,
	const char *benchmark_id, double score, bool single)
{
	uint32_t server = string_table_add_pair(&b->by_server, vendor_id, server_id)->value;
	uint32_t known =
		string_table_add(&b->by_benchmark, benchmark_id, strlen(benchmark_id))->value;
	float now = (float)score;

	if (!server || !known || !isfinite(now) || now < 0)
		return;
	struct added_benchmark *a = &b->benchmark[known - 1];
	struct added_scores *scores = single ? &a->single : &a->all;

	while (scores->n < server) {
		GROW(scores->score, scores->n, scores->room);
		scores->score[scores->n++] = NAN;
	}
	float *best = &scores->score[server - 1];

	if (isnan(*best) || (a->about.higher_is_better ? now > *best : now < *best))
		*best = now;
}

void catalogue_add_score(struct catalogue_builder *b, const char *vendor_id, const char *server_id,
	const char *benchmark_id, double score)
{
	add_score(b, vendor_id, server_id, benchmark_id, score, false);
}

void catalogue_add_single_score(struct catalogue_builder *b, const char *vendor_id,
	const char *server_id, const char *benchmark_id, double score)
{
	add_score(b, vendor_id, server_id, benchmark_id, score, true);
}
