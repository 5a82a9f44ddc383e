/* Traces as jobs, and the few numbers that all tables need. */
#include "tests/bench/judge/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"

/* Traces without durations weigh all runs alike. Very short runs would weigh nothing. */
#define DURATION_UNKNOWN 3600
#define DURATION_MIN     0.1

static double input_of(const struct trace_row *row, enum input_mode mode)
{
	if (mode == INPUT_NONE)
		return NAN;
	return isnan(row->input_bytes) && mode == INPUT_PROXY ? row->read_bytes : row->input_bytes;
}

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
	struct job job = {.label = row->label, .n = n < o->cap ? n : o->cap};

	job.run = xcalloc(job.n, sizeof *job.run);
	for (size_t i = 0; i < job.n; i++)
		job.run[i] = rule_observation(row[i].peak_mib * MIB, input_of(&row[i], o->input),
			isnan(row[i].duration) ? DURATION_UNKNOWN :
						 fmax(row[i].duration, DURATION_MIN));
	GROW(s->job, s->n, s->room);
	s->job[s->n++] = job;
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
}

void sources_done(struct sources *s)
{
	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->source[i].n; k++)
			free(s->source[i].job[k].run);
		free(s->source[i].job);
	}
	free(s->source);
}

int judge_ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

double judge_quantile(const double *value, size_t n, double share)
{
	double at = share * (double)(n - 1);
	size_t below = (size_t)at;

	if (!n)
		return NAN;
	if (below + 1 >= n)
		return value[n - 1];
	return value[below] + (at - (double)below) * (value[below + 1] - value[below]);
}

void judge_binomial(size_t n, double p, size_t *low, size_t *high)
{
	double sum = 0, trials = (double)n;

	*low = 0;
	*high = n;
	for (size_t k = 0; k <= n && p > 0 && p < 1; k++) {
		double at = (double)k, before = sum;

		sum += exp(lgamma(trials + 1) - lgamma(at + 1) - lgamma(trials - at + 1) +
			   at * log(p) + (trials - at) * log1p(-p));
		if (before <= 0.025 && sum > 0.025)
			*low = k;
		if (before < 0.975 && sum >= 0.975) {
			*high = k;
			return;
		}
	}
	if (!(p > 0))
		*high = 0;
}
