/*
 * The thread that hands ended runs on to another exporter, which then knows the runs of all that do so:
 * POST URL/runs, one run each (exporter/forward/run_message.h), at least once. The spool is the history itself: what
 * ended and is not marked as handed on is waiting, bounded by the limits of the history, whoever recorded
 * it; after a kill at any moment it goes on where it was. The receiver knows a run it had already by its id.
 *
 * After a failure it waits, longer each time and never as long as others; what the receiver refuses for good
 * (forward_is_refusal) is not sent again. A run that the receiver answers with 500, or that fails again and again for
 * whatever reason, waits by itself and no longer holds up the others (exporter/forward/retry_list.h).
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
	const char *url; /* of the other exporter, checked by --forward.url; /runs is added */
	const char *token_file; /* read before each attempt, so that it may change; NULL = none */
	const char
		*ca_file; /* certificates to trust instead of the system's; NULL = the system's */
	const char *history_path;
	struct historian *historian; /* marks what was handed on */
};

/* The texts and the historian must outlive the forwarder. */
int forwarder_start(struct forwarder **ret, const struct forwarder_options *o, struct err *e);

/*
 * Tries for timeout_seconds to hand on what is left, and no longer when another of the signals_end comes, which all threads
 * block; then ends within a second. Before the historian stops, and
 * after historian_settle: a run that is not in the history yet is not handed on. NULL does nothing. -ETIMEDOUT after five
 * seconds more: the disk of the history does not answer, nothing was freed, and the historian is in use; leave by
 * _exit(2).
 */
int forwarder_stop(struct forwarder *f, double timeout_seconds);

/* Of all forwarders of this program: for its own metrics. Any thread. */
struct forward_counts {
	bool active;
	uint64_t delivered, refused, failures; /* failures: of attempts, which are repeated */
	uint64_t waiting, stuck;               /* runs, as of the last look; stuck: set aside */
};
struct forward_counts forward_counts(void);

/* Seconds to wait after so many failures in a row; random: 0 <= r < 1. The next ones: about twice as long. */
double forward_delay(unsigned failures, double random);

/* ---- what the other exporter says of a run; any thread ---- */

/*
 * Does an exporter refuse the run for good? Only what it says itself counts, its JSON error bad_body or too_large: any
 * proxy, load balancer or HTTPS port in between answers 400 or 413, too, and is mended some day.
 */
bool forward_is_refusal(const struct http_response *a);

/* Does an exporter say that it has the run? Whatever else listens there may answer 200. */
bool forward_is_accepted(const struct http_response *a, const char *run_id);

/* The beginning of the body, for the log; cuts it off there. */
const char *forward_answer_text(struct http_response *a);

#endif
