/* Learning from neighbours, if this version of recommender/ can do it. */
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/cost_aware.h"
#include "tests/bench/judge/judge.h"

#if __has_include("recommender/sizing/neighbours.h")
#include "recommender/sizing/neighbours.h"

/* The program leaves a job out when it makes the neighbours of that job. Here all jobs of a group
 * share one set of neighbours, which has the jobs of all other groups. A job therefore also lacks
 * the few other jobs of its group. */
#define GROUPS 8

struct known {
	size_t round; /* the runs before it are known */
	struct neighbours *of[GROUPS];
};

struct neighbourhood {
	const struct source *source;
	bool late, turns;
	const struct known *now; /* NULL = nothing is known yet */
	size_t n, room;
	struct known **known;
};

struct neighbourhood *neighbourhood_new(const struct source *s, const struct judge_options *o)
{
	struct neighbourhood *h = xcalloc(1, sizeof *h);

	h->source = s;
	h->late = o->late;
	h->turns = o->turns;
	return h;
}

void neighbourhood_free(struct neighbourhood *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->n; i++) {
		for (size_t group = 0; group < GROUPS; group++)
			neighbours_free(h->known[i]->of[group]);
		free(h->known[i]);
	}
	free(h->known);
	free(h);
}

/* Lists jobs outside the group, newest first. A job whose runs are all replayed is older than a job
 * that has more runs. Jobs that have more runs keep their order. */
static size_t newest_jobs(const struct source *s, size_t round, size_t group, size_t most,
	const struct job **ret)
{
	size_t n = 0;

	for (size_t least = round; least > 0 && n < most; least--)
		for (size_t k = 0; k < s->n && n < most; k++)
			if (k % GROUPS != group &&
				(s->job[k].n == least || (least == round && s->job[k].n > round)))
				ret[n++] = &s->job[k];
	return n;
}

static void add_job(struct neighbours *n, const struct job *job, size_t round)
{
	struct neighbour_run run[NEIGHBOUR_RUNS_MAX];
	size_t end = job->n < round ? job->n : round,
	       start = end > NEIGHBOUR_RUNS_MAX ? end - NEIGHBOUR_RUNS_MAX : 0;

	for (size_t i = start; i < end; i++)
		run[i - start] = (struct neighbour_run){
			.peak = job->run[i].peak,
			.input = job->run[i].input,
			.duration = job->run[i].duration,
		};
	neighbours_add_job(n, run, end - start);
}

static struct known *get_to_know(const struct source *s, size_t round, bool turns)
{
	struct known *ret = xcalloc(1, sizeof *ret);
	const struct job *job[NEIGHBOUR_JOBS_MAX];

	ret->round = round;
	for (size_t group = 0; group < GROUPS; group++) {
		size_t n = newest_jobs(s, round, group, ARRAY_LEN(job), job);

		ret->of[group] = neighbours_new();
		for (size_t k = 0; k < n; k++)
			add_job(ret->of[group], job[k],
				round + (turns && (size_t)(job[k] - s->job) % GROUPS < group));
		neighbours_finish(ret->of[group]);
	}
	return ret;
}

static size_t longest_job(const struct source *s)
{
	size_t n = 0;

	for (size_t k = 0; k < s->n; k++)
		n = s->job[k].n > n ? s->job[k].n : n;
	return n;
}

/* Returns the last round, up to this one, at which jobs look at their neighbours. They look before
 * each of the first ten rounds, then whenever the number of rounds has grown by a tenth. */
static size_t last_look(size_t round)
{
	size_t at = 0;

	for (size_t next = 0; next <= round; next += 1 + next / 10)
		at = next;
	return at;
}

void neighbourhood_renew(struct neighbourhood *h, size_t round)
{
	size_t look = h->late ? longest_job(h->source) : last_look(round), i = h->n;

	while (i > 0 && h->known[i - 1]->round != look)
		i--;
	if (!i) {
		GROW(h->known, h->n, h->room);
		h->known[h->n++] = get_to_know(h->source, look, h->turns);
		i = h->n;
	}
	h->now = h->known[i - 1];
}

const struct neighbours *neighbourhood_of(const struct neighbourhood *h, size_t job)
{
	return h && h->now ? h->now->of[job % GROUPS] : NULL;
}

void neighbourhood_tell(void *state, const struct neighbours *n)
{
	cost_aware_use_prior(state, neighbours_prior(n));
}

#else

struct neighbourhood *neighbourhood_new(const struct source *s, const struct judge_options *o)
{
	(void)s;
	(void)o;
	return NULL;
}

void neighbourhood_free(struct neighbourhood *h)
{
	(void)h;
}

void neighbourhood_renew(struct neighbourhood *h, size_t round)
{
	(void)h;
	(void)round;
}

const struct neighbours *neighbourhood_of(const struct neighbourhood *h, size_t job)
{
	(void)h;
	(void)job;
	return NULL;
}

void neighbourhood_tell(void *state, const struct neighbours *n)
{
	(void)state;
	(void)n;
}

#endif
