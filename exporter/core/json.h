/*
 * The one place that decides how JSON looks, over HTTP and on the command line: unknown is null,
 * numbers are the shortest that read back equal, times are RFC 3339 in UTC, and what fits on a line
 * of JSON_LINE bytes stands on one. Documents are built with jansson; these functions never return
 * NULL.
 */
#ifndef EXPORTER_CORE_JSON_H
#define EXPORTER_CORE_JSON_H

#include <jansson.h>

#include "collectors/base/buf.h"

#define JSON_LINE 100

json_t *json_num(double v);       /* NaN and infinities are null; whole numbers have no point */
json_t *json_text(const char *s); /* NULL is null; what is not UTF-8 becomes U+FFFD */
json_t *json_time(double unix_seconds); /* "2026-11-21T08:45:12.123Z", NaN is null */

/* Adds to an object or an array; the value is taken. Not to an array of an answer that is given up (exporter/core/memory_budget.h). */
void json_put(json_t *object, const char *key, json_t *take);
void json_push(json_t *array, json_t *take);

/* The document and a newline. */
void json_write(struct buf *out, const json_t *document);

struct reply; /* exporter/api/route.h */

/* Makes document the body of the reply. Returns 0, so that a route can end with it. */
int reply_json(struct reply *r, int status, json_t *take);

#endif
