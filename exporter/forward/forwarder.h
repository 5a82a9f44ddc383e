/* The thread that forwards ended runs to another exporter (the receiver). It posts
 * up to 64 runs in one request to URL/runs (exporter/forward/run_message.h), and one run at a time to a
 * receiver that does not answer for each run of a request. Each run is posted at least once. If the
 * receiver already has a run, it recognises the run by its id.
 *
 * The history is the queue. A run that any process has written waits there until it is marked as
 * forwarded, so a forwarder that was killed continues after a restart. The limits of the history
 * also limit the queue.
 *
 * After each further failure in a row the thread waits longer, and a part of the wait is random. A
 * run that the receiver refuses for good (forward_is_refusal) is not sent again. A run that fails
 * repeatedly is set aside and retried separately, so that it does not block other runs
 * (exporter/forward/retry_list.h). */
#ifndef EXPORTER_FORWARD_FORWARDER_H
#define EXPORTER_FORWARD_FORWARDER_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/err.h"

struct forwarder;
struct historian;
struct http_response; /* see exporter/client/download.h */

struct forwarder_options {
	const char *url;        /* receiver, checked by --forward.url; /runs is appended */
	const char *token_file; /* read before each attempt, because it may change; NULL = none */
	const char *ca_file;    /* certificates to trust; NULL = the system's */
	const char *history_path;
	struct historian *historian; /* marks forwarded runs */
};

/* The texts in `o` and the historian must live longer than the forwarder. */
int forwarder_start(struct forwarder **ret, const struct forwarder_options *o, struct err *e);

/* Forwards the remaining runs for at most timeout_seconds. Then aborts, which takes less than a
 * second unless the disk hangs. A signal of signals_end ends the wait early; all threads must block
 * these signals. `f` may be NULL.
 *
 * Runs are forwarded only from the history. Call this function after historian_settle, so that all
 * runs are in the history, and before historian_stop.
 *
 * Returns -ETIMEDOUT when the disk of the history does not answer for five more seconds. `f` is
 * then not freed, and its thread still uses the historian. The caller must end the program by
 * _exit(2). */
int forwarder_stop(struct forwarder *f, double timeout_seconds);

/* Counts of all forwarders of this program. The program's own metrics show them. Any thread may
 * call forward_counts. */
struct forward_counts {
	bool active;
	uint64_t delivered, refused, failures; /* `failures` = failed attempts, which are retried */
	/* numbers of runs after the last round; `stuck` = set aside */
	uint64_t waiting, stuck;
};
struct forward_counts forward_counts(void);

/* ---- the receiver's answer; any thread ---- */

/* Returns true when the receiver refuses the run for good. The answer must then contain the JSON
 * error bad_body (status 400) or too_large (status 413). The status alone is not enough. A proxy, a
 * load balancer or an HTTPS port may answer 400 or 413, too, but a retry succeeds after the
 * configuration was repaired. */
bool forward_is_refusal(const struct http_response *a);

/* Returns true when the answer contains the id of the run. The status alone is not enough, because
 * any server may answer 200. */
bool forward_is_accepted(const struct http_response *a, const char *run_id);

/* Shortens the body of the answer for the log, and returns it. */
const char *forward_answer_text(struct http_response *a);

#endif
