/* Members of a builder. Only for build.c and pack.c. */
#ifndef RECOMMENDER_CATALOGUE_BUILDER_H
#define RECOMMENDER_CATALOGUE_BUILDER_H

#include "recommender/catalogue/build.h"
#include "recommender/catalogue/string_table.h"

struct added_price {
	struct price price;
	uint32_t server; /* index in catalogue_builder.server */
};

/* score[i] is that of catalogue_builder.server[i]. Servers from index `n` on have no score yet. */
struct added_scores {
	float *score;
	size_t n, room;
};

struct added_benchmark {
	struct benchmark about;
	struct added_scores all, single; /* single: scores with one core */
};

struct catalogue_builder {
	struct arena memory;  /* owns the texts; moved to the catalogue at the end */
	struct arena scratch; /* owns the keys of the lookup tables */
	/* `texts` stores each text once. The by_* tables find the index of an added object in its
	 * array below:
	 * - by_vendor, by_benchmark: the key is the id. The value is index + 1; 0 = not added.
	 * - by_server: the key is vendor and id. The value is index + 1; 0 = not added.
	 * - by_region, by_zone: the key is vendor and id. The value is the index; 0 = the unknown
	 *   region or zone. */
	struct string_table texts, by_server, by_vendor, by_region, by_zone, by_benchmark;
	const char *note, *as_of;
	size_t n, servers_room;
	struct server *server;
	size_t n_prices, prices_room;
	struct added_price *price;
	size_t n_vendors, vendors_room;
	struct vendor *vendor;
	size_t n_regions, regions_room;
	struct region *region;
	size_t n_countries, countries_room;
	struct country {
		const char *country_id, *continent;
	} * country;
	size_t n_zones, zones_room;
	const char **zone;
	size_t n_currencies, currencies_room;
	struct currency *currency;
	size_t n_benchmarks, benchmarks_room;
	struct added_benchmark *benchmark;
};

/* Initialises `b` as empty. Frees nothing. */
void catalogue_builder_init(struct catalogue_builder *b);
void catalogue_builder_done(struct catalogue_builder *b); /* frees all except `memory` */

/* Copies a text into the catalogue. Equal texts share one copy. */
const char *catalogue_keep(struct catalogue_builder *b, const char *text);

#endif
