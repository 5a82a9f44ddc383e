#include "exporter/history/event_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A search for two samples to merge checks at most this many events, which takes about 0.5 ms. */
#define STEPS_MAX 65536

/* ---- events: one allocation each; texts follow the struct ---- */

#define SERVER_TEXTS(kind)                                                                         \
	offsetof(struct event, kind.server.vendor_id),                                             \
		offsetof(struct event, kind.server.instance_type),                                 \
		offsetof(struct event, kind.server.region),                                        \
		offsetof(struct event, kind.server.zone),                                          \
		offsetof(struct event, kind.server.allocation)

static const size_t begin_texts[] = {
	offsetof(struct event, begin.run_id),
	offsetof(struct event, begin.job_name),
	offsetof(struct event, begin.former_job),
	offsetof(struct event, begin.host),
	offsetof(struct event, begin.system),
	offsetof(struct event, begin.system_run),
	offsetof(struct event, begin.labels),
	SERVER_TEXTS(begin),
};
static const size_t finish_texts[] = {
	offsetof(struct event, finish.run_id),
	offsetof(struct event, finish.cpu_source),
	offsetof(struct event, finish.memory_source),
	offsetof(struct event, finish.network_source),
	offsetof(struct event, finish.architecture),
	offsetof(struct event, finish.cpu_level),
	offsetof(struct event, finish.gpu_manufacturer),
	offsetof(struct event, finish.gpu_model),
	offsetof(struct event, finish.disk_source),
	offsetof(struct event, finish.not_measured),
	offsetof(struct event, finish.end_reason),
	SERVER_TEXTS(finish),
};

static const size_t page_texts[] = {
	offsetof(struct event, page.url), offsetof(struct event, page.address)};

static const char **text_at(struct event *e, size_t offset)
{
	return (const char **)(void *)((char *)e + offset);
}

/* Copies the event and its texts. A NULL text stays NULL. */
static struct event *event_new(struct event from, const size_t *texts, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		if (*text_at(&from, texts[i]))
			size += strlen(*text_at(&from, texts[i])) + 1;
	struct event *e = xmalloc(sizeof *e + size);
	char *at = (char *)(e + 1);

	*e = from;
	for (size_t i = 0; i < n; i++) {
		const char **text = text_at(e, texts[i]);

		if (*text)
			*text = memcpy(at, *text, strlen(*text) + 1);
		at += *text ? strlen(*text) + 1 : 0;
	}
	return e;
}

struct event *event_queue_new_begin(const struct run_begin *b)
{
	return event_new((struct event){.kind = EVENT_BEGIN, .begin = *b}, begin_texts,
		ARRAY_LEN(begin_texts));
}

struct event *event_queue_new_finish(const struct run_finish *f)
{
	return event_new((struct event){.kind = EVENT_FINISH, .finish = *f}, finish_texts,
		ARRAY_LEN(finish_texts));
}

struct event *event_queue_new_page(const struct history_page *p)
{
	return event_new((struct event){.kind = EVENT_PAGE, .page = *p}, page_texts,
		ARRAY_LEN(page_texts));
}

struct event *event_queue_new_sample(const struct sample *s, size_t n_columns)
{
	struct event *e = xcalloc(1, sizeof *e + n_columns * sizeof(double));

	e->kind = EVENT_SAMPLE;
	e->sample = *s;
	e->sample.value = (double *)(e + 1);
	if (n_columns)
		memcpy(e->sample.value, s->value, n_columns * sizeof(double));
	return e;
}

/* ---- the queue ---- */

static void append(struct event_queue *r, struct event *e)
{
	e->next = NULL;
	if (r->last)
		r->last->next = e;
	else
		r->first = e;
	r->last = e;
	r->n++;
	r->samples += e->kind == EVENT_SAMPLE;
}

/* Removes the event after `previous`, or the first event when `previous` is NULL. */
static struct event *take_behind(struct event_queue *r, struct event *previous)
{
	struct event *e = previous ? previous->next : r->first;

