/* Reads JSON request bodies strictly, by a table of keys. An unknown key, a missing key or a wrong
 * value is an error. The error message lists what is accepted. */
#ifndef EXPORTER_API_JSON_BODY_H
#define EXPORTER_API_JSON_BODY_H

#include <jansson.h>
#include <stdbool.h>

#include "exporter/api/route.h"

enum json_body_kind {
	BODY_TEXT,   /* const char *: UTF-8 without control characters, least..most bytes */
	BODY_WHOLE,  /* double without a fraction, least..most */
	BODY_CORES,  /* double, least..most: a number of CPUs, or a text such as "500m" */
	BODY_BYTES,  /* double, least..most: whole bytes, or a text such as "4Gi" */
	BODY_FLAG,   /* bool */
	BODY_OBJECT, /* json_t *, borrowed */
};

struct json_body_key {
	const char *name; /* NULL ends a table */
	enum json_body_kind kind;
	bool required;
	double least, most;
	/* Offset of the member that gets the value. If the key is absent or null, the member is
	 * unchanged. */
	size_t offset;
};

/* Parses the body of a request; the caller calls json_decref. Returns NULL with an error in `r`. */
json_t *json_body_parse(struct slice body, struct reply *r);

/* Fills the struct `into` from a JSON object. Error messages call the object `subject`: "the body",
 * or the key that contains the object. Returns false with an error in `r`. */
bool json_body_read(const json_t *object, const char *subject, const struct json_body_key *keys,
	void *into, struct reply *r);

#endif
