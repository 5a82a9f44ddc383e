/*
 * The thread that forwards ended runs to another exporter (the receiver): POST URL/runs, one run
 * each (exporter/forward/run_message.h), at least once. The history is the queue: every ended run
 * that is not marked as forwarded waits there, whichever process recorded it. The limits of the
 * history bound the queue. A forwarder that was killed continues after a restart. The receiver
 * recognises a run that it already has by the run's id.
 *
 * After a failure the thread waits, each time longer, with jitter. A run that the receiver refuses
 * for good (forward_is_refusal) is not sent again. A run that fails again and again is set aside
 * and retried alone, so that it does not block the others (exporter/forward/retry_list.h).
 */
#ifndef EXPORTER_FORWARD_FORWARDER_H
#define EXPORTER_FORWARD_FORWARDER_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/err.h"

struct forwarder;
struct historian;
struct http_response; /* exporter/client/download.h */

struct forwarder_options {
	const char *url;        /* of the receiver, checked by --forward.url; /runs is added */
	const char *token_file; /* read before each attempt, so that it may change; NULL = none */
	const char *ca_file;    /* certificates to trust; NULL = the system's */
	const char *history_path;
	struct historian *historian; /* marks forwarded runs */
};

/* The texts and the historian must outlive the forwarder. */
int forwarder_start(struct forwarder **ret, const struct forwarder_options *o, struct err *e);

/*
 * Forwards the remaining runs for at most timeout_seconds, then ends within a second. A signal of
 * signals_end ends the wait early; all threads must block these signals. Call it after
 * historian_settle, because a run that is not in the history yet is not forwarded, and before
 * historian_stop. NULL does nothing. -ETIMEDOUT: the disk of the history did not answer for five
 * more seconds. Then nothing is freed and the historian is still in use: leave by _exit(2).
 */
int forwarder_stop(struct forwarder *f, double timeout_seconds);

/* Sums over all forwarders of this program, for its own metrics. Any thread. */
struct forward_counts {
	bool active;
	uint64_t delivered, refused, failures; /* failures: attempts that are repeated */
	uint64_t waiting, stuck;               /* runs, at the last look; stuck: set aside */
};
struct forward_counts forward_counts(void);

/* Seconds to wait after that many failures in a row: doubles each time. random: 0 <= r < 1. */
double forward_delay(unsigned failures, double random);

/* ---- the receiver's answer; any thread ---- */

/*
 * True when the receiver refuses the run for good: 400 bad_body or 413 too_large in its JSON error.
 * The status alone is not enough: a proxy, a load balancer or an HTTPS port in between also answers
 * 400 or 413, and may be repaired.
 */
bool forward_is_refusal(const struct http_response *a);

/* True when the answer names the run. The status alone is not enough: any server may answer 200. */
bool forward_is_accepted(const struct http_response *a, const char *run_id);

/* The beginning of the body, for the log. Cuts the body there. */
const char *forward_answer_text(struct http_response *a);

#endif