	if (previous)
		previous->next = e->next;
	else
		r->first = e->next;
	if (r->last == e)
		r->last = previous;
	r->n--;
	r->samples -= e->kind == EVENT_SAMPLE;
	e->next = NULL;
	return e;
}

static bool is_finish_of(const struct event *e, const char *run_id)
{
	return e->kind == EVENT_FINISH && strcmp(e->finish.run_id, run_id) == 0;
}

/* Returns the next sample of the same run before the finish of the run, or NULL. `*steps` is the
 * maximum number of events to check; subtracts the number of checked events. */
static struct event *next_of_run(const struct event *e, size_t *steps)
{
	const char *run_id = e->sample.run_id;

	for (struct event *v = e->next; v && *steps && !is_finish_of(v, run_id); v = v->next) {
		if (v->kind == EVENT_SAMPLE && strcmp(v->sample.run_id, run_id) == 0)
			return v;
		--*steps;
	}
	return NULL;
}

static double joined(enum metric_fold how, double earlier, double later)
{
	switch (how) {
	case FOLD_DELTA:
		/* An unknown growth needs no correction: the next known growth includes it, because
		 * it is counted from the last known value (sample_rows.c). */
		return isnan(later) ? earlier : isnan(earlier) ? later : earlier + later;
	case FOLD_PEAK:
		return fmax(earlier, later);
	case FOLD_VALUE:
	case FOLD_NONE:
		return later;
	}
	return later;
}

static void join(const struct columns *columns, const struct sample *earlier, struct sample *later)
{
	later->duration += earlier->duration;
	for (size_t i = 0; i < columns->n; i++)
		later->value[i] =
			joined(columns->metric[i]->fold, earlier->value[i], later->value[i]);
}

/* Merges two successive samples of a run: the oldest pair in the queue. Samples before and after
 * the finish of their run are not merged. Returns false when STEPS_MAX steps find no pair. */
static bool join_oldest(struct event_queue *r)
{
	struct event *previous = NULL;
	size_t steps = STEPS_MAX;

	for (struct event *e = r->first; e && steps; e = e->next) {
		struct event *next = e->kind == EVENT_SAMPLE ? next_of_run(e, &steps) : NULL;

		if (next) {
			join(r->columns, &e->sample, &next->sample);
			free(take_behind(r, previous));
			return true;
		}
		previous = e;
		steps -= steps > 0;
	}
	return false;
}

static void drop_oldest(struct event_queue *r, bool sample)
{
	struct event *previous = NULL, *e = r->first;

	while (e && (e->kind == EVENT_SAMPLE) != sample) {
		previous = e;
		e = e->next;
	}
	if (e)
		free(take_behind(r, previous));
}

static void keep_bounds(struct event_queue *r)
{
	for (; r->max_samples && r->samples > r->max_samples; r->samples_dropped++)
		if (!join_oldest(r)) {
			drop_oldest(r, true);
			r->samples_lost++;
		}
	for (; r->max_runs && r->n - r->samples > r->max_runs; r->runs_dropped++)
		drop_oldest(r, false);
}

void event_queue_push(struct event_queue *r, struct event *take)
{
	append(r, take);
	keep_bounds(r);
}

struct event *event_queue_pop(struct event_queue *r)
{
	return r->first ? take_behind(r, NULL) : NULL;
}

void event_queue_move(struct event_queue *to, struct event_queue *from, size_t n)
{
	while (n-- > 0 && from->first)
		append(to, event_queue_pop(from));
}

void event_queue_put_back(struct event_queue *r, struct event_queue *from)
{
	if (!from->first)
		return;
	from->last->next = r->first;
	if (!r->last)
		r->last = from->last;
	r->first = from->first;
	r->n += from->n;
	r->samples += from->samples;
	from->first = from->last = NULL;
	from->n = from->samples = 0;
	keep_bounds(r);
}

void event_queue_done(struct event_queue *r)
{
	struct event *e;

	while ((e = event_queue_pop(r)))
		free(e);
}
