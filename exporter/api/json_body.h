/*
 * Reads JSON bodies of changes strictly, by a table of keys. An unknown key, a missing key or a
 * value of the wrong kind is answered with the accepted ones.
 */
#ifndef EXPORTER_API_JSON_BODY_H
#define EXPORTER_API_JSON_BODY_H

#include <jansson.h>
#include <stdbool.h>

#include "exporter/api/route.h"

enum json_body_kind {
	BODY_TEXT,   /* const char *: UTF-8 without control characters, least..most bytes */
	BODY_NUMBER, /* double, least..most */
	BODY_WHOLE,  /* the same without a fraction */
	BODY_OBJECT, /* json_t *, borrowed */
};

struct json_body_key {
	const char *name; /* NULL ends a table */
	enum json_body_kind kind;
	bool required;
	double least, most;
	size_t offset; /* of the filled member; unchanged when absent or null */
};

/* Parses the body of a request; the caller calls json_decref. NULL: r has the error. */
json_t *json_body_parse(struct slice body, struct reply *r);

/* subject: "the body", or the key of the object. False: r has the error. */
bool json_body_read(const json_t *object, const char *subject, const struct json_body_key *keys,
	void *into, struct reply *r);

#endif
