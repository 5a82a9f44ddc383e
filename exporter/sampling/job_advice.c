#include "exporter/sampling/job_advice.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/latest.h"
#include "collectors/base/mem.h"
#include "collectors/base/units.h"

/* clang-format off */
#define WARNING_METRICS(X) \
X(APPLY_SAFE, .name = "rightsize_recommended_apply_safe", .labels = {"job_name"}, \
  .help = "1 when a program may act on the job's recommendation without a person, else 0") \
X(WARNINGS, .name = "rightsize_recommended_warnings", .labels = {"job_name", "code", "severity"}, \
  .help = "1 for each warning of the job's recommendation; /recommend has the sentences")

#define SIZE_METRICS(X) \
X(REQUESTED_CPU, .name = "rightsize_job_requested_cpu_cores", .unit = "cores", .labels = {"job_name"}, \
  .help = "CPU cores that the newest run with a known request of CPU requested, also when no run is active") \
X(REQUESTED_MEMORY, .name = "rightsize_job_requested_memory_bytes", .unit = "bytes", .labels = {"job_name"}, \
  .help = "Memory that the newest run with a known request of memory requested, also when no run is active") \
X(RECOMMENDED_CPU, .name = "rightsize_job_recommended_cpu_cores", .unit = "cores", .labels = {"job_name"}, \
  .help = "CPU cores to request for the next run: demand.cpu_cores of /recommend, before it is rounded up for a system") \
X(RECOMMENDED_MEMORY, .name = "rightsize_job_recommended_memory_bytes", .unit = "bytes", .labels = {"job_name"}, \
  .help = "Memory to request for the next run: demand.memory_bytes of /recommend, before it is rounded up for a system") \
X(HIDDEN, .name = "rightsize_jobs_hidden", .type = METRIC_GAUGE, \
  .help = "Jobs of the history whose costs, sizes and warnings /metrics leaves out: it has those of the 1,000 jobs with the newest runs; /jobs has all")
/* clang-format on */

static_assert(JOBS_MAX == 1000, "the help of rightsize_jobs_hidden says so");

enum { WARNING_METRICS(METRIC_ID) };
static const struct metric warning_metrics[] = {WARNING_METRICS(METRIC_ROW)};
enum { SIZE_METRICS(METRIC_ID) };
static const struct metric size_metrics[] = {SIZE_METRICS(METRIC_ROW)};

struct job_advice_table {
	struct shared shared;
	struct arena memory; /* owns all rows and names */
	size_t n;
	struct job_advice *row; /* sorted by name */
	size_t hidden;          /* number of jobs without a row */
};

static struct latest newest = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* a job_advice_table */

static void release(struct shared *s)
{
	struct job_advice_table *t = (struct job_advice_table *)(void *)s;

	arena_done(&t->memory);
	free(t);
}

static int by_name(const void *a, const void *b)
{
	const struct job_advice *left = a, *right = b;

	return strcmp(left->job_name, right->job_name);
}

void job_advice_publish(const struct job_advice *row, size_t n, size_t hidden)
{
	struct job_advice_table *t = xcalloc(1, sizeof *t);

	shared_init(&t->shared, release);
	t->n = n;
	t->hidden = hidden;
	t->row = arena_alloc(&t->memory, (n + 1) * sizeof *t->row);
	for (size_t i = 0; i < n; i++) {
		t->row[i] = row[i];
		t->row[i].job_name =
			arena_text(&t->memory, row[i].job_name, strlen(row[i].job_name));
	}
	qsort(t->row, n, sizeof *t->row, by_name);
	latest_set(&newest, &t->shared);
}

void job_advice_clear(void)
{
	latest_set(&newest, NULL);
}

struct job_advice_table *job_advice_get(void)
{
	return (struct job_advice_table *)(void *)latest_get(&newest);
}

void job_advice_done(struct job_advice_table **table)
{
	if (*table)
		shared_drop(&(*table)->shared);
}

const struct job_advice *job_advice_find(const struct job_advice_table *t, const char *job_name)
{
	const struct job_advice key = {.job_name = job_name};

	return t ? bsearch(&key, t->row, t->n, sizeof *t->row, by_name) : NULL;
}

uint32_t job_advice_codes(const struct job_advice *j)
{
	static const struct warnings not_sized = {1, {{.code = WARNING_NOT_SIZED}}};

	return j && j->sized ? j->codes : warnings_codes(&not_sized);
}

uint32_t job_advice_warnings(const struct job_advice_table *t, const char *job_name)
{
	return job_advice_codes(job_advice_find(t, job_name));
}

double job_advice_saving_a_month(const struct job_advice *j)
{
	return j ? j->saving_usd * j->runs_a_month : (double)NAN;
}

bool job_advice_too_small(const struct job_advice *j)
{
	return j && j->sized && (double)j->resources.memory * MIB > j->requested_memory_bytes;
}

static void add_warnings(struct block *out, const struct job_advice *j)
{
	const struct warnings all = warnings_from_codes(j->codes);

	if (!j->sized)
		return;
	for (size_t i = 0; i < all.n; i++) {
		const struct warning_row *w = &warning_rows[all.at[i].code];

		POINT(out, WARNINGS, 1, j->job_name, w->code, severity_name(w->severity));
	}
	POINT(out, APPLY_SAFE, warnings_allow_apply(&all), j->job_name);
}

static void add_sizes(struct block *out, const struct job_advice *j)
{
	POINT(out, REQUESTED_CPU, j->requested_cpu_cores, j->job_name);
	POINT(out, REQUESTED_MEMORY, j->requested_memory_bytes, j->job_name);
	POINT(out, RECOMMENDED_CPU, j->recommended_cpu_cores, j->job_name);
	POINT(out, RECOMMENDED_MEMORY, j->recommended_memory_bytes, j->job_name);
}

static int collect(void (*add)(struct block *out, const struct job_advice *j), struct block *out)
{
	AUTO(job_advice_done) struct job_advice_table *t = job_advice_get();

	if (!t)
		return -ENOENT;
	for (size_t i = 0; i < t->n; i++)
		add(out, &t->row[i]);
	return 0;
}

static int collect_warnings(void *state, const struct host *host, struct block *out, struct err *e)
{
	(void)state;
	(void)host;
	(void)e;
	return collect(add_warnings, out);
}

static int collect_sizes(void *state, const struct host *host, struct block *out, struct err *e)
{
	AUTO(job_advice_done) struct job_advice_table *t = job_advice_get();

	(void)state;
	(void)host;
	(void)e;
	if (t)
		POINT(out, HIDDEN, (double)t->hidden);
	return collect(add_sizes, out);
}

const struct collector collector_warnings = {
	.name = "warnings",
	.help = "Warnings of the recommendations, and whether programs may act on them",
	.metrics = warning_metrics,
	.n_metrics = ARRAY_LEN(warning_metrics),
	.collect = collect_warnings,
};

const struct collector collector_sizes = {
	.name = "sizes",
	.help = "What jobs request, and what is recommended for them",
	.metrics = size_metrics,
	.n_metrics = ARRAY_LEN(size_metrics),
	.collect = collect_sizes,
};
