/*
 * What is known of a server, its vendor, a region and a price: one row a field. The same rows read the
 * columns of a CSV, the keys of a JSON object and the columns of an SQLite table, write them back, and
 * document them.
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
	const char *help;        /* one sentence without a full stop */
	enum field_kind kind;
	enum field_part part;
	bool required; /* as a column of a CSV file */
	size_t offset; /* in the struct of its part */
};

extern const struct field fields[]; /* name NULL ends */

/* A price as it comes in: identities are texts. */
struct price_row {
	const char *vendor_id, *server_id, *region_id, *zone_id, *currency;
	enum allocation allocation;
	double price; /* per hour */
};

/*
 * One line of a source: a server, and what the line says of its vendor, of a region and of a price there.
 * vendor_id is that of the server, region_id that of the server's region_id.
 */
struct field_row {
	struct server server;
	struct vendor vendor;
	struct region region;
	struct price_row price;
};

#define FIELD_TEXT_MAX 256 /* bytes of a text with its NUL; longer ones are refused */

/* The field of that name, of any part; NULL = none. */
const struct field *field_find(const char *name, size_t len);
/* The field of that name in one part. */
const struct field *field_of(enum field_part part, const char *name);

/* A row of which nothing is known; a part of it. */
void field_row_clear(struct field_row *r);
void *field_row_part(struct field_row *r, enum field_part part);

/*
 * Sets a field of the struct of its part from text, which must stay valid as long as object: -EINVAL, with a
 * sentence that names the text and what is accepted (the caller adds where), when it does not fit. "" is
 * unknown. The spelling of enum string_table is Keeper's, in any case.
 */
int field_set_text(const struct field *f, void *object, const char *text, struct err *e);

/* The same from a number; -EINVAL for a field that is no number, and for negative numbers. */
int field_set_number(const struct field *f, void *object, double v, struct err *e);

/* Reading back: the number of a FIELD_NUMBER (else NaN), the text of any other kind (else ""). */
double field_number(const struct field *f, const void *object);
const char *field_text(const struct field *f, const void *object);

/* The fields as a Markdown table: what the columns of one's own CSV are. */
struct buf;
void fields_markdown(struct buf *out);

#endif
