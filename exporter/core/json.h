/* Writes JSON for HTTP and for the command line. An unknown value becomes null. A number gets as
 * many digits as are needed to read back the same double. Times are RFC 3339 in UTC. An object or
 * array that fits into JSON_LINE bytes is written on one line. A longer one is written on several
 * lines, with several numbers and texts on each line. These functions never return NULL. */
#ifndef EXPORTER_CORE_JSON_H
#define EXPORTER_CORE_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "collectors/base/buf.h"

#define JSON_LINE 100

json_t *json_num(double v); /* NaN and infinity become null; whole numbers get no point */

/* Each function rounds a number of a certain unit, because further digits are noise. The comment at
 * each function names its rounding. If it names two, the one that keeps more digits applies:
 * json_seconds keeps 12345.678 and 0.0001234. json_money is for prices, costs and savings. json_ratio is for shares, percentages,
 * factors and mean counts. */
json_t *json_bytes(double v);   /* to whole bytes */
json_t *json_seconds(double v); /* to milliseconds, or to 4 significant digits */
json_t *json_cores(double v);   /* to thousandths, or to 3 significant digits */
json_t *json_money(double v);   /* to whole units, or to 6 significant digits */
json_t *json_ratio(double v);   /* to whole units, or to 4 significant digits */
/* Rounds by the unit that the key names, such as "memory_bytes", "cpu_seconds", "cpu_cores". A key
 * without a unit counts as a ratio. */
json_t *json_by_key(const char *key, double v);

json_t *json_text(const char *s);       /* NULL becomes null; invalid UTF-8 becomes U+FFFD */
json_t *json_time(double unix_seconds); /* "2026-11-21T08:45:12.123Z"; NaN becomes null */

/* json_number returns the number `v`. json_number_of returns the number with this key in `object`.
 * Both return NaN if the value is absent, null or of another type. */
double json_number(const json_t *v);
double json_number_of(const json_t *object, const char *key);

/* Returns true when `v` is a number with `least` <= v <= `most`. Integers above 2^53 are also
 * compared with `most` as integers, because a double does not represent all of them. */
bool json_is_in_range(const json_t *v, double least, double most);
bool json_whole_is_in_range(json_int_t v, double least, double most);

/* json_put adds `take` to an object, json_push adds it to an array. The object or array then owns
 * `take`. If memory is short (memory_budget_is_over), json_push frees `take` and adds nothing. */
void json_put(json_t *object, const char *key, json_t *take);
void json_push(json_t *array, json_t *take);

/* Adds the keys job_name, namespace and cluster to the object. Namespace and cluster are left out
 * if the job has none. `key` is the key of the job (collectors/base/job_key.h). If `key` is NULL,
 * adds only job_name, with the value null. */
void json_put_job(json_t *object, const char *key);

/* Writes the document and a newline. */
void json_write(struct buf *out, const json_t *document);

struct reply; /* exporter/api/route.h */

/* Makes `take` the body of the reply and frees it. Always returns 0. */
int reply_json(struct reply *r, int status, json_t *take);
/* Returns {"code": code, "message": message}, the form of an error in all answers. */
json_t *reply_error_json(const char *code, const char *message);

#endif
