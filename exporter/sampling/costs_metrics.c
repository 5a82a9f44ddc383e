/* Costs as points. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "exporter/sampling/job_costs.h"
#include "exporter/sampling/job_costs_table.h"

/* clang-format off */
#define COST_METRICS(X) \
X(COST, .name = "rightsize_job_cost_usd", .unit = "usd", .labels = {"job_name"}, .type = METRIC_COUNTER, \
  .help = "What the job's runs in the history cost, each at the price of the server when it was first seen to have ended; goes on when runs are pruned") \
X(LAST_COST, .name = "rightsize_job_last_run_cost_usd", .unit = "usd", .labels = {"job_name"}, \
  .help = "What the job's newest ended run cost") \
X(FORECAST_COST, .name = "rightsize_job_forecast_cost_usd", .unit = "usd", .labels = {"job_name", "server"}, \
  .help = "What the next run is forecast to cost: on the current server, and on the one with the lowest cost of a run") \
X(FORECAST_DURATION, .name = "rightsize_job_forecast_duration_seconds", .unit = "seconds", \
  .labels = {"job_name", "server"}, \
  .help = "How long the next run is forecast to take: on the current server, and on the one with the lowest cost of a run") \
X(PRICE, .name = "rightsize_job_server_price_usd", .unit = "usd", .labels = {"job_name", "server"}, \
  .help = "What an hour of these servers costs") \
X(SERVER, .name = "rightsize_job_server", .type = METRIC_INFO, \
  .labels = {"job_name", "server", "vendor", "instance_type", "region", "allocation", "price_source", "price_as_of"}, \
  .help = "Which servers these are, and where their prices come from") \
X(CATALOGUE_TIMESTAMP, .name = "rightsize_catalogue_timestamp_seconds", .unit = "seconds", .type = METRIC_GAUGE, \
  .help = "When the prices that costs were last computed with were fetched, or what date they bear, since the Unix epoch")
/* clang-format on */

enum { COST_METRICS(METRIC_ID) };
static const struct metric cost_metrics[] = {COST_METRICS(METRIC_ROW)};

static struct latest newest = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* struct cost_table */

static void release(struct shared *s)
{
	struct cost_table *t = (struct cost_table *)(void *)s;

	arena_done(&t->memory);
	free(t);
}

struct cost_table *cost_table_new(size_t n)
{
	struct cost_table *t = xcalloc(1, sizeof *t);

	shared_init(&t->shared, release);
	t->catalogue_at = NAN;
	t->n = n;
	t->row = arena_alloc(&t->memory, (n + 1) * sizeof *t->row);
	return t;
}

void cost_table_publish(struct cost_table *take)
{
	latest_set(&newest, take ? &take->shared : NULL);
}

static void add_offer(struct block *out, const struct cost_row *r, unsigned i)
{
	const struct offer *o = &r->offer[i];
	const char *server = offer_name[i];

	if (!o->known)
		return;
	POINT(out, FORECAST_COST, o->amount, r->job_name, server);
	POINT(out, FORECAST_DURATION, o->seconds, r->job_name, server);
	POINT(out, PRICE, o->price, r->job_name, server);
	POINT(out, SERVER, 1, r->job_name, server, o->vendor_id, o->instance_type, o->region_id,
		o->allocation, r->source, r->as_of);
}

static int collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct shared *held = latest_get(&newest);
	const struct cost_table *t = (const struct cost_table *)(const void *)held;

	(void)state;
	(void)host;
	(void)e;
	if (!t)
		return -ENOENT;
	POINT(out, CATALOGUE_TIMESTAMP, t->catalogue_at);
	for (size_t i = 0; i < t->n; i++) {
		POINT(out, COST, t->row[i].total, t->row[i].job_name);
		POINT(out, LAST_COST, t->row[i].last, t->row[i].job_name);
		for (unsigned k = 0; k < OFFERS; k++)
			add_offer(out, &t->row[i], k);
	}
	shared_drop(held);
	return 0;
}

const struct collector collector_costs = {
	.name = "costs",
	.help = "What jobs cost, and are forecast to cost elsewhere",
	.metrics = cost_metrics,
	.n_metrics = ARRAY_LEN(cost_metrics),
	.collect = collect,
};
