#include "exporter/answers/neighbourhood.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "collectors/base/job_key.h"
#include "collectors/base/mem.h"
#include "exporter/core/memory_budget.h"
#include "recommender/run_labels.h"
#include "recommender/sizing/neighbour_run.h"

/* ---- namespaces ---- */

/* Labels that divide jobs into groups that learn from each other, as namespaces do. */
static const struct {
	/* The label counts only for runs of this batch or workflow system. NULL = it counts for any
	 * system, but only if the job key has no namespace and no cluster. */
	const char *system;
	const char *label;
} borders[] = {{NULL, "namespace"}, {NULL, "cluster"}, {"flyte", "project"}, {"flyte", "domain"}};

static uint64_t mix(uint64_t hash, const void *data, size_t len)
{
	const uint64_t both[2] = {hash, hash_bytes(data, len)};

	return hash_bytes(both, sizeof both);
}

/* Returns a hash of the namespace and the cluster of a job, and of its labels that divide jobs
 * (borders). 0 = it has none of these. */
static uint64_t namespace_of(const char *job, const char *system, const char *labels)
{
	const char *place = job_key_place(job);
	uint64_t hash = *place ? hash_bytes(place, strlen(place)) : 0;

	for (size_t i = 0; i < ARRAY_LEN(borders); i++) {
		const char *label = borders[i].label, *only = borders[i].system;
		struct slice text = run_labels_find(labels, (struct slice){label, strlen(label)});

		if (text.data && (only ? system && strcmp(system, only) == 0 : !*place))
			hash = mix(hash + i, text.data, text.len);
	}
	return hash;
}

/* ---- reading ---- */

struct neighbourhood {
	uint64_t space, fingerprint;
	size_t jobs;
	struct neighbours *neighbours;
};

struct neighbourhood_table {
	struct shared shared;
	int64_t ended; /* number of ended runs (history_ended()) before the table was read */
	struct mono made;
	size_t n, jobs;
	struct neighbourhood of[NAMESPACES_MAX];
};

static void release(struct shared *s)
{
	struct neighbourhood_table *t = (struct neighbourhood_table *)(void *)s;

	for (size_t i = 0; i < t->n; i++)
		neighbours_free(t->of[i].neighbours);
	free(t);
}

static struct neighbourhood *find_space(struct neighbourhood_table *t, uint64_t space)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->of[i].space == space)
			return &t->of[i];
	return NULL;
}

static struct neighbourhood *find_or_add(struct neighbourhood_table *t, uint64_t space)
{
	struct neighbourhood *found = find_space(t, space);

	if (found || t->n == NAMESPACES_MAX)
		return found;
	found = &t->of[t->n++];
	*found = (struct neighbourhood){.space = space, .neighbours = neighbours_new()};
	return found;
}

/* Adds the job with these runs, newest first, to a neighbourhood. */
static void add_job(struct neighbourhood *b, const struct runs *runs)
{
	struct neighbour_run learnt[NEIGHBOUR_RUNS_MAX];
	size_t first = NEIGHBOUR_RUNS_MAX;

	for (size_t i = 0; i < runs->n; i++) {
		if (!neighbour_run_of(&runs->run[i], &learnt[first - 1]))
			continue;
		const struct neighbour_run *l = &learnt[--first];
		const double numbers[] = {l->peak, l->input, l->duration, l->at_least};

		b->fingerprint = mix(b->fingerprint, numbers, sizeof numbers);
	}
	if (first == NEIGHBOUR_RUNS_MAX)
		return;
	b->jobs++;
	b->fingerprint = mix(b->fingerprint, &b->jobs, sizeof b->jobs);
	neighbours_add_job(b->neighbours, learnt + first, NEIGHBOUR_RUNS_MAX - first);
}

static int read_jobs(struct neighbourhood_table *t, struct history *h, struct err *e)
{
	AUTO(arena_done) struct arena names = {0}, arena = {0};
	struct recent_job *job;
	size_t n;
	int code = history_recent_jobs(h, RECENT_RUNS, RECENT_JOBS, &names, &job, &n, e);

	for (size_t i = 0; code == 0 && i < n && t->jobs < JOBS_READ_MAX; i++) {
		const struct run_origin *o = &job[i].origin;
		struct neighbourhood *b =
			find_or_add(t, namespace_of(job[i].job_name, o->system, o->labels));
		struct runs runs;

		if (!b || b->jobs == NEIGHBOUR_JOBS_MAX)
			continue;
		t->jobs++;
		arena_reset(&arena);
		code = history_memory_runs(h, job[i].id, NEIGHBOUR_RUNS_MAX, &arena, &runs, e);
		if (code == 0)
			add_job(b, &runs);
	}
	for (size_t i = 0; code == 0 && i < t->n; i++)
		neighbours_finish(t->of[i].neighbours);
	return code;
}

