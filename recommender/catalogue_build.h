/*
 * Making a catalogue piece by piece, in any order, from any source: add, then finish. What is added is
 * copied. One thread at a time.
 */
#ifndef RECOMMENDER_CATALOGUE_BUILD_H
#define RECOMMENDER_CATALOGUE_BUILD_H

#include "recommender/catalogue.h"

struct catalogue_builder;

struct catalogue_builder *catalogue_builder_new(void);
void catalogue_builder_free(struct catalogue_builder *b);

/*
 * A server, with its min_price_* as prices when they are known. An empty api_reference is the server_id, an
 * empty display_name the api_reference, an empty currency USD. -EINVAL without vendor_id or server_id,
 * -EEXIST when it is there already, -E2BIG when there are too many.
 */
int catalogue_add_server(struct catalogue_builder *b, const struct server *s, struct err *e);

/* A price of a server that was added. region_id may be "". -ENOENT: no such server. */
struct price_row {
	const char *vendor_id, *server_id, *region_id, *zone_id, *currency;
	enum allocation allocation;
	double price; /* per hour */
};
int catalogue_add_price(struct catalogue_builder *b, const struct price_row *row, struct err *e);

/* US dollars for one unit of a currency; the last word counts. */
int catalogue_set_rate(struct catalogue_builder *b, const char *currency, double usd, struct err *e);

void catalogue_set_note(struct catalogue_builder *b, const char *note);
void catalogue_set_as_of(struct catalogue_builder *b, const char *as_of);

/* Reads all rows of a text into b. The first error ends it. */
int catalogue_read_csv(struct catalogue_builder *b, const char *text, size_t len, struct err *e);

enum read_how {
	READ_STRICT,  /* a value of the wrong type is an error: somebody's own file */
	READ_LENIENT, /* it is unknown, a server without an identity is left out: an API that may change */
};
int catalogue_read_json(struct catalogue_builder *b, const char *text, size_t len, enum read_how how,
	struct err *e);

/* Sorts and packs. b is empty afterwards, and may be filled again. */
void catalogue_finish(struct catalogue_builder *b, const char *source, struct catalogue **ret);

#endif
