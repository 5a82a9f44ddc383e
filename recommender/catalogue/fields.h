/*
 * The fields of servers, vendors, regions and prices, one row each. The same rows read and write
 * the columns of CSV files and SQLite tables and the keys of JSON objects, and document them.
 */
#ifndef RECOMMENDER_CATALOGUE_FIELDS_H
#define RECOMMENDER_CATALOGUE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "recommender/catalogue/catalogue.h"

enum field_kind {
	FIELD_TEXT,
	FIELD_NUMBER,
	FIELD_ARCHITECTURE,
	FIELD_CPU_ALLOCATION,
	FIELD_ALLOCATION,
	FIELD_STATUS, /* active or inactive */
};

enum field_part { PART_SERVER, PART_VENDOR, PART_REGION, PART_PRICE, PART_COUNT };

struct field {
	const char *name, *unit; /* unit NULL = none */
	const char *help;        /* one sentence without its full stop */
	enum field_kind kind;
	enum field_part part;
	bool required; /* a CSV file must have the column */
	size_t offset; /* in the struct of the part */
};

extern const struct field fields[]; /* name NULL ends */

/* A price before packing: identities are texts. */
struct price_row {
	const char *vendor_id, *server_id, *region_id, *zone_id, *currency;
	enum allocation allocation;
	double price; /* per hour */
};

/*
 * One row of a source: a server, and the vendor, region and price of the same row. The identities
 * of vendor, region and price are those of the server.
 */
struct field_row {
	struct server server;
	struct vendor vendor;
	struct region region;
	struct price_row price;
};

#define FIELD_TEXT_MAX 256 /* bytes with the NUL; longer texts are refused */

/* The first field of this name in any part; NULL = none. */
const struct field *field_find(const char *name, size_t len);
/* The field of this name in one part; NULL = none. */
const struct field *field_of(enum field_part part, const char *name);

/* Makes every member unknown. */
void field_row_clear(struct field_row *r);
void *field_row_part(struct field_row *r, enum field_part part); /* &r->server, ... */

/*
 * Sets a member of object, the struct of the field's part. text must outlive object; "" = unknown.
 * Enum names are Keeper's, ignoring case. -EINVAL: invalid; the message names the text and the
 * accepted ones, and the caller adds the place.
 */
int field_set_text(const struct field *f, void *object, const char *text, struct err *e);

/* The same from a number. -EINVAL: the field is not a number, or v is negative. */
int field_set_number(const struct field *f, void *object, double v, struct err *e);

/*
 * Read a member: the number of a FIELD_NUMBER (else NaN), or the text of any other kind (else "").
 */
double field_number(const struct field *f, const void *object);
const char *field_text(const struct field *f, const void *object);

/* Appends the CSV columns as a Markdown table. */
struct buf;
void fields_markdown(struct buf *out);

#endif