static int make_table(struct history *h, int64_t ended, struct neighbourhood_table **ret,
	struct err *e)
{
	struct neighbourhood_table *t = xcalloc(1, sizeof *t);

	shared_init(&t->shared, release);
	t->ended = ended;
	t->made = now_read().mono;
	int code = -ENOMEM;

	if (memory_budget_is_short(NEIGHBOURHOOD_BYTES))
		err_set(e, code, "runs of similar jobs: no memory is left");
	else
		code = read_jobs(t, h, e);
	if (code)
		shared_drop(&t->shared);
	else
		*ret = t;
	return code;
}

/* ---- the cache ---- */

struct neighbourhoods {
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t made;
	struct neighbourhood_table *current; /* NULL = never read */
	bool making;
};

struct neighbourhoods *neighbourhoods_new(void)
{
	struct neighbourhoods *c = xcalloc(1, sizeof *c);

	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->made, NULL);
	return c;
}

void neighbourhoods_free(struct neighbourhoods *c)
{
	if (!c)
		return;
	if (c->current)
		shared_drop(&c->current->shared);
	pthread_cond_destroy(&c->made);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static bool is_recent(const struct neighbourhood_table *t, int64_t ended)
{
	double more = fabs((double)(ended - t->ended));

	return more == 0 ||
	       (10 * more < (double)t->ended &&
		       mono_seconds_between(t->made, now_read().mono) < NEIGHBOURHOOD_SECONDS);
}

/* Returns the current table with a new reference. Returns NULL when the caller must make a new
 * table. `ended`: number of ended runs now. */
static struct neighbourhood_table *hold_current(struct neighbourhoods *c, int64_t ended)
{
	struct neighbourhood_table *t;

	pthread_mutex_lock(&c->lock);
	while (!c->current && c->making)
		pthread_cond_wait(&c->made, &c->lock);
	t = c->current;
	if (t && (c->making || is_recent(t, ended))) {
		shared_hold(&t->shared);
	} else {
		t = NULL;
		c->making = true;
	}
	pthread_mutex_unlock(&c->lock);
	return t;
}

/* Stores the new table `t` and wakes the waiting threads. Call it after hold_current returned NULL,
 * even if no table could be made: then `t` is NULL. */
static void keep_table(struct neighbourhoods *c, struct neighbourhood_table *t)
{
	struct neighbourhood_table *old = NULL;

	pthread_mutex_lock(&c->lock);
	if (t) {
		shared_hold(&t->shared);
		old = c->current;
		c->current = t;
	}
	c->making = false;
	pthread_cond_broadcast(&c->made);
	pthread_mutex_unlock(&c->lock);
	if (old)
		shared_drop(&old->shared);
}

/* Returns the previous table with a new reference, or NULL if there is none. Used when a new table
 * cannot be made, so that answers still work. */
static struct neighbourhood_table *hold_previous(struct neighbourhoods *c)
{
	struct neighbourhood_table *t;

	pthread_mutex_lock(&c->lock);
	t = c->current;
	if (t)
		shared_hold(&t->shared);
	pthread_mutex_unlock(&c->lock);
	return t;
}

static int hold_table(struct neighbourhoods *c, struct history *h, struct neighbourhood_table **ret,
	struct err *e)
{
	int64_t ended = history_ended(h);

	if (ended < 0) {
		err_system(e, (int)ended, "count the runs of the history");
		return (int)ended;
	}
	*ret = c ? hold_current(c, ended) : NULL;
	if (*ret)
		return 0;
	int code = make_table(h, ended, ret, e);

	if (c)
		keep_table(c, *ret);
	if (code && code != -EBADMSG && c) /* do not hide that the history is damaged */
		*ret = hold_previous(c);
	if (code == -ENOMEM && !*ret)
		memory_budget_give_up();
	return *ret ? 0 : code;
}

int job_neighbours_find(struct app *app, struct history *h, const char *job_name,
	struct job_neighbours *ret, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct neighbourhood_table *t = NULL;
	struct run_origin origin;
	int code = history_job_origin(h, job_name, &arena, &origin, e);

	if (code == 0)
		code = hold_table(app->neighbourhoods, h, &t, e);
	if (code)
		return code;
	const struct neighbourhood *b =
		find_space(t, namespace_of(job_name, origin.system, origin.labels));

	ret->held = &t->shared;
	/* A single neighbour may be this job itself, so nothing can be learnt. */
	if (b && b->jobs > 1) {
		ret->jobs = b->neighbours;
		ret->fingerprint = b->fingerprint;
	}
	return 0;
}

void job_neighbours_done(struct job_neighbours *n)
{
	shared_drop(n->held);
	*n = (struct job_neighbours){0};
}
