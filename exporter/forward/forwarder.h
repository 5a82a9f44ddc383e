/* The threads that send ended runs to a receiver. A receiver is another exporter
 * (exporter/forward/to_exporter.h) or a Prometheus-compatible store (exporter/remote/to_store.h). A
 * thread posts several runs in one request. If the receiver neither takes nor refuses any of them,
 * the thread posts them one at a time. A run may be posted more than once: a receiver recognises a
 * run that it already has.
 *
 * The history is the queue. Each ended run waits there until it is marked as sent. Other processes
 * may have recorded the run. After a restart, the program continues with the runs that are not
 * marked. The limits of the history also limit the queue.
 *
 * After a failure, the thread waits before it tries again. The wait grows with each failure in a
 * row, and a part of it is random. A run that the receiver refuses for good (VERDICT_REFUSED) is
 * not sent again. A run that fails repeatedly is set aside and retried separately, so that it does
 * not block other runs (exporter/forward/retry_list.h). */
#ifndef EXPORTER_FORWARD_FORWARDER_H
#define EXPORTER_FORWARD_FORWARDER_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/err.h"
#include "exporter/client/endpoint.h"
#include "exporter/history/history.h"

struct forwarder;
struct historian;

/* The receiver's decision about one run of a request. */
enum run_verdict {
	VERDICT_OPEN, /* not decided: the run must be sent again */
	VERDICT_TAKEN,
	VERDICT_REFUSED, /* the receiver will never take the run, so it is not sent again */
};

/* How runs are sent to one kind of receiver. */
struct forward_protocol {
	enum history_receiver to;
	const char *thread; /* name of the thread, at most 15 bytes */
	const char *content_type;
	const char *const *header; /* further headers, as in struct endpoint_document */
	/* largest number of runs in a request, at most FORWARD_RUNS_MAX */
	size_t runs_at_once;
	/* HTTP statuses that mean, after a request with one run: the receiver works, but cannot
	 * store this run. 0 ends the list. */
	int statuses_of_run[2];
	/* Appends the body of a request with the first of these `n` runs: as many as fit into one
	 * request. Returns their number, at least 1. */
	size_t (*write)(struct buf *body, const struct run *const *run, size_t n);
	/* Reads the receiver's answer to a request with these runs, and sets ret[i] to the decision
	 * about run[i]. Before the call, all of `ret` is VERDICT_OPEN. Returns the reason why runs
	 * were refused or were not taken: a constant, or a text in the arena. */
	const char *(*read)(const struct http_response *a, const struct run *const *run, size_t n,
		enum run_verdict *ret, struct arena *arena);
};
#define FORWARD_RUNS_MAX 256

struct forwarder_options {
	const struct forward_protocol *protocol;
	const char *url;  /* URL of the receiver; it was checked when the option was read */
	const char *path; /* path that is appended to `url`, such as "/runs" */
	/* the caller sets all members except stop, answer_max and the time limits, which
	 * forwarder_start sets */
	struct endpoint_options endpoint;
	const char *history_path;
	struct historian *historian; /* the historian that marks runs as sent */
	/* true = a job waits until its run is sent, so look for ended runs more often */
	bool hasty;
};

/* The texts in `o` and the historian must live longer than the forwarder. */
int forwarder_start(struct forwarder **ret, const struct forwarder_options *o, struct err *e);

/* Stops the thread and frees `f`. First sends the runs that still wait, for at most
 * timeout_seconds, or until a signal of signals_end arrives. All threads must block these signals.
 * Stopping takes less than a second, unless the disk hangs. `f` may be NULL.
 *
 * Runs are sent only from the history. Call this function after historian_settle, so that all runs
 * are in the history, and before historian_stop.
 *
 * Returns -ETIMEDOUT when the disk of the history does not answer for five more seconds. `f` is
 * then not freed, and its thread still uses the historian. The caller must end the program by
 * _exit(2). */
int forwarder_stop(struct forwarder *f, double timeout_seconds);

/* Counts for the program's own metrics: sums over all threads of this program that send to one kind
 * of receiver. Any thread may call forward_counts. */
struct forward_counts {
	bool active;
	uint64_t delivered, refused, failures; /* `failures` = failed attempts, which are retried */
	/* `waiting`: number of runs that were not sent when the last round ended. `stuck`: how many
	 * of them are set aside after failures (retry_list.h). */
	uint64_t waiting, stuck;
};
struct forward_counts forward_counts(enum history_receiver to);

/* Returns `url` followed by `path`. Slashes at the end of `url` are left out. The caller frees the
 * text. */
char *forward_url(const char *url, const char *path);

/* Returns the beginning of the body of the answer, for the log. */
const char *forward_answer_text(const struct http_response *a, struct arena *arena);

#endif
