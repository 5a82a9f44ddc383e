/* Sizings, and the newest of them once more. */
#include "exporter/answers/sizing.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "exporter/answers/job_runs.h"
#include "exporter/answers/sizing_parameters.h"

/* All that a result depends on. */
struct question {
	const char *job_name;
	const struct strategy *strategy;
	struct sizing_options options;
	double since;       /* only runs that started then or later; -INFINITY = all */
	double window_days; /* that since is ago; NaN = all */
	struct job_mark mark;
};

struct entry {
	struct sized sized;
	TAILQ_ENTRY(entry) link;
	struct arena arena;
	struct question question; /* its texts in arena */
	size_t bytes;
	struct mono used;
};

TAILQ_HEAD(entries, entry);

struct sized_cache {
	pthread_mutex_t lock;   /* guards the rest */
	struct entries entries; /* the last used first */
	size_t n, bytes;
};

/* ---- what is kept ---- */

static void entry_free(struct shared *s)
{
	struct entry *entry = (struct entry *)(void *)s;
	struct arena arena = entry->arena;

	free(entry);
	arena_done(&arena);
}

struct sized_cache *sized_cache_new(void)
{
	struct sized_cache *c = xcalloc(1, sizeof *c);

	pthread_mutex_init(&c->lock, NULL);
	TAILQ_INIT(&c->entries);
	return c;
}

/* With the lock. */
static void drop(struct sized_cache *c, struct entry *entry)
{
	TAILQ_REMOVE(&c->entries, entry, link);
	c->n--;
	c->bytes -= entry->bytes;
	shared_drop(&entry->sized.shared);
}

void sized_cache_free(struct sized_cache *c)
{
	if (!c)
		return;
	while (!TAILQ_EMPTY(&c->entries))
		drop(c, TAILQ_FIRST(&c->entries));
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void sized_cache_tidy(struct sized_cache *c, double seconds)
{
	struct mono now = now_read().mono;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	for (struct entry *last; (last = TAILQ_LAST(&c->entries, entries)) != NULL;) {
		if (mono_seconds_between(last->used, now) <= seconds)
			break;
		drop(c, last);
	}
	pthread_mutex_unlock(&c->lock);
}

static bool same_options(const struct sizing_options *a, const struct sizing_options *b)
{
	return a->runs == b->runs && a->risk == b->risk && a->percentile == b->percentile &&
	       a->margin == b->margin && a->margin_given == b->margin_given &&
	       a->input_bytes == b->input_bytes && a->attempt == b->attempt;
}

/* The same but for the time; a window that moved, but lets the same runs in, is the same. */
static bool same_words(const struct question *a, const struct question *b)
{
	return a->strategy == b->strategy && same_options(&a->options, &b->options) &&
	       isinf(a->since) == isinf(b->since) && strcmp(a->job_name, b->job_name) == 0;
}

/* Held for the caller; NULL = not there. What was true before a run came or went is dropped. */
static struct entry *find(struct sized_cache *c, const struct question *q)
{
	struct entry *found = NULL, *next;

	pthread_mutex_lock(&c->lock);
	for (struct entry *entry = TAILQ_FIRST(&c->entries); entry && !found; entry = next) {
		next = TAILQ_NEXT(entry, link);
		if (!same_words(&entry->question, q))
			continue;
		if (!job_mark_same(&entry->question.mark, &q->mark)) {
			drop(c, entry);
			continue;
		}
		found = entry;
		found->used = now_read().mono;
		shared_hold(&found->sized.shared);
		TAILQ_REMOVE(&c->entries, found, link);
		TAILQ_INSERT_HEAD(&c->entries, found, link);
	}
	pthread_mutex_unlock(&c->lock);
	return found;
}

static void keep(struct sized_cache *c, struct entry *entry)
{
	if (entry->bytes > SIZED_BYTES_MAX)
		return;
	shared_hold(&entry->sized.shared);
	entry->used = now_read().mono;
	pthread_mutex_lock(&c->lock);
	TAILQ_INSERT_HEAD(&c->entries, entry, link);
	c->n++;
	c->bytes += entry->bytes;
	while (c->n > SIZED_MAX || c->bytes > SIZED_BYTES_MAX)
		drop(c, TAILQ_LAST(&c->entries, entries));
	pthread_mutex_unlock(&c->lock);
}

/* ---- what is computed ---- */

static size_t bytes_of(const struct runs *runs)
{
	size_t bytes = sizeof(struct entry) + 2 * runs->n * sizeof *runs->run;

	for (size_t i = 0; i < runs->n; i++)
		bytes += runs->run[i].n_stats * sizeof *runs->run[i].stats;
	return bytes;
}

static int reply_no_demand(struct reply *r, const struct question *q, const struct runs *all,
	const struct runs *runs, const struct err *why)
{
	if (!runs->n)
		return reply_no_recent_run(r, q->job_name, all, q->window_days);
	for (size_t i = 0; i < runs->n; i++)
		if (runs->run[i].outcome == OUTCOME_SUCCEEDED)
			return reply_error(r, 404, "no_data", why->text, NULL, NULL);
	return reply_no_successful_run(r, q->job_name, runs, q->window_days);
}

/* As sized_job. */
static int size(struct history *h, const struct question *q, struct entry *ret, struct reply *r,
	struct err *e)
{
	struct sized *s = &ret->sized;
	struct err why = {0};
	struct runs all;
	int code = job_runs_of(h, q->job_name, 0, false, &ret->arena, &all, r, e);

	if (code <= 0)
		return code;
	s->runs = runs_since(&all, q->since);
	code = q->strategy->size(&s->runs, &q->options, &ret->arena, &s->sizing, &why);
	if (code == -ENODATA)
		return reply_no_demand(r, q, &all, &s->runs, &why);
	if (code)
		return err_set(e, code, "%s", why.text);
	ret->question = *q;
	ret->question.job_name = arena_text(&ret->arena, q->job_name, strlen(q->job_name));
	ret->bytes = bytes_of(&all);
	return 1;
}

int sized_job(struct app *app, const struct arguments *a, struct sized **ret, struct reply *reply,
	struct err *e)
{
	struct question q = {
		.job_name = argument_text(a, "job_name"),
		.strategy = sizing_strategy(a),
		.since = sizing_since(a, wall_seconds(now_read().wall)),
		.window_days = argument_number(a, "window_days"),
	};
	AUTO(history_done) struct history *h = NULL;
	struct entry *entry = NULL;
	int code;

	if (!sizing_options(a, &q.options, reply))
		return 0;
	code = app_history(app, &h, e);
	if (code == -ENOENT)
		return reply_no_history(app, reply);
	/* Before the runs are read: what changes in between makes the result old, not wrong. */
	if (code == 0 && app->sized)
		code = history_job_mark(h, q.job_name, q.since, &q.mark, e);
	if (code)
		return code;
	if (app->sized)
		entry = find(app->sized, &q);
	if (entry) {
		*ret = &entry->sized;
		return 1;
	}
	entry = xcalloc(1, sizeof *entry);
	shared_init(&entry->sized.shared, entry_free);
	code = size(h, &q, entry, reply, e);
	if (code > 0 && app->sized)
		keep(app->sized, entry);
	if (code > 0)
		*ret = &entry->sized;
	else
		shared_drop(&entry->sized.shared);
	return code;
}

void sized_done(struct sized **s)
{
	if (*s)
		shared_drop(&(*s)->shared);
}
