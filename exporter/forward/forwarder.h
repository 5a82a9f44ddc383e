/* The thread that forwards ended runs to another exporter (the receiver). It posts each run
 * separately to URL/runs (exporter/forward/run_message.h), at least once. The history is the queue:
 * every ended run that is not marked as forwarded waits there, from any process. The limits of the
 * history bound the queue. A forwarder that was killed continues after a restart. The receiver
 * recognises a run that it already has by the run's id.
 *
 * After a failure the thread waits, longer each time, with jitter. A run that the receiver refuses
 * for good (forward_is_refusal) is not sent again. A run that fails repeatedly is set aside and
 * retried alone, so that it does not block other runs (exporter/forward/retry_list.h). */
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

/* Forwards the remaining runs for at most timeout_seconds, then ends within a second. A signal of
 * signals_end ends the wait early; all threads must block these signals. Call it after
 * historian_settle, because only runs in the history are forwarded, and before historian_stop. `f`
 * may be NULL.
 *
 * Returns -ETIMEDOUT when the disk of the history did not answer for five more seconds. Nothing is
 * freed then, and the historian is still in use: leave by _exit(2). */
int forwarder_stop(struct forwarder *f, double timeout_seconds);

/* Counts over all forwarders of this program, for the program's own metrics. Any thread may call
 * it. */
struct forward_counts {
	bool active;
	uint64_t delivered, refused, failures; /* `failures` = attempts that are repeated */
	uint64_t waiting, stuck;               /* runs at the last round; `stuck` = set aside */
};
struct forward_counts forward_counts(void);

/* Returns the seconds to wait after `failures` failures in a row. The time doubles with each
 * failure, up to 300 s. `random` is in 0 <= random < 1. */
double forward_delay(unsigned failures, double random);

/* ---- the receiver's answer; any thread ---- */

/* Returns true when the receiver refuses the run for good: its JSON error is bad_body (400) or
 * too_large (413). The status alone is not enough. A proxy, a load balancer or an HTTPS port may
 * also answer 400 or 413, and may be repaired later. */
bool forward_is_refusal(const struct http_response *a);

/* Returns true when the answer names the run. The status alone is not enough, because any server
 * may answer 200. */
bool forward_is_accepted(const struct http_response *a, const char *run_id);

/* Returns the beginning of the body, for the log. Cuts the body off there. */
const char *forward_answer_text(struct http_response *a);

#endif
