/* A thread that copies the runs of a Prometheus-compatible store into the history (--history.url).
 * All routes answer from the history. With this option, the history is only a cache of the store,
 * and may be in memory. All exporters that read one store give a run the same id, so their answers
 * are equal.
 *
 * The first pass lists the jobs with the numbers of their runs, and then reads the runs, a few
 * hundred in each query. If a job has more runs than the history keeps, only its newest runs are
 * read.
 *
 * After the first pass, every READER_POLL_SECONDS the thread reads the runs that ended within the
 * last READER_LATEST_SECONDS. A run that arrives in the store later is found in another way: every
 * READER_LIST_SECONDS the thread lists all jobs again, and reads the runs of the jobs whose number
 * of runs has changed. */
#ifndef EXPORTER_REMOTE_HISTORY_READER_H
#define EXPORTER_REMOTE_HISTORY_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/err.h"
#include "exporter/client/endpoint.h"

#define READER_POLL_SECONDS 5
/* Runs that ended within this time are read at each poll. A run that arrives in the store later
 * than this after its end is found only when all jobs are listed. */
#define READER_LATEST_SECONDS 600
#define READER_LIST_SECONDS   600

struct historian;
struct history_reader;

struct history_reader_options {
	const char *url;                  /* URL of the API, to which /api/v1/query is appended */
	struct endpoint_options endpoint; /* the caller sets how to log in, and ca_option */
	struct historian *historian;      /* the historian that adds the runs to the history */
	double retention_seconds;         /* older runs are not read */
	/* only about this many newest runs of each job are read */
	uint64_t runs_per_job;
};

/* The texts in `o` and the historian must live longer than the reader. */
int history_reader_start(struct history_reader **ret, const struct history_reader_options *o,
	struct err *e);
/* Stops the thread, and aborts a transfer at once. `r` may be NULL. */
void history_reader_stop(struct history_reader *r);

/* Counts of the reader of this program. Any thread. */
struct reader_counts {
	bool active;
	bool complete; /* the first pass is over */
	double share;  /* part of the first pass that is done, from 0 to 1 */
	uint64_t runs; /* runs that were added to the history */
	/* runs that were left out, see struct store_runs; sums over all reads so far */
	uint64_t incomplete, collided, refused;
	uint64_t failures; /* failed rounds */
};
struct reader_counts reader_counts(void);

#endif
