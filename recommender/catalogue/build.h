/*
 * Making a catalogue piece by piece, in any order, from any source: add, then finish. What is added is
 * copied. One thread at a time.
 */
#ifndef RECOMMENDER_CATALOGUE_BUILD_H
#define RECOMMENDER_CATALOGUE_BUILD_H

#include "recommender/catalogue/catalogue.h"
#include "recommender/catalogue/fields.h"

struct catalogue_builder;

struct catalogue_builder *catalogue_builder_new(void);
void catalogue_builder_free(struct catalogue_builder *b);

/*
 * A server, with its min_price_* as prices in its region_id when they are known. An empty api_reference is the
 * server_id, an empty display_name the api_reference, an empty currency USD. -EINVAL without vendor_id or
 * server_id, -EEXIST when it is there already, -E2BIG when there are too many.
 */
int catalogue_add_server(struct catalogue_builder *b, const struct server *s, struct err *e);

/* A price of a server that was added. region_id and zone_id may be "". -ENOENT: no such server. */
int catalogue_add_price(struct catalogue_builder *b, const struct price_row *row, struct err *e);

/* What is known of a vendor or region; of one that is there already, what was unknown is filled in. */
int catalogue_add_vendor(struct catalogue_builder *b, const struct vendor *v, struct err *e);
int catalogue_add_region(struct catalogue_builder *b, const struct region *r, struct err *e);

/* The continent of a country: of all its regions that have none. */
void catalogue_add_country(struct catalogue_builder *b, const char *country_id,
	const char *continent);

/*
 * All of a row: its server when it is new, else one more price of it: -EEXIST when the row has none, or says
 * something else of the server than an earlier one.
 */
int catalogue_add_row(struct catalogue_builder *b, const struct field_row *r, struct err *e);

/*
 * b->score is not read. Scores of a benchmark that was not added are ignored, as those of unknown servers, and what none can
 * be: below 0, no number, more than a float holds.
 */
int catalogue_add_benchmark(struct catalogue_builder *b, const struct benchmark *benchmark,
	struct err *e);
void catalogue_add_score(struct catalogue_builder *b, const char *vendor_id, const char *server_id,
	const char *benchmark_id, double score);

/* US dollars for one unit of a currency; the last word counts. */
int catalogue_set_rate(struct catalogue_builder *b, const char *currency, double usd,
	struct err *e);

void catalogue_set_note(struct catalogue_builder *b, const char *note);
void catalogue_set_as_of(struct catalogue_builder *b, const char *as_of);

size_t catalogue_builder_servers(const struct catalogue_builder *b); /* how many were added */

/* Reads all rows of a text into b. The first error ends it. */
int catalogue_read_csv(struct catalogue_builder *b, const char *text, size_t len, struct err *e);

/* How a JSON array is read. All zero: servers, strictly. */
struct json_reading {
	enum { READ_SERVERS, READ_VENDORS, READ_REGIONS, READ_COUNTRIES } kind;
	/*
	 * An API that may change: a value of the wrong type is unknown, an object without an identity is left
	 * out. Otherwise somebody's own file: it is an error.
	 */
	bool lenient;
	const char *region_id; /* where all its prices hold; NULL = as each object says */
	/* Of which selected_benchmark_score is the score; NULL = not read. */
	const char *benchmark_id;
};
/* objects, when not NULL, is how many the array has, left out ones included. */
int catalogue_read_json(struct catalogue_builder *b, const char *text, size_t len,
	const struct json_reading *how, size_t *objects, struct err *e);

/* Sorts and packs. b is empty afterwards, and may be filled again. */
void catalogue_finish(struct catalogue_builder *b, const char *source, struct catalogue **ret);

#endif
