/* Reads JSON request bodies strictly, by a table of keys (exporter/core/json_key.h). An unknown
 * key, a missing required key or a wrong value is an error. The error message lists what is
 * accepted. The table must not contain KEY_COUNT, KEY_LIST, KEY_TIME, KEY_UNREAD or KEY_ANY, which
 * the reader does not support. */
#ifndef EXPORTER_API_JSON_BODY_H
#define EXPORTER_API_JSON_BODY_H

#include <jansson.h>
#include <stdbool.h>

#include "exporter/api/route.h"
#include "exporter/core/json_key.h"

/* Parses the body of a request. The caller calls json_decref for the result. If the body is not
 * JSON, writes an error to `r` and returns NULL. */
json_t *json_body_parse(struct slice body, struct reply *r);

/* Fills the struct `into` from a JSON object, by the table `keys`. `subject` is the name of the
 * object in error messages: "the body", or the key that contains the object. If a key or value is
 * wrong, writes an error to `r` and returns false. */
bool json_body_read(const json_t *object, const char *subject, const struct json_key *keys,
	void *into, struct reply *r);

#endif
