/* One table of the fields of servers, vendors, regions and prices. The readers and writers of CSV
 * columns, SQLite columns and JSON keys use it, and so does their documentation. */
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
	FIELD_FLAG,   /* true or false */
};

enum field_part { PART_SERVER, PART_VENDOR, PART_REGION, PART_PRICE, PART_COUNT };

struct field {
	const char *name, *unit; /* name of the column; its unit, NULL = none */
	const char *help;        /* one sentence without a full stop */
	enum field_kind kind;
	enum field_part part;
	bool required; /* a CSV file must have the column */
	size_t offset; /* offset of the member in the struct of `part` */
};

extern const struct field fields[]; /* ends with name NULL */

/* A price as a source gives it: texts identify the server, region and zone. In a catalogue, indexes
 * replace the texts (struct price). */
struct price_row {
	const char *vendor_id, *server_id, *region_id, *zone_id, *currency;
	enum allocation allocation;
	double price; /* price of an hour */
	bool estimated;
};

/* One row of a source, which describes a server, its vendor, a region and a price. The ids
 * vendor_id, region_id and server_id of all four parts are in `server`. */
struct field_row {
	struct server server;
	struct vendor vendor;
	struct region region;
	struct price_row price;
};

#define FIELD_TEXT_MAX 256 /* bytes with the NUL; longer texts are errors */

/* Returns the first field of this name in any part. NULL = not found. */
const struct field *field_find(const char *name, size_t len);
/* Returns the field of this name in one part. NULL = not found. */
const struct field *field_of(enum field_part part, const char *name);

/* Call it for a row whose price is the lowest of all allocations, such as the Keeper's "price".
 * Sets the allocation of the price to ALLOCATION_ANY. Drops the price if the row also has an
 * on-demand price, or a spot price that is at most this price. */
void field_row_price_is_lowest(struct field_row *r);

/* Makes every member unknown. */
void field_row_clear(struct field_row *r);
void *field_row_part(struct field_row *r, enum field_part part); /* returns &r->server, ... */

/* Sets a member of `object`, which is the struct of the field's part. `text` must outlive `object`;
 * "" = unknown. Enum values have the names of the Spare Cores Keeper, in upper or lower case.
 * Returns -EINVAL for an invalid text. The error message contains the text and the accepted texts.
 * The caller adds the line or the field to the message. */
int field_set_text(const struct field *f, void *object, const char *text, struct err *e);

/* Sets a member from a number. -EINVAL: the field is not a number, or `v` is negative. */
int field_set_number(const struct field *f, void *object, double v, struct err *e);

/* Read a member. field_number is for the kind FIELD_NUMBER, and returns NaN for other kinds.
 * field_text is for all other kinds, and returns "" for FIELD_NUMBER. */
double field_number(const struct field *f, const void *object);
const char *field_text(const struct field *f, const void *object);

/* Appends the CSV columns as a Markdown table. */
struct buf;
void fields_markdown(struct buf *out);

#endif
