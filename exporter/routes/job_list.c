#include "exporter/routes/job_list.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/mem.h"

/* A job of the list, and the value by which it is sorted. */
struct listed {
	struct job_head *head;
	const struct job_advice *advice; /* NULL = not known */
	double key;                      /* NaN = unknown */
	int way;                         /* 1 = ascending order, -1 = descending order */
	bool by_name;
};

/* ---- which jobs are shown ---- */

static bool is_any(const struct listed *j)
{
	(void)j;
	return true;
}

static bool has_failed(const struct listed *j)
{
	return j->head->last_outcome == OUTCOME_FAILED ||
	       j->head->last_outcome == OUTCOME_OOM_KILLED;
}

static bool can_save(const struct listed *j)
{
	return j->advice && j->advice->saving_usd > 0;
}

static bool is_too_small(const struct listed *j)
{
	return job_advice_too_small(j->advice);
}

static bool has_no_request(const struct listed *j)
{
	return !j->head->requests;
}

static const struct {
	const char *word;
	bool (*holds)(const struct listed *j); /* NULL = by the outcome of the newest run */
	enum outcome outcome;
} shows[] = {
	{"all", is_any, 0},
	{"running", NULL, OUTCOME_RUNNING},
	{"succeeded", NULL, OUTCOME_SUCCEEDED},
	{"failed", has_failed, 0},
	{"oom_killed", NULL, OUTCOME_OOM_KILLED},
	{"interrupted", NULL, OUTCOME_INTERRUPTED},
	{"can_save", can_save, 0},
	{"too_small", is_too_small, 0},
	{"no_request", has_no_request, 0},
};
static_assert(ARRAY_LEN(shows) <= JOB_SHOWS_MAX, "counts has room for each");

const char *job_list_show_word(size_t i)
{
	return i < ARRAY_LEN(shows) ? shows[i].word : NULL;
}

static bool shows_job(size_t i, const struct listed *j)
{
	return shows[i].holds ? shows[i].holds(j) : j->head->last_outcome == shows[i].outcome;
}

/* ---- the order ---- */

static double key_of_last(const struct listed *j)
{
	return j->head->last_started_at;
}

static double key_of_runs(const struct listed *j)
{
	return (double)j->head->runs;
}

static double key_of_value(const struct listed *j)
{
	return j->head->value;
}

static double key_of_saving(const struct listed *j)
{
	return job_advice_saving_a_month(j->advice);
}

static const struct {
	const char *word, *down;
	double (*key)(const struct listed *j); /* NULL = by name */
	enum head_value value;
} sorts[] = {
	{"last", "-last", key_of_last, HEAD_NOTHING},
	{"name", "-name", NULL, HEAD_NOTHING},
	{"runs", "-runs", key_of_runs, HEAD_NOTHING},
	{"failures", "-failures", key_of_value, HEAD_FAILURES},
	{"duration", "-duration", key_of_value, HEAD_DURATION},
	{"memory", "-memory", key_of_value, HEAD_MEMORY},
	{"saving", "-saving", key_of_saving, HEAD_NOTHING},
};

const char *job_list_sort_word(size_t i)
{
	return i >= 2 * ARRAY_LEN(sorts) ? NULL : i % 2 ? sorts[i / 2].down : sorts[i / 2].word;
}

static size_t sort_of(const char *word)
{
	size_t i = 0;

	while (strcmp(sorts[i].word, word + (*word == '-')) != 0)
		i++;
	return i;
}

static int by_name(const struct listed *x, const struct listed *y)
{
	int c = strcasecmp(x->head->job_name, y->head->job_name);

	return c ? c : strcmp(x->head->job_name, y->head->job_name);
}

static int in_order(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->by_name)
		return x->way * by_name(x, y);
	if (isnan(x->key) || isnan(y->key))
		return isnan(x->key) && isnan(y->key) ? by_name(x, y) : isnan(x->key) ? 1 : -1;
	return x->key < y->key ? -x->way : x->key > y->key ? x->way : by_name(x, y);
}

/* ---- the list ---- */

/* Returns true if the name contains each word of the search. Ignores the case of A to Z. */
static bool is_searched(const char *name, const char *search)
{
	char words[JOB_SEARCH_MAX + 1], *rest = words;

	if (!search)
		return true;
	snprintf(words, sizeof words, "%s", search);
	for (char *word; (word = strsep(&rest, " "));)
		if (!strcasestr(name, word))
			return false;
	return true;
}

static void tally(struct job_list *list, const struct listed *j)
{
	double saving = job_advice_saving_a_month(j->advice);

	for (size_t i = 0; i < ARRAY_LEN(shows); i++)
		list->counts[i] += shows_job(i, j);
	if (isnan(saving))
		return;
	list->saving_known++;
	list->saving_a_month += saving;
}

static size_t show_of(const char *word)
{
	size_t i = 0;

	while (strcmp(shows[i].word, word) != 0)
		i++;
	return i;
}

/* Copies to `all` the jobs that match the parameters `search` and `show`, and returns their number.
 * Counts in `list` the jobs that match `search`. */
static size_t keep(const struct arguments *a, const struct job_advice_table *advice,
	struct job_head *head, size_t n, struct listed *all, struct job_list *list)
{
	const char *search = argument_text(a, "search"), *sort = argument_text(a, "sort");
	size_t show = show_of(argument_text(a, "show")), by = sort_of(sort), kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct listed j = {
			.head = &head[i], .way = *sort == '-' ? -1 : 1, .by_name = !sorts[by].key};

		if (!argument_may_see(a, head[i].job_name) ||
			!is_searched(head[i].job_name, search))
			continue;
		j.advice = job_advice_find(advice, head[i].job_name);
		j.key = sorts[by].key ? sorts[by].key(&j) : (double)NAN;
		tally(list, &j);
		if (shows_job(show, &j))
			all[kept++] = j;
	}
	return kept;
}

int job_list_read(struct history *h, const struct arguments *a,
	const struct job_advice_table *advice, struct arena *arena, struct job_list *ret,
	struct err *e)
{
	size_t by = sort_of(argument_text(a, "sort")), n = 0, limit = argument_count(a, "limit"),
	       offset = argument_count(a, "offset");
	struct job_head *head = NULL;
	struct job_list list = {0};
	int code = history_job_heads(h, sorts[by].value, arena, &head, &n, e);

	if (code)
		return code;
	struct listed *all = arena_alloc(arena, (n + 1) * sizeof *all);

	list.total = keep(a, advice, head, n, all, &list);
	qsort(all, list.total, sizeof *all, in_order);
	list.n = offset >= list.total ? 0 : list.total - offset;
	list.n = list.n < limit ? list.n : limit;
	list.job = arena_alloc(arena, (list.n + 1) * sizeof *list.job);
	for (size_t i = 0; i < list.n; i++)
		list.job[i] = *all[offset + i].head;
	*ret = list;
	return 0;
}

void job_list_put(json_t *o, const struct job_list *list)
{
	json_t *counts = json_object(), *savings = json_object();

	json_put(o, "total", json_num((double)list->total));
	for (size_t i = 0; i < ARRAY_LEN(shows); i++)
		json_put(counts, shows[i].word, json_num((double)list->counts[i]));
	json_put(o, "counts", counts);
	json_put(savings, "usd_a_month",
		json_money(list->saving_known ? list->saving_a_month : (double)NAN));
	json_put(savings, "jobs", json_num((double)list->saving_known));
	json_put(o, "savings", savings);
}
