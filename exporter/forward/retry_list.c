/* The list is searched linearly, because few runs fail. */
#include "exporter/forward/retry_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/runs.h"

/* A run that failed this many times in a row is set aside, whatever the reasons were. */
#define FAILURES_TO_GIVE_WAY 3

struct retry_entry {
	char run_id[RUN_ID_MAX];
	unsigned failures;
	bool aside;
	struct retry_wait wait;
};

static struct retry_entry *find_entry(const struct retry_list *s, const char *run_id)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->run[i].run_id, run_id) == 0)
			return &s->run[i];
	return NULL;
}

static double seconds_left(const struct retry_entry *b, struct mono now, double most)
{
	return fmin(b->wait.seconds, most) - mono_seconds_between(b->wait.now, now);
}

static void forget_entry(struct retry_list *s, struct retry_entry *b)
{
	*b = s->run[--s->n];
}

static void forget_the_next_one(struct retry_list *s, struct mono now)
{
	struct retry_entry *next = s->run;

	for (size_t i = 1; i < s->n; i++)
		if (seconds_left(&s->run[i], now, INFINITY) < seconds_left(next, now, INFINITY))
			next = &s->run[i];
	forget_entry(s, next);
}

static struct retry_entry *find_or_begin(struct retry_list *s, const char *run_id, struct mono now)
{
	struct retry_entry *b = find_entry(s, run_id);

	if (b)
		return b;
	if (s->n == RETRY_LIST_MAX)
		forget_the_next_one(s, now);
	GROW(s->run, s->n, s->room);
	b = &s->run[s->n++];
	*b = (struct retry_entry){.failures = 0};
	snprintf(b->run_id, sizeof b->run_id, "%s", run_id);
	return b;
}

unsigned retry_list_failures(const struct retry_list *s, const char *run_id)
{
	const struct retry_entry *b = find_entry(s, run_id);

	return b ? b->failures : 0;
}

bool retry_list_add(struct retry_list *s, const char *run_id, bool by_itself,
	struct retry_wait wait)
{
	struct retry_entry *b = find_or_begin(s, run_id, wait.now);
	bool was_aside = b->aside;

	b->failures++;
	b->aside = was_aside || by_itself || b->failures >= FAILURES_TO_GIVE_WAY;
	b->wait = wait;
	return b->aside && !was_aside;
}

bool retry_list_is_aside(const struct retry_list *s, const char *run_id)
{
	const struct retry_entry *b = find_entry(s, run_id);

	return b && b->aside;
}

static bool is_due(const struct retry_entry *b, struct mono now, double most)
{
	return b->aside && seconds_left(b, now, most) <= 0;
}

bool retry_list_is_due(const struct retry_list *s, const char *run_id, struct mono now, double most)
{
	const struct retry_entry *b = find_entry(s, run_id);

	return b && is_due(b, now, most);
}

bool retry_list_any_due(const struct retry_list *s, struct mono now, double most)
{
	for (size_t i = 0; i < s->n; i++)
		if (is_due(&s->run[i], now, most))
			return true;
	return false;
}

size_t retry_list_count(const struct retry_list *s)
{
	return s->n;
}

size_t retry_list_count_aside(const struct retry_list *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->run[i].aside;
	return n;
}

void retry_list_remove(struct retry_list *s, const char *run_id)
{
	struct retry_entry *b = find_entry(s, run_id);

	if (b)
		forget_entry(s, b);
}

static bool is_among(const char *wanted, const char *const *run_id, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(run_id[i], wanted) == 0)
			return true;
	return false;
}

void retry_list_keep_only(struct retry_list *s, const char *const *run_id, size_t n)
{
	for (size_t i = s->n; i-- > 0;)
		if (!is_among(s->run[i].run_id, run_id, n))
			forget_entry(s, &s->run[i]);
}

void retry_list_done(struct retry_list *s)
{
	free(s->run);
	*s = (struct retry_list){0};
}
