/* What jobs learn from their neighbours, where recommender/ can do that. */
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/cost_aware.h"
#include "tests/bench/judge/judge.h"

#if __has_include("recommender/sizing/neighbours.h")
#include "recommender/sizing/neighbours.h"

/* The program makes neighbours anew for every answer, without the job itself. Here each of the
 * groups shares them: a job misses the others of its group, which are few. */
#define GROUPS 8

struct neighbourhood {
	const struct source *source;
	size_t next_round;
	size_t n, room;
	struct neighbours **all; /* the newest GROUPS are valid now */
};

struct neighbourhood *neighbourhood_new(const struct source *s)
{
	struct neighbourhood *h = xcalloc(1, sizeof *h);

	h->source = s;
	return h;
}

void neighbourhood_free(struct neighbourhood *h)
{
	for (size_t i = 0; h && i < h->n; i++)
		neighbours_free(h->all[i]);
	if (h)
		free(h->all);
	free(h);
}

/* Jobs that have ended are older than jobs that go on. The sort is stable for jobs that go on. */
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

void neighbourhood_renew(struct neighbourhood *h, size_t round)
{
	const struct job *job[NEIGHBOUR_JOBS_MAX];

	if (round < h->next_round)
		return;
	h->next_round = round + 1 + round / 10;
	for (size_t group = 0; group < GROUPS; group++) {
		struct neighbours *made = neighbours_new();
		size_t n = newest_jobs(h->source, round, group, ARRAY_LEN(job), job);

		for (size_t k = 0; k < n; k++)
			add_job(made, job[k], round);
		neighbours_finish(made);
		GROW(h->all, h->n, h->room);
		h->all[h->n++] = made;
	}
}

const struct neighbours *neighbourhood_of(const struct neighbourhood *h, size_t job)
{
	return h && h->n ? h->all[h->n - GROUPS + job % GROUPS] : NULL;
}

void neighbourhood_tell(void *state, const struct neighbours *n)
{
	cost_aware_use_prior(state, neighbours_prior(n));
}

#else

struct neighbourhood *neighbourhood_new(const struct source *s)
{
	(void)s;
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
