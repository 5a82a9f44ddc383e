/*
 * What is known of a server, one row a field. The same rows read the columns of a CSV, the keys of a JSON
 * object and the columns of an SQLite table, write them back, and document them.
 */
#ifndef RECOMMENDER_SERVER_FIELDS_H
#define RECOMMENDER_SERVER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "recommender/catalogue.h"

enum field_kind {
	FIELD_TEXT,
	FIELD_NUMBER,
	FIELD_ARCHITECTURE,
	FIELD_CPU_ALLOCATION,
	FIELD_STATUS, /* active or inactive */
};

struct server_field {
	const char *name, *unit; /* unit NULL = none */
	const char *help;        /* one sentence without a full stop */
	enum field_kind kind;
	bool required; /* as a column of a CSV file */
	size_t offset; /* in struct server */
};

extern const struct server_field server_fields[]; /* name NULL ends */

#define SERVER_TEXT_MAX 256 /* bytes of a text with its NUL; longer ones are refused */

const struct server_field *server_field_find(const char *name, size_t len);

/* A server of which nothing is known. */
void server_clear(struct server *s);

/*
 * Sets a field from text, which must stay valid as long as s: -EINVAL, with a sentence that names the text
 * and what is accepted (the caller adds where), when it does not fit. "" is unknown. The spelling of enum names is Keeper's, in any
 * case.
 */
int server_field_set_text(const struct server_field *f, struct server *s, const char *text, struct err *e);

/* The same from a number; -EINVAL for a field that is no number, and for negative numbers. */
int server_field_set_number(const struct server_field *f, struct server *s, double v, struct err *e);

/* Reading back: the number of a FIELD_NUMBER, the text of any other kind. */
double server_field_number(const struct server_field *f, const struct server *s);
const char *server_field_text(const struct server_field *f, const struct server *s);

#endif
