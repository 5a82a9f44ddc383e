/* The threads that send ended runs to a receiver: to another exporter
 * (exporter/forward/to_exporter.h), or to a store (exporter/remote/to_store.h). A thread posts
 * several runs in one request. If the receiver neither takes nor refuses any of them, the thread
 * posts them one at a time. Each run is posted at least once. If the receiver already has a run, it
 * recognises the run.
 *
 * The history is the queue. A run that any process has written waits there until it is marked as
 * forwarded, so a forwarder that was killed continues after a restart. The limits of the history
 * also limit the queue.
 *
 * After each further failure in a row the thread waits longer, and a part of the wait is random. A
 * run that the receiver refuses for good (VERDICT_REFUSED) is not sent again. A run that fails
 * repeatedly is set aside and retried separately, so that it does not block other runs
 * (exporter/forward/retry_list.h). */
#ifndef EXPORTER_FORWARD_FORWARDER_H
#define EXPORTER_FORWARD_FORWARDER_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/err.h"
#include "exporter/client/endpoint.h"
#include "exporter/history/history.h"

struct forwarder;
struct historian;

/* The receiver's decision about a run of the request. */
enum run_verdict {
	VERDICT_OPEN, /* not decided: the run must be sent again */
	VERDICT_TAKEN,
	VERDICT_REFUSED, /* the receiver will never take it */
};

/* How runs are sent to one kind of receiver. */
struct forward_protocol {
	enum history_receiver to;
	const char *thread; /* name of the thread, at most 15 bytes */
	const char *content_type;
	const char *const *header; /* further headers, as in struct endpoint_document */
	/* largest number of runs in a request, at most FORWARD_RUNS_MAX */
	size_t runs_at_once;
	/* HTTP statuses of answers which mean that the receiver could not store the one run of the
	 * request, but may store others; 0 = no more */
	int statuses_of_run[2];
	/* Appends a request to `body`, with as many of these runs, from the first on, as fit into
	 * one request. Returns their number, at least 1. */
	size_t (*write)(struct buf *body, const struct run *const *run, size_t n);
	/* Reads the answer to a request with these runs. Sets ret[i] to the decision about run[i];
	 * it is VERDICT_OPEN before the call. Returns the reason why runs were refused, or why none
	 * was taken, as a text in the arena or a constant. */
	const char *(*read)(const struct http_response *a, const struct run *const *run, size_t n,
		enum run_verdict *ret, struct arena *arena);
};
#define FORWARD_RUNS_MAX 256

struct forwarder_options {
	const struct forward_protocol *protocol;
	const char *url;  /* receiver, checked by its option */
	const char *path; /* is appended to `url`: "/runs" */
	/* how to log in, and ca_option; forwarder_start sets the other members */
	struct endpoint_options endpoint;
	const char *history_path;
	struct historian *historian; /* the historian that marks runs as sent */
};

/* The texts in `o` and the historian must live longer than the forwarder. */
int forwarder_start(struct forwarder **ret, const struct forwarder_options *o, struct err *e);

/* Sends the remaining runs for at most timeout_seconds. Then aborts, which takes less than a
 * second unless the disk hangs. A signal of signals_end ends the wait early; all threads must block
 * these signals. `f` may be NULL.
 *
 * Runs are sent only from the history. Call this function after historian_settle, so that all
 * runs are in the history, and before historian_stop.
 *
 * Returns -ETIMEDOUT when the disk of the history does not answer for five more seconds. `f` is
 * then not freed, and its thread still uses the historian. The caller must end the program by
 * _exit(2). */
int forwarder_stop(struct forwarder *f, double timeout_seconds);

/* Counts of all threads of this program that send to this kind of receiver. The program's own
 * metrics show them. Any thread may call forward_counts. */
struct forward_counts {
	bool active;
	uint64_t delivered, refused, failures; /* `failures` = failed attempts, which are retried */
	/* numbers of runs that were not sent after the last round; `stuck` of the `waiting` are set
	 * aside */
	uint64_t waiting, stuck;
};
struct forward_counts forward_counts(enum history_receiver to);

/* Returns `url`, without the slashes at its end, followed by `path`. The caller frees the text. */
char *forward_url(const char *url, const char *path);

/* Returns the beginning of the body of the answer, for the log. */
const char *forward_answer_text(const struct http_response *a, struct arena *arena);

#endif
