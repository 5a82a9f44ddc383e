/*
 * JSON bodies of changes, read strictly: an unknown key, a missing one, or a value of another kind is an answer that
 * says what is accepted. What a body may hold is a table.
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
	size_t offset; /* of what it fills; untouched when absent or null */
};

/* Parses the body of a request; NULL when r was filled with the error. json_decref. */
json_t *json_body_parse(struct slice body, struct reply *r);

/* what: "the body", or the key that the object stands at. False when r was filled with the error. */
bool json_body_read(const json_t *object, const char *subject, const struct json_body_key *keys,
	void *into, struct reply *r);

#endif
