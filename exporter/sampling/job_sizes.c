#include "exporter/sampling/job_sizes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/latest.h"
#include "collectors/base/mem.h"

/* clang-format off */
#define SIZE_METRICS(X) \
X(REQUESTED_CPU, .name = "rightsize_job_requested_cpu_cores", .unit = "cores", .labels = {"job_name"}, \
  .help = "CPU cores that the newest run with a known request of CPU requested, also when no run is active") \
X(REQUESTED_MEMORY, .name = "rightsize_job_requested_memory_bytes", .unit = "bytes", .labels = {"job_name"}, \
  .help = "Memory that the newest run with a known request of memory requested, also when no run is active") \
X(RECOMMENDED_CPU, .name = "rightsize_job_recommended_cpu_cores", .unit = "cores", .labels = {"job_name"}, \
  .help = "CPU cores to request for the next run: demand.cpu_cores of /recommend, before it is rounded up for a system") \
X(RECOMMENDED_MEMORY, .name = "rightsize_job_recommended_memory_bytes", .unit = "bytes", .labels = {"job_name"}, \
  .help = "Memory to request for the next run: demand.memory_bytes of /recommend, before it is rounded up for a system")
/* clang-format on */

enum { SIZE_METRICS(METRIC_ID) };
static const struct metric size_metrics[] = {SIZE_METRICS(METRIC_ROW)};

struct job_sizes_table {
	struct shared shared;
	struct arena memory; /* owns all rows and names */
	size_t n;
	struct job_sizes *row;
};

static struct latest newest = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* a job_sizes_table */

static void release(struct shared *s)
{
	struct job_sizes_table *t = (struct job_sizes_table *)(void *)s;

	arena_done(&t->memory);
	free(t);
}

void job_sizes_publish(const struct job_sizes *row, size_t n)
{
	struct job_sizes_table *t = xcalloc(1, sizeof *t);

	shared_init(&t->shared, release);
	t->n = n;
	t->row = arena_alloc(&t->memory, (n + 1) * sizeof *t->row);
	for (size_t i = 0; i < n; i++) {
		t->row[i] = row[i];
		t->row[i].job_name =
			arena_text(&t->memory, row[i].job_name, strlen(row[i].job_name));
	}
	latest_set(&newest, &t->shared);
}

void job_sizes_clear(void)
{
	latest_set(&newest, NULL);
}

static void add_job(struct block *out, const struct job_sizes *j)
{
	POINT(out, REQUESTED_CPU, j->requested_cpu_cores, j->job_name);
	POINT(out, REQUESTED_MEMORY, j->requested_memory_bytes, j->job_name);
	POINT(out, RECOMMENDED_CPU, j->recommended_cpu_cores, j->job_name);
	POINT(out, RECOMMENDED_MEMORY, j->recommended_memory_bytes, j->job_name);
}

static int collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct shared *held = latest_get(&newest);
	const struct job_sizes_table *t = (const struct job_sizes_table *)(const void *)held;

	(void)state;
	(void)host;
	(void)e;
	if (!t)
		return -ENOENT;
	for (size_t i = 0; i < t->n; i++)
		add_job(out, &t->row[i]);
	shared_drop(held);
	return 0;
}

const struct collector collector_sizes = {
	.name = "sizes",
	.help = "What jobs request, and what is recommended for them",
	.metrics = size_metrics,
	.n_metrics = ARRAY_LEN(size_metrics),
	.collect = collect,
};
