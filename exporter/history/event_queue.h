/*
 * Events on their way to the historian, in order and bounded: past a bound the oldest samples (or,
 * for begins and finishes, the oldest of those) make room. A sample that does is joined with the next of its run, which
 * then tells the growth of both intervals, so that the run's totals stay right. No locking of its own.
 */
#ifndef EXPORTER_HISTORY_EVENT_QUEUE_H
#define EXPORTER_HISTORY_EVENT_QUEUE_H

#include "exporter/history/history.h"

enum event_kind { EVENT_BEGIN, EVENT_SAMPLE, EVENT_FINISH };

struct event {
	struct event *next;
	enum event_kind kind;
	bool refused; /* the history cannot take it, now or later */
	union {
		struct run_begin begin;
		struct sample sample;
		struct run_finish finish;
	};
	/* What the pointers above point to follows in the same allocation. */
};

struct event *event_queue_new_begin(const struct run_begin *b);
struct event *event_queue_new_sample(const struct sample *s, size_t n_columns);
struct event *event_queue_new_finish(const struct run_finish *f);

struct event_queue {
	struct event *first, *last;
	size_t n, samples;             /* n - samples are begins and finishes */
	size_t max_samples, max_runs;  /* 0 = no bound */
	const struct columns *columns; /* of samples; with max_samples */
	uint64_t samples_dropped, runs_dropped;
	uint64_t samples_lost; /* of samples_dropped: there was no next one to join them with */
};

void event_queue_push(struct event_queue *r, struct event *take);
struct event *
event_queue_pop(struct event_queue *r); /* the oldest, or NULL; the caller's to free */
void event_queue_move(struct event_queue *to, struct event_queue *from,
	size_t n); /* the oldest n at most, to the end of to */
void event_queue_put_back(struct event_queue *r,
	struct event_queue *from); /* all of from, in front of r */
void event_queue_done(struct event_queue *r);

#endif
