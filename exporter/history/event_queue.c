/* A bounded queue of events. */
#include "exporter/history/event_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many events are looked at to find what can be joined: half a millisecond. */
#define STEPS_MAX 65536

/* ---- events: one allocation each, texts behind the struct ---- */

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

/* Copies text to *at, moves *at behind it; NULL stays NULL. */
static const char *put_text(char **at, const char *text)
{
	size_t size = text_size(text);
	char *copy = *at;

	if (!text)
		return NULL;
	memcpy(copy, text, size);
	*at += size;
	return copy;
}

static struct event *event_new(enum event_kind kind, size_t more)
{
	struct event *e = xcalloc(1, sizeof *e + more);

	e->kind = kind;
	return e;
}

static size_t server_size(const struct run_server *s)
{
	return text_size(s->vendor_id) + text_size(s->instance_type) + text_size(s->region) +
	       text_size(s->zone) + text_size(s->allocation);
}

static struct run_server put_server(char **at, const struct run_server *s)
{
	struct run_server copy;

	copy.vendor_id = put_text(at, s->vendor_id);
	copy.instance_type = put_text(at, s->instance_type);
	copy.region = put_text(at, s->region);
	copy.zone = put_text(at, s->zone);
	copy.allocation = put_text(at, s->allocation);
	return copy;
}

struct event *event_of_begin(const struct run_begin *b)
{
	struct event *e = event_new(EVENT_BEGIN,
		text_size(b->run_id) + text_size(b->job_name) + text_size(b->host) +
			text_size(b->system) + text_size(b->system_run) + text_size(b->labels) +
			server_size(&b->server));
	char *at = (char *)(e + 1);

	e->begin = *b;
	e->begin.run_id = put_text(&at, b->run_id);
	e->begin.job_name = put_text(&at, b->job_name);
	e->begin.host = put_text(&at, b->host);
	e->begin.system = put_text(&at, b->system);
	e->begin.system_run = put_text(&at, b->system_run);
	e->begin.labels = put_text(&at, b->labels);
	e->begin.server = put_server(&at, &b->server);
	return e;
}

struct event *event_of_sample(const struct sample *s, size_t n_columns)
{
	struct event *e = event_new(EVENT_SAMPLE, n_columns * sizeof(double));

	e->sample = *s;
	e->sample.value = (double *)(e + 1);
	if (n_columns)
		memcpy(e->sample.value, s->value, n_columns * sizeof(double));
	return e;
}

struct event *event_of_finish(const struct run_finish *f)
{
	struct event *e = event_new(EVENT_FINISH,
		text_size(f->run_id) + text_size(f->cpu_source) + text_size(f->memory_source) +
			text_size(f->network_source) + text_size(f->architecture) +
			text_size(f->cpu_level) + server_size(&f->server));
	char *at = (char *)(e + 1);

	e->finish = *f;
	e->finish.run_id = put_text(&at, f->run_id);
	e->finish.cpu_source = put_text(&at, f->cpu_source);
	e->finish.memory_source = put_text(&at, f->memory_source);
	e->finish.network_source = put_text(&at, f->network_source);
	e->finish.architecture = put_text(&at, f->architecture);
	e->finish.cpu_level = put_text(&at, f->cpu_level);
	e->finish.server = put_server(&at, &f->server);
	return e;
}

/* ---- the queue ---- */

static void append(struct ring *r, struct event *e)
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

/* Takes out the event behind previous (NULL: the first). */
static struct event *take_behind(struct ring *r, struct event *previous)
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

/* The next sample of the same run; NULL: there is none. */
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

/* What is unknown of one interval is all in the other, or unknown of both. */
static double joined(enum metric_fold how, double earlier, double later)
{
	switch (how) {
	case FOLD_DELTA:
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

/* The oldest sample that has a next one. */
static bool join_oldest(struct ring *r)
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

static void drop_oldest(struct ring *r, bool sample)
{
	struct event *previous = NULL, *e = r->first;

	while (e && (e->kind == EVENT_SAMPLE) != sample) {
		previous = e;
		e = e->next;
	}
	if (e)
		free(take_behind(r, previous));
}

static void keep_bounds(struct ring *r)
{
	for (; r->max_samples && r->samples > r->max_samples; r->samples_dropped++)
		if (!join_oldest(r)) {
			drop_oldest(r, true);
			r->samples_lost++;
		}
	for (; r->max_runs && r->n - r->samples > r->max_runs; r->runs_dropped++)
		drop_oldest(r, false);
}

void ring_push(struct ring *r, struct event *take)
{
	append(r, take);
	keep_bounds(r);
}

struct event *ring_pop(struct ring *r)
{
	return r->first ? take_behind(r, NULL) : NULL;
}

void ring_move(struct ring *to, struct ring *from, size_t n)
{
	while (n-- > 0 && from->first)
		append(to, ring_pop(from));
}

void ring_put_back(struct ring *r, struct ring *from)
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

void ring_done(struct ring *r)
{
	struct event *e;

	while ((e = ring_pop(r)))
		free(e);
}
