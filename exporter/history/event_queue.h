/* A bounded first-in-first-out queue of events that the historian writes to the history. An event
 * is the start of a run, a sample, the finish of a run, or the page of a server (struct
 * history_page).
 *
 * When there are too many samples, the oldest sample is merged into the next sample of its run. The
 * merged sample covers both intervals, so the totals of the run stay right. If no sample can be
 * merged, the oldest sample is dropped. When there are too many other events, the oldest of them is
 * dropped. The functions do not lock; the caller does. */
#ifndef EXPORTER_HISTORY_EVENT_QUEUE_H
#define EXPORTER_HISTORY_EVENT_QUEUE_H

#include "exporter/history/history.h"

enum event_kind { EVENT_BEGIN, EVENT_SAMPLE, EVENT_FINISH, EVENT_PAGE };

struct event {
	struct event *next;
	enum event_kind kind;
	bool refused; /* the history can never store this event */
	union {
		struct run_begin begin;
		struct sample sample;
		struct run_finish finish;
		struct history_page page;
	};
	/* The texts and numbers to which these members point lie after this struct, in the same
	 * allocation. One free() therefore frees all of them. */
};

struct event *event_queue_new_begin(const struct run_begin *b);
struct event *event_queue_new_sample(const struct sample *s, size_t n_columns);
struct event *event_queue_new_finish(const struct run_finish *f);
struct event *event_queue_new_page(const struct history_page *p);

struct event_queue {
	struct event *first, *last;
	size_t n, samples;             /* `n` counts all events, `samples` only samples */
	size_t max_samples, max_runs;  /* limits of samples and of other events; 0 = no limit */
	const struct columns *columns; /* columns of a sample; needed when max_samples is set */
	/* Numbers of events that were removed because a limit was exceeded. samples_dropped:
	 * samples, including those that were merged into another sample. runs_dropped: other
	 * events. */
	uint64_t samples_dropped, runs_dropped;
	uint64_t samples_lost; /* number of samples that were dropped without a merge */
};

void event_queue_push(struct event_queue *r, struct event *take);
/* Removes and returns the oldest event, or returns NULL. The caller frees the event. */
struct event *event_queue_pop(struct event_queue *r);
/* Moves at most the `n` oldest events of `from` to the end of `to`. */
void event_queue_move(struct event_queue *to, struct event_queue *from, size_t n);
/* Moves all events of `from` to the front of `r`, so that they are popped before the events that
 * `r` already has. */
void event_queue_put_back(struct event_queue *r, struct event_queue *from);
void event_queue_done(struct event_queue *r);

#endif
