/* The body of POST /runs: an ended run with its statistics as JSON. The keys are the names of the
 * members of struct run. Times are seconds since 1970 UTC, or texts in RFC 3339. An unknown value is null or left out.
 * The reader ignores unknown keys, so that sender and receiver may have different versions. */
#ifndef EXPORTER_FORWARD_RUN_MESSAGE_H
#define EXPORTER_FORWARD_RUN_MESSAGE_H

#include <jansson.h>
#include <stddef.h>

#include "collectors/base/err.h"
#include "exporter/core/json_key.h"
#include "recommender/run.h"

#define RUN_MESSAGE_MAX         (256u << 10) /* largest size of a message, bytes */
#define RUN_MESSAGE_COLUMNS_MAX 512

extern const struct json_key run_message_keys[];

/* Makes a message. It contains only the statistics that another exporter would store for the run
 * (recommender/kept_statistics.h). */
json_t *run_message(const struct run *r);

/* Reads a run from a message. Returns -EINVAL for a wrong or impossible value
 * (recommender/plausible.h); `e` then names the key and the accepted values. The texts of `*ret`
 * are in `arena`. */
int run_message_read(struct run *ret, const char *text, size_t len, struct arena *arena,
	struct err *e);

/* One run of a batch, and the error if it could not be read. */
struct told_run {
	struct run run;     /* valid when wrong.code is 0 */
	const char *run_id; /* as in the message; NULL = the message has no valid id */
	struct err wrong;   /* as run_message_read returns it */
};
struct run_batch {
	size_t n;
	struct told_run *told;
	bool is_list; /* false = the body was one run, not an array */
};
#define RUN_BATCH_MAX 1024 /* runs */

/* Reads one run, an array of up to RUN_BATCH_MAX runs, or an object whose member "runs" is such an
 * array, as GET /runs gives it. Returns -EINVAL when the text is neither.
 * If a run in it is wrong, the result is still 0, and told[i].wrong is its error. The texts of
 * `*ret` are in `arena`. */
int run_batch_read(struct run_batch *ret, const char *text, size_t len, struct arena *arena,
	struct err *e);

/* Checks the numbers of a run that was not read from JSON. The checks are those of
 * run_message_read. Returns a negative errno when a number is outside the range of its key, or
 * impossible (recommender/plausible.h). */
int run_message_check_numbers(const struct run *r, struct err *e);

/* A run may end this many seconds in the future, because the clock of the sender may be ahead of
 * the clock of this machine. */
#define RUN_MESSAGE_EARLY_SECONDS 300

/* Returns -EINVAL when the run begins or ends more than RUN_MESSAGE_EARLY_SECONDS in the future, or
 * when it is older than the history keeps runs. `now` is in seconds since 1970 UTC.
 * `retention_seconds` 0 = runs of any age are kept. */
int run_message_check_age(const struct run *r, double now, double retention_seconds, struct err *e);

#endif
