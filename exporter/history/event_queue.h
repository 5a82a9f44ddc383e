/*
 * A bounded queue of events for the historian, in order. When samples exceed their bound, the oldest
 * one is merged into the next sample of its run, which then covers both intervals: the totals of the
 * run stay right. When begins and finishes exceed their bound, the oldest is dropped. The caller
 * locks.
 */
#ifndef EXPORTER_HISTORY_EVENT_QUEUE_H
#define EXPORTER_HISTORY_EVENT_QUEUE_H

#include "exporter/history/history.h"

enum event_kind { EVENT_BEGIN, EVENT_SAMPLE, EVENT_FINISH };

struct event {
	struct event *next;
	enum event_kind kind;
	bool refused; /* the history can never store it */
	union {
		struct run_begin begin;
		struct sample sample;
		struct run_finish finish;
	};
	/* The texts and values that the pointers name follow in the same allocation. */
};

struct event *event_queue_new_begin(const struct run_begin *b);
struct event *event_queue_new_sample(const struct sample *s, size_t n_columns);
struct event *event_queue_new_finish(const struct run_finish *f);

struct event_queue {
	struct event *first, *last;
	size_t n, samples;             /* the other n - samples are begins and finishes */
	size_t max_samples, max_runs;  /* 0 = no bound */
	const struct columns *columns; /* of the samples; needed with max_samples */
	uint64_t samples_dropped, runs_dropped;
	uint64_t samples_lost; /* of samples_dropped: no next sample to merge with */
};

void event_queue_push(struct event_queue *r, struct event *take);
/* The oldest event, or NULL. The caller frees it. */
struct event *event_queue_pop(struct event_queue *r);
/* Moves at most the n oldest events to the end of to. */
void event_queue_move(struct event_queue *to, struct event_queue *from, size_t n);
/* Moves all of from in front of r. */
void event_queue_put_back(struct event_queue *r, struct event_queue *from);
void event_queue_done(struct event_queue *r);

#endif
