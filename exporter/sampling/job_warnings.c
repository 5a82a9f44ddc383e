#include "exporter/sampling/job_warnings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/latest.h"
#include "collectors/base/mem.h"

/* clang-format off */
#define WARNING_METRICS(X) \
X(APPLY_SAFE, .name = "rightsize_recommended_apply_safe", .labels = {"job_name"}, \
  .help = "1 when a program may act on the job's recommendation without a person, else 0") \
X(WARNINGS, .name = "rightsize_recommended_warnings", .labels = {"job_name", "code", "severity"}, \
  .help = "1 for each warning of the job's recommendation; /recommend has the sentences")
/* clang-format on */

enum { WARNING_METRICS(METRIC_ID) };
static const struct metric warning_metrics[] = {WARNING_METRICS(METRIC_ROW)};

struct job_warnings_table {
	struct shared shared;
	struct arena memory; /* owns all rows and names */
	size_t n;
	struct job_warnings *row; /* sorted by name */
};

static struct latest newest = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* a job_warnings_table */

static void release(struct shared *s)
{
	struct job_warnings_table *t = (struct job_warnings_table *)(void *)s;

	arena_done(&t->memory);
	free(t);
}

static int by_name(const void *a, const void *b)
{
	const struct job_warnings *left = a, *right = b;

	return strcmp(left->job_name, right->job_name);
}

void job_warnings_publish(const struct job_warnings *row, size_t n)
{
	struct job_warnings_table *t = xcalloc(1, sizeof *t);

	shared_init(&t->shared, release);
	t->n = n;
	t->row = arena_alloc(&t->memory, (n + 1) * sizeof *t->row);
	for (size_t i = 0; i < n; i++)
		t->row[i] = (struct job_warnings){
			arena_text(&t->memory, row[i].job_name, strlen(row[i].job_name)),
			row[i].codes};
	qsort(t->row, n, sizeof *t->row, by_name);
	latest_set(&newest, &t->shared);
}

void job_warnings_clear(void)
{
	latest_set(&newest, NULL);
}

struct job_warnings_table *job_warnings_get(void)
{
	return (struct job_warnings_table *)(void *)latest_get(&newest);
}

void job_warnings_done(struct job_warnings_table **table)
{
	if (*table)
		shared_drop(&(*table)->shared);
}

uint32_t job_warnings_of(const struct job_warnings_table *t, const char *job_name)
{
	static const struct warnings not_sized = {1, {{.code = WARNING_NOT_SIZED}}};
	const struct job_warnings key = {.job_name = job_name};
	const struct job_warnings *found =
		t ? bsearch(&key, t->row, t->n, sizeof *t->row, by_name) : NULL;

	return found ? found->codes : warnings_codes(&not_sized);
}

static void add_job(struct block *out, const struct job_warnings *j)
{
	const struct warnings all = warnings_from_codes(j->codes);

	for (size_t i = 0; i < all.n; i++) {
		const struct warning_row *w = &warning_rows[all.at[i].code];

		POINT(out, WARNINGS, 1, j->job_name, w->code, severity_name(w->severity));
	}
	POINT(out, APPLY_SAFE, warnings_allow_apply(&all), j->job_name);
}

static int collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	AUTO(job_warnings_done) struct job_warnings_table *t = job_warnings_get();

	(void)state;
	(void)host;
	(void)e;
	if (!t)
		return -ENOENT;
	for (size_t i = 0; i < t->n; i++)
		add_job(out, &t->row[i]);
	return 0;
}

const struct collector collector_warnings = {
	.name = "warnings",
	.help = "Warnings of the recommendations, and whether programs may act on them",
	.metrics = warning_metrics,
	.n_metrics = ARRAY_LEN(warning_metrics),
	.collect = collect,
};
