/* A short list, searched from its beginning: runs that fail are few. */
#include "exporter/forward/retry_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/runs.h"

/* In a row, before a run that fails for a reason that may be another's gives way. */
#define FAILURES_TO_GIVE_WAY 3

struct setback {
	char run_id[RUN_ID_MAX];
	unsigned failures;
	bool aside;
	struct setbacks_wait wait;
};

static struct setback *find(const struct setbacks *s, const char *run_id)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->run[i].run_id, run_id) == 0)
			return &s->run[i];
	return NULL;
}

static double seconds_left(const struct setback *b, struct mono now, double most)
{
	return fmin(b->wait.seconds, most) - mono_seconds_between(b->wait.now, now);
}

static void forget(struct setbacks *s, struct setback *b)
{
	*b = s->run[--s->n];
}

static void forget_the_next_one(struct setbacks *s, struct mono now)
{
	struct setback *next = s->run;

	for (size_t i = 1; i < s->n; i++)
		if (seconds_left(&s->run[i], now, INFINITY) < seconds_left(next, now, INFINITY))
			next = &s->run[i];
	forget(s, next);
}

static struct setback *find_or_begin(struct setbacks *s, const char *run_id, struct mono now)
{
	struct setback *b = find(s, run_id);

	if (b)
		return b;
	if (s->n == SETBACKS_MAX)
		forget_the_next_one(s, now);
	GROW(s->run, s->n, s->room);
	b = &s->run[s->n++];
	*b = (struct setback){.failures = 0};
	snprintf(b->run_id, sizeof b->run_id, "%s", run_id);
	return b;
}

unsigned setbacks_failures(const struct setbacks *s, const char *run_id)
{
	const struct setback *b = find(s, run_id);

	return b ? b->failures : 0;
}

bool setbacks_add(struct setbacks *s, const char *run_id, bool by_itself, struct setbacks_wait wait)
{
	struct setback *b = find_or_begin(s, run_id, wait.now);
	bool was_aside = b->aside;

	b->failures++;
	b->aside = was_aside || by_itself || b->failures >= FAILURES_TO_GIVE_WAY;
	b->wait = wait;
	return b->aside && !was_aside;
}

bool setbacks_is_aside(const struct setbacks *s, const char *run_id)
{
	const struct setback *b = find(s, run_id);

	return b && b->aside;
}

static bool is_due(const struct setback *b, struct mono now, double most)
{
	return b->aside && seconds_left(b, now, most) <= 0;
}

bool setbacks_is_due(const struct setbacks *s, const char *run_id, struct mono now, double most)
{
	const struct setback *b = find(s, run_id);

	return b && is_due(b, now, most);
}

bool setbacks_any_due(const struct setbacks *s, struct mono now, double most)
{
	for (size_t i = 0; i < s->n; i++)
		if (is_due(&s->run[i], now, most))
			return true;
	return false;
}

size_t setbacks_count(const struct setbacks *s)
{
	return s->n;
}

size_t setbacks_aside(const struct setbacks *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->run[i].aside;
	return n;
}

void setbacks_remove(struct setbacks *s, const char *run_id)
{
	struct setback *b = find(s, run_id);

	if (b)
		forget(s, b);
}

static bool is_among(const char *wanted, const char *const *run_id, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(run_id[i], wanted) == 0)
			return true;
	return false;
}

void setbacks_keep(struct setbacks *s, const char *const *run_id, size_t n)
{
	for (size_t i = s->n; i-- > 0;)
		if (!is_among(s->run[i].run_id, run_id, n))
			forget(s, &s->run[i]);
}

void setbacks_done(struct setbacks *s)
{
	free(s->run);
	*s = (struct setbacks){0};
}
