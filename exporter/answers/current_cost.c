#include "exporter/answers/current_cost.h"
#include "recommender/catalogue/catalogue.h"
#include "recommender/catalogue/regions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct server *current_cost_find_server(const struct catalogue *c, const struct machine *m)
{
	return *m->vendor_id && *m->instance_type ?
		       catalogue_find(c, m->vendor_id, m->instance_type) :
		       NULL;
}

/* Returns options for finding the price of the current server: with its own allocation (on demand
 * if unknown), and without a deadline or a cost limit. */
static struct pick_options own_options(const struct current_cost_question *q, const bool *regions)
{
	struct pick_options o = *q->options;

	o.regions = regions;
	o.allocations =
		ALLOCATION_BIT(q->machine->allocation == MACHINE_SPOT ? ALLOCATION_SPOT :
									ALLOCATION_ONDEMAND);
	/* This objective needs no forecast of the duration. */
	o.objective = objective_find("price");
	o.deadline_seconds = o.max_cost = 0;
	return o;
}

static const bool *own_region(const struct current_cost_question *q, struct arena *arena)
{
	char name[sizeof q->machine->vendor_id + sizeof q->machine->region + 1];
	const char *const words[] = {name};
	const bool *ret = NULL;

	if (!*q->machine->region)
		return NULL;
	snprintf(name, sizeof name, "%s~%s", q->machine->vendor_id, q->machine->region);
	regions_find(q->catalogue, &(struct region_filter){.regions = {1, words}}, arena, &ret,
		NULL);
	return ret;
}

static void price(const struct current_cost_question *q, struct arena *arena,
	struct current_cost *t)
{
	const bool *regions = own_region(q, arena);
	struct pick_options o = own_options(q, regions);

	t->why = pick_one(q->catalogue, t->server, q->demand, &o, &t->current);
	if (t->why == EXCLUDED_REGION || !regions) {
		o.regions = NULL;
		t->elsewhere = true;
		t->why = pick_one(q->catalogue, t->server, q->demand, &o, &t->current);
	}
	t->priced = t->why == EXCLUSION_COUNT;
}

