/* Traces as jobs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "tests/bench/judge/judge.h"

/* Without durations, all runs get the same weight. Without a minimum, very short runs would have no
 * weight. */
#define DURATION_UNKNOWN 3600
#define DURATION_MIN     0.1

static bool is_chosen(const char *names, const char *name)
{
	size_t len = strlen(name);

	if (!names)
		return true;
	for (const char *at = names; (at = strstr(at, name)); at++)
		if ((at == names || at[-1] == ',') && (at[len] == ',' || !at[len]))
			return true;
	return false;
}

static void add_job(struct source *s, const struct trace_row *row, size_t n,
	const struct judge_options *o)
{
	struct job job = {.n = n < o->cap ? n : o->cap};

	job.run = xcalloc(job.n, sizeof *job.run);
	for (size_t i = 0; i < job.n; i++)
		job.run[i] = rule_observation(row[i].peak_mib * MIB, trace_input(&row[i], o->input),
			isnan(row[i].duration) ? DURATION_UNKNOWN :
						 fmax(row[i].duration, DURATION_MIN));
	GROW(s->job, s->n, s->room);
	s->job[s->n++] = job;
}

/* Jobs with similar names often behave alike. After a shuffle, each part of the jobs resembles the
 * whole. */
static void shuffle_jobs(struct source *s)
{
	uint64_t series = 1;

	for (size_t k = s->n; k > 1; k--) {
		size_t other = judge_random_below(&series, k);
		struct job job = s->job[other];

		s->job[other] = s->job[k - 1];
		s->job[k - 1] = job;
	}
}

void sources_of(const struct trace *t, const struct judge_options *o, struct sources *ret)
{
	for (size_t i = 0, next; i < t->n; i = next) {
		const char *name = t->row[i].source;

		next = trace_label_end(t, i);
		if (next - i < JUDGE_RUNS_MIN || !is_chosen(o->sources, name))
			continue;
		if (!ret->n || strcmp(ret->source[ret->n - 1].name, name) != 0) {
			GROW(ret->source, ret->n, ret->room);
			ret->source[ret->n++] = (struct source){.name = name};
		}
		add_job(&ret->source[ret->n - 1], t->row + i, next - i, o);
	}
	for (size_t i = 0; i < ret->n; i++)
		shuffle_jobs(&ret->source[i]);
	for (size_t i = 0; i < ret->n && !o->alone; i++)
		ret->source[i].neighbourhood = neighbourhood_new(&ret->source[i], o);
}

struct source source_copy(const struct source *s)
{
	struct source copy = {.name = s->name, .n = s->n, .room = s->n};

	copy.job = xcalloc(s->n + 1, sizeof *copy.job);
	for (size_t k = 0; k < s->n; k++) {
		copy.job[k] = s->job[k];
		copy.job[k].run = xcalloc(s->job[k].n + 1, sizeof *copy.job[k].run);
		memcpy(copy.job[k].run, s->job[k].run, s->job[k].n * sizeof *copy.job[k].run);
	}
	return copy;
}

void source_done(struct source *s)
{
	for (size_t k = 0; k < s->n; k++)
		free(s->job[k].run);
	free(s->job);
	neighbourhood_free(s->neighbourhood);
}

void sources_done(struct sources *s)
{
	for (size_t i = 0; i < s->n; i++)
		source_done(&s->source[i]);
	free(s->source);
}