static void copy(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

static bool is_here(const char *host, const struct machine *here)
{
	return host && *host && strcmp(host, here->host) == 0;
}

static struct machine machine_at(const char *host, const struct run_server *s,
	const struct machine *here)
{
	struct machine m = {0};

	copy(m.host, sizeof m.host, host);
	if (!s->vendor_id || !s->instance_type)
		return is_here(host, here) ? *here : m;
	copy(m.vendor_id, sizeof m.vendor_id, s->vendor_id);
	copy(m.instance_type, sizeof m.instance_type, s->instance_type);
	copy(m.region, sizeof m.region, s->region);
	copy(m.zone, sizeof m.zone, s->zone);
	copy(m.source, sizeof m.source, "history");
	if (s->allocation && strcmp(s->allocation, "spot") == 0)
		m.allocation = MACHINE_SPOT;
	else if (s->allocation)
		m.allocation = MACHINE_ONDEMAND;
	return m;
}

static struct run_server server_of(const struct run *r)
{
	return (struct run_server){
		r->vendor_id, r->instance_type, r->region, r->zone, r->allocation};
}

struct machine current_cost_machine(const struct runs *runs, const struct machine *here)
{
	struct machine newest = *here;

	for (size_t i = 0; i < runs->n; i++) {
		struct run_server s = server_of(&runs->run[i]);
		struct machine m = machine_at(runs->run[i].host, &s, here);

		if (*m.vendor_id && *m.instance_type)
			return m;
		if (i == 0)
			newest = m;
	}
	return newest;
}

bool current_cost_same_terms(const struct machine *a, const struct machine *b)
{
	return strcmp(a->vendor_id, b->vendor_id) == 0 &&
	       strcmp(a->instance_type, b->instance_type) == 0 &&
	       strcmp(a->region, b->region) == 0 && a->allocation == b->allocation;
}

static double cost_at(const struct current_cost_question *q, const struct current_cost *at,
	const struct past_run *r)
{
	struct forecast took = {r->seconds, r->seconds, r->seconds, FORECAST_SAME};
	struct demand held = {NAN, NAN, NAN, NAN, r->disk_bytes, r->seconds};
	const char *code = q->options->currency ? q->options->currency : "USD";
	const struct currency *currency = catalogue_currency(q->catalogue, code);
	struct job_profile profile = forecast_profile(r->seconds);
	struct cost_terms terms = {.ipv4 = q->options->ipv4};

	if (!at->priced || !currency)
		return NAN;
	profile.sent_bytes = r->sent_bytes;

	struct run_bill bill = forecast_bill(q->catalogue, at->server,
		at->current.priced->allocation == ALLOCATION_SPOT, &took, &held, &profile, &terms);

	return forecast_cost_amount(q->catalogue, at->current.priced, &bill, currency);
}

double current_cost_of_run(const struct current_cost_question *q, const struct past_run *r,
	struct arena *arena, struct current_cost *at)
{
	static const struct demand nothing = {NAN, NAN, NAN, NAN, NAN, NAN};
	struct machine m = machine_at(r->host, &r->server, q->here);
	struct current_cost_question own = *q;

	own.machine = &m;
	own.demand = &nothing;
	if (!current_cost_same_terms(&m, &at->machine)) {
		*at = (struct current_cost){
			.machine = m, .server = current_cost_find_server(q->catalogue, &m)};
		if (at->server)
			price(&own, arena, at);
	}
	return cost_at(q, at, r);
}

static struct run_cost cost_of_past(const struct current_cost_question *q, const struct run *r,
	struct arena *arena, struct current_cost *at)
{
	struct past_run past = {r->host, server_of(r), r->duration_seconds,
		run_total(r, "network_sent_bytes"), run_peak(r, "disk_grown_bytes")};
	double amount = current_cost_of_run(q, &past, arena, at);

	return (struct run_cost){r, at->priced ? at->current.price : (double)NAN, amount};
}

static void past_runs(const struct current_cost_question *q, struct arena *arena,
	struct current_cost *t)
{
	struct current_cost at = {0};

	t->run = arena_alloc(arena, (q->runs->n + 1) * sizeof *t->run);
	for (size_t i = 0; i < q->runs->n; i++)
		if (q->runs->run[i].outcome != OUTCOME_RUNNING)
			t->run[t->n_runs++] = cost_of_past(q, &q->runs->run[i], arena, &at);
}

/* Sets the resources that the job gets: the request of the newest run with a known request. If no
 * run has one, the job gets the whole server. */
static void set_given(const struct current_cost_question *q, struct current_cost *t)
{
	for (size_t i = 0; i < q->runs->n; i++) {
		const struct run *r = &q->runs->run[i];

		if (isnan(r->requested_cpu_cores) && isnan(r->requested_memory_bytes))
			continue;
		t->given_cores = r->requested_cpu_cores;
		t->given_memory_bytes = r->requested_memory_bytes;
		return;
	}
	if (!t->server)
		return;
	t->given_all = true;
	t->given_cores = t->server->vcpus;
	t->given_memory_bytes = t->server->memory_amount * 1048576;
}

static double surplus(double have, double need)
{
	return isnan(have) || isnan(need) ? (double)NAN : fmax(have - need, 0);
}

static void set_needless(const struct current_cost_question *q, struct current_cost *t)
{
	set_given(q, t);
	t->needless_cores = surplus(t->given_cores, q->demand->cpu_cores);
	t->needless_memory_bytes = surplus(t->given_memory_bytes, q->demand->memory_bytes);
	if (!t->server)
		return;
	t->needless_share =
		forecast_server_share(t->server, t->needless_cores, t->needless_memory_bytes);
	if (t->priced)
		t->needless_cost = t->current.cost.amount * t->needless_share;
}

void current_cost_of(const struct current_cost_question *q, struct arena *arena,
	struct current_cost *ret)
{
	*ret = (struct current_cost){.machine = *q->machine,
		.here = strcmp(q->machine->host, q->here->host) == 0,
		.server = current_cost_find_server(q->catalogue, q->machine),
		.given_cores = NAN,
		.given_memory_bytes = NAN,
		.needless_cores = NAN,
		.needless_memory_bytes = NAN,
		.needless_share = NAN,
		.needless_cost = NAN};
	if (ret->server)
		price(q, arena, ret);
	if (q->runs) {
		past_runs(q, arena, ret);
		set_needless(q, ret);
	}
}
