/* Compares recommender/servers/pick.c with brute force: thousands of random questions to random
 * catalogues. Each pick fulfils all conditions, no server that fulfils them is better, and the
 * counts add up. The rules are written here a second time, from the text of pick.h. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "recommender/catalogue/build.h"
#include "recommender/servers/pick.h"

#define MIB 1048576.0

/* The random numbers (xorshift32) are the same in each test run, so that a failure can be
 * repeated. */
static uint32_t seed = 2463534242u;

static uint32_t next(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % below;
}

static double maybe(double v)
{
	return next(8) ? v : (double)NAN;
}

static const char *const vendors[] = {"aws", "hcloud", "own"};
static const char *const places[] = {"r1", "r2", "r3", ""};
static const char *const currencies[] = {"USD", "EUR", "ARS"}; /* no rate for ARS */
static const char *const models[] = {"", "A10", "L4"};
static const char *const frameworks[] = {"hipaa", "soc2t2"};

static struct catalogue *random_catalogue(unsigned n)
{
	struct catalogue_builder *b = catalogue_builder_new();
	struct catalogue *c = NULL;
	const struct benchmark benchmark = {.benchmark_id = "speed",
		.name = "",
		.category = "",
		.unit = "",
		.higher_is_better = next(2)};
	struct err e = {0};

	assert_int_equal(catalogue_set_rate(b, "EUR", 1.1, &e), 0);
	assert_int_equal(catalogue_add_benchmark(b, &benchmark, &e), 0);
	for (unsigned i = 0; i < n; i++) {
		char id[16];
		struct field_row r;

		snprintf(id, sizeof id, "s%u", i);
		field_row_clear(&r);
		r.server.vendor_id = vendors[next(3)];
		r.server.server_id = id;
		r.server.family = next(2) ? "big" : "small";
		r.server.active = next(10) > 0;
		r.server.cpu_architecture = (enum architecture)next(3);
		r.server.cpu_allocation = (enum cpu_allocation)next(CPU_ALLOCATION_COUNT);
		r.server.vcpus = maybe(1 << next(6));
		r.server.memory_amount = maybe(512 << next(8));
		if (next(3) == 0)
			r.server.memory_amount_actual = r.server.memory_amount * 0.95;
		r.server.gpu_count = next(3) ? 0 : maybe(next(9) / 2.0);
		r.server.gpu_model = models[next(3)];
		r.server.gpu_memory_min = maybe(4096 << next(4));
		r.server.gpu_memory_total = r.server.gpu_memory_min * 2;
		r.server.storage_size = maybe(next(500));
		r.server.storage_type = next(2) ? "ssd" : "hdd";
		r.server.score1 = maybe(500 + next(2000));
		/* Two vCPUs on one core of the processor are slower than two cores. */
		r.server.score = r.server.score1 * r.server.vcpus * (next(2) ? 1 : 0.6);
		r.vendor.vendor_id = r.server.vendor_id;
		r.vendor.compliance =
			strcmp(r.server.vendor_id, "own") == 0 ? "" : "hipaa iso27001 soc2t2";
		assert_int_equal(catalogue_add_row(b, &r, &e), 0);
		for (unsigned k = next(6); k > 0; k--) {
			struct price_row p = {r.server.vendor_id, id, places[next(4)], "",
				currencies[next(3)], (enum allocation)next(ALLOCATION_COUNT),
				(1 + next(40)) / 8.0};

			assert_int_equal(catalogue_add_price(b, &p, &e), 0);
		}
		if (next(3))
			catalogue_add_score(b, r.server.vendor_id, id, "speed", 1 + next(50));
	}
	catalogue_finish(b, "random", &c);
	catalogue_builder_free(b);
	return c;
}

struct question {
	struct demand d;
	struct pick_options o;
	struct job_profile profile;
	bool regions[16];
};

static void random_question(const struct catalogue *c, struct question *q)
{
	static const char *const names[] = {"big", "s1", "own~s2", "S3", "hcloud~small", "nobody"};

	*q = (struct question){.d = {NAN, NAN, NAN, NAN, NAN, NAN}};
	if (next(3) == 0)
		q->d.cpu_cores = next(64) / 4.0;
	if (next(3) == 0)
		q->d.memory_bytes = next(40000) * MIB;
	if (next(10) == 0)
		q->d.gpus = next(9) / 2.0;
	if (next(10) == 0)
		q->d.vram_bytes = next(40000) * MIB;
	if (next(4))
		q->d.duration_seconds = next(10000);
	q->profile = forecast_profile(q->d.duration_seconds);
	q->profile.duration_high = q->d.duration_seconds * 1.5;
	q->profile.cores = maybe(next(8));
	q->profile.cpu_seconds = maybe(next(40000));
	q->profile.reference = next(3) ? &c->server[next((uint32_t)c->n)] : NULL;
	q->o = (struct pick_options){
		.objective = &objectives[next(7)],
		.benchmark = &c->benchmark[0],
		.limit = next(8),
		.page = next(3),
		.currency = next(20) ? currencies[next(2)] : "GBP",
		.allocations = next(4),
		.with_inactive = next(3) == 0,
		.vendors = {next(8) ? 0 : 1 + next(2), vendors + next(2)},
		.compliance = {next(8) ? 0 : 1 + next(2), frameworks},
		.include = {next(12) ? 0 : 1 + next(3), names + next(4)},
		.exclude = {next(12) ? 0 : 1 + next(3), names + next(4)},
		.architectures = next(3) ? 0 : next(8),
		.cpu_allocations = next(6) ? 0 : next(16),
		.vcpus_min = next(12) ? 0 : next(40),
		.vcpus_max = next(12) ? 0 : next(64),
		.memory_min = next(12) ? 0 : next(40000),
		.gpus_min = next(16) ? 0 : next(5) / 2.0,
		.gpu_memory_total = next(16) ? 0 : next(60000),
		.memory_max = next(12) ? 0 : next(60000),
		.gpu_models = {next(16) ? 0 : 1, models + 1},
		.gpu_memory_min = next(16) ? 0 : next(30000),
		.storage_size = next(16) ? 0 : next(400),
		.reserve = next(2) ? &system_reserves[next(3)] : NULL,
		.profile = next(4) ? &q->profile : NULL,
		.deadline_seconds = next(5) ? 0 : next(10000),
		.max_cost = next(5) ? 0 : next(100) / 10.0,
		.spot_interruptions_per_hour = next(2) ? 0 : 0.5,
	};
	if (next(3) == 0) {
		for (size_t i = 1; i < c->n_regions; i++)
			q->regions[i] = next(2);
		q->o.regions = q->regions;
	}
}

static bool named(const struct text_list *w, const struct server *s)
{
	char full[64];

	for (size_t i = 0; i < w->n; i++) {
		snprintf(full, sizeof full, "%s~%s", s->vendor_id, s->server_id);
		if (text_list_has(&(struct text_list){1, w->text + i}, full) ||
			text_list_has(&(struct text_list){1, w->text + i}, s->server_id))
			return true;
		snprintf(full, sizeof full, "%s~%s", s->vendor_id, s->family);
		if (text_list_has(&(struct text_list){1, w->text + i}, full) ||
			text_list_has(&(struct text_list){1, w->text + i}, s->family))
			return true;
	}
	return false;
}

#define ASKED(v, what) (!((v) > 0) || (what))

static bool fits(const struct catalogue *c, const struct server *s, const struct question *q)
{
	const struct pick_options *o = &q->o;
	const struct system_reserve *r = o->reserve ? o->reserve : system_reserve_find("none");
	double cpus = o->reserve ? r->cpus(s) : s->vcpus;

	for (size_t i = 0; i < o->compliance.n; i++)
		if (!strstr(c->vendor[s->vendor].compliance, o->compliance.text[i]))
			return false;
	return (s->active || o->with_inactive) &&
	       ASKED(o->vendors.n, text_list_has(&o->vendors, s->vendor_id)) &&
	       ASKED(o->include.n, named(&o->include, s)) && !named(&o->exclude, s) &&
	       ASKED(o->architectures, o->architectures >> s->cpu_architecture & 1) &&
	       ASKED(o->cpu_allocations, o->cpu_allocations >> s->cpu_allocation & 1) &&
	       ASKED(q->d.cpu_cores, cpus >= q->d.cpu_cores) &&
	       ASKED(o->vcpus_min, s->vcpus >= o->vcpus_min) &&
	       ASKED(o->vcpus_max, s->vcpus <= o->vcpus_max) &&
	       ASKED(o->memory_min, s->memory_amount >= o->memory_min) &&
	       ASKED(o->gpus_min, s->gpu_count >= o->gpus_min) &&
	       ASKED(o->gpu_memory_total, s->gpu_memory_total >= o->gpu_memory_total) &&
	       ASKED(q->d.memory_bytes, r->memory(s) * MIB >= q->d.memory_bytes) &&
	       ASKED(o->memory_max, s->memory_amount <= o->memory_max) &&
	       ASKED(q->d.gpus, s->gpu_count >= q->d.gpus) &&
	       ASKED(q->d.vram_bytes, s->gpu_memory_total * MIB >= q->d.vram_bytes) &&
	       ASKED(o->gpu_models.n, text_list_has(&o->gpu_models, s->gpu_model)) &&
	       ASKED(o->gpu_memory_min, s->gpu_memory_min >= o->gpu_memory_min) &&
	       ASKED(o->storage_size, s->storage_size >= o->storage_size);
}

struct candidate {
	const struct server *server;
	double key, price, cost;
	bool unsure;
};

/* Facts of a question that are the same for all servers. */
struct asked {
	const char *objective;
	bool timed, by_time; /* the duration is known; the objective compares runs */
	struct job_profile p;
	struct cost_terms terms;
	const struct currency *currency;
	double cores;    /* number of cores that the job keeps busy */
	bool ref_scored; /* the speed of the job's server is known */
};

static struct asked asked_of(const struct catalogue *c, const struct question *q)
{
	const struct pick_options *o = &q->o;
	struct asked a = {.objective = o->objective->name,
		.p = o->profile ? *o->profile : forecast_profile(q->d.duration_seconds),
		.terms = {.spot_interruptions_per_hour = o->spot_interruptions_per_hour},
		.currency = catalogue_currency(c, o->currency)};
	const struct server *r = a.p.reference;

	a.timed = a.p.duration_seconds > 0;
	/* Without a duration, the price of an hour replaces the cost of a run. */
	if (strcmp(a.objective, "cost") == 0 && !a.timed)
		a.objective = "price";
	a.by_time = strcmp(a.objective, "cost") == 0 || strcmp(a.objective, "deadline") == 0 ||
		    strcmp(a.objective, "fastest") == 0;
	a.cores = isnan(a.p.cores) ? q->d.cpu_cores : a.p.cores;
	a.ref_scored =
		r && !isnan(forecast_cpu_share(&a.p)) && (a.p.cores > 1 ? r->score : r->score1) > 0;
	return a;
}

/* Returns the time that a long run takes at this price. On a spot server it includes restarts. */
static double late_end(const struct pick_options *o, const struct forecast *f,
	const struct price *row)
{
	double late = isnan(f->high) ? f->seconds : f->high, rate = o->spot_interruptions_per_hour;

	if (row->allocation != ALLOCATION_SPOT || !(rate > 0))
		return late;
	return (exp(rate * late / 3600) - 1) / rate * 3600;
}

static double cost_at(const struct catalogue *c, const struct server *s, const struct price *at,
	const struct forecast *f, const struct demand *d, const struct asked *a)
{
	struct run_bill bill =
		forecast_bill(c, s, at->allocation == ALLOCATION_SPOT, f, d, &a->p, &a->terms);

	return forecast_cost_of(c, at, &bill, a->currency).amount;
}

/* Returns the price with the lowest cost of a run, or the lowest price. A price of an unknown
 * allocation is taken only if there is no other. */
static const struct price *best_price(const struct catalogue *c, const struct server *s,
	const struct question *q, const struct asked *a, const struct forecast *f)
{
	const struct pick_options *o = &q->o;
	unsigned allowed = o->allocations ? o->allocations : 1u << ALLOCATION_ONDEMAND;
	const struct price *best[2] = {NULL, NULL};
	double lowest[2] = {INFINITY, INFINITY};

	for (uint32_t k = 0; k < s->n_prices; k++) {
		const struct price *row = &c->price[s->first_price + k];
		bool any = row->allocation == ALLOCATION_ANY;
		double amount = row->price *
				catalogue_currency_rate(&c->currency[row->currency], a->currency);

		if (!(allowed >> (any ? ALLOCATION_ONDEMAND : row->allocation) & 1))
			continue;
		if (o->regions && !o->regions[row->region])
			continue;
		if (o->deadline_seconds > 0 && !(late_end(o, f, row) <= o->deadline_seconds))
			continue;
		if (a->by_time && a->timed)
			amount = cost_at(c, s, row, f, &q->d, a);
		if (amount < lowest[any]) {
			lowest[any] = amount;
			best[any] = row;
		}
	}
	return best[0] ? best[0] : best[1];
}

static double usable_score(const struct server *s, double cores)
{
	if (cores <= 1)
		return s->score1;
	return cores * s->score1 < s->score ? cores * s->score1 : s->score;
}

static double key_of(const struct catalogue *c, const struct asked *a, const struct question *q,
	const struct candidate *k, double seconds)
{
	double mark = (double)c->benchmark[0].score[k->server - c->server],
	       score = usable_score(k->server, a->cores);
	bool by_time = q->o.profile && a->ref_scored;
	bool up = c->benchmark[0].higher_is_better;
	const struct {
		const char *name;
		double key;
	} keys[] = {
		{"cost", k->cost},
		{"price", k->price},
		{"efficiency", k->price / score},
		/* Times and scores are compared in steps of 1 %. */
		{"fastest", by_time ? exp(0.01 * round(log(seconds) / 0.01)) :
				      -exp(0.01 * round(log(score) / 0.01))},
		{"deadline", k->cost},
		{"benchmark", up ? -mark : mark},
		{"benchmark_per_price", up ? k->price / mark : k->price * mark},
	};
	size_t i = 0;

	while (strcmp(keys[i].name, a->objective) != 0)
		i++;
	return keys[i].key;
}

/* Returns false if the server is not a candidate. Otherwise fills the candidate. */
static bool is_candidate(const struct catalogue *c, const struct server *s,
	const struct question *q, struct candidate *ret)
{
	const struct pick_options *o = &q->o;
	struct asked a = asked_of(c, q);
	struct forecast f = forecast_on(c, &a.p, s);

	if (!fits(c, s, q) || !a.currency)
		return false;
	const struct price *best = best_price(c, s, q, &a, &f);

	if (!best)
		return false;
	*ret = (struct candidate){.server = s,
		.price = best->price *
			 catalogue_currency_rate(&c->currency[best->currency], a.currency),
		.cost = cost_at(c, s, best, &f, &q->d, &a),
		.unsure = best->allocation == ALLOCATION_ANY ||
			  (a.by_time && f.basis == FORECAST_ASSUMED && a.ref_scored)};
	ret->key = key_of(c, &a, q, ret, f.seconds);
	return ASKED(o->max_cost, ret->cost <= o->max_cost) && !isnan(ret->key);
}

/* For a sort: unknown costs are last. */
static double or_last(double v)
{
	return isnan(v) ? (double)INFINITY : v;
}

static int better(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	double x[] = {a->unsure, a->key, or_last(a->cost), a->price,
		isnan(a->server->memory_amount) ? 1 : -a->server->memory_amount};
	double y[] = {b->unsure, b->key, or_last(b->cost), b->price,
		isnan(b->server->memory_amount) ? 1 : -b->server->memory_amount};

	for (size_t i = 0; i < ARRAY_LEN(x); i++)
		if (x[i] < y[i] || x[i] > y[i])
			return x[i] < y[i] ? -1 : 1;
	int order = strcmp(a->server->vendor_id, b->server->vendor_id);

	return order ? order : strcmp(a->server->server_id, b->server->server_id);
}

static void check(const struct catalogue *c, const struct question *q, struct arena *arena,
	size_t *answered)
{
	struct candidate *all = arena_alloc(arena, c->n * sizeof *all);
	size_t n = 0, removed = 0, first = q->o.page > 1 ? (q->o.page - 1) * q->o.limit : 0;
	AUTO(buf_done) struct buf why = BUF_MAX(4096);
	struct picks p;

	for (size_t i = 0; i < c->n; i++)
		n += is_candidate(c, &c->server[i], q, &all[n]);
	qsort(all, n, sizeof *all, better);
	pick_servers(c, &q->d, &q->o, arena, &p);

	assert_int_equal(p.fitting, n);
	for (size_t i = 0; i < EXCLUSION_COUNT; i++)
		removed += p.excluded[i];
	assert_int_equal(removed + n, c->n);
	size_t expected = first < n ? n - first : 0;

	if (q->o.limit && expected > q->o.limit)
		expected = q->o.limit;
	assert_int_equal(p.n, expected);
	for (size_t i = 0; i < p.n; i++) {
		assert_ptr_equal(p.pick[i].server, all[first + i].server);
		assert_true(p.pick[i].key == all[first + i].key &&
			    p.pick[i].price == all[first + i].price);
		buf_reset(&why);
		pick_why(&why, &p, i);
		assert_true(why.len > 0 && !strstr(buf_text(&why), "nan"));
	}
	*answered += p.n > 0;
}

static void picks_are_what_brute_force_finds(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	size_t answered = 0, asked = 0;

	for (unsigned round = 0; round < 60; round++) {
		struct catalogue *c = random_catalogue(1 + next(60));

		for (unsigned k = 0; k < 100; k++, asked++) {
			struct question q;

			random_question(c, &q);
			arena_reset(&arena);
			check(c, &q, &arena, &answered);
		}
		catalogue_free(c);
	}
	/* A good part of the questions has an answer, so the test is not vacuous. */
	assert_true(answered > asked / 5);
}

static void the_built_in_catalogue_is_picked_from_correctly(void **state)
{
	struct arena arena = {0};
	struct catalogue *c = NULL;
	struct err e;
	size_t answered = 0;

	assert_int_equal(catalogue_built_in(&c, &e), 0);
	for (unsigned round = 0; round < 300; round++) {
		struct picks p;
		struct demand d = {next(64) / 4.0, next(300000) * MIB,
			next(4) ? (double)NAN : (double)next(9), NAN, NAN, 600};
		struct pick_options o = {.objective = objective_find("price"),
			.limit = 1 + next(8),
			.architectures = next(2) ? 0 : next(8),
			.vendors = {next(3), vendors},
			.currency = next(3) ? "USD" : "EUR"};

		arena_reset(&arena);
		pick_servers(c, &d, &o, &arena, &p);
		for (size_t i = 0; i < c->n; i++) {
			const struct server *s = &c->server[i];
			double rate = catalogue_currency_rate(catalogue_currency(c, s->currency),
				catalogue_currency(c, o.currency));
			bool picked = false;

			for (size_t k = 0; k < p.n; k++)
				picked = picked || p.pick[k].server == s;
			bool fit = s->vcpus >= d.cpu_cores &&
				   s->memory_amount * MIB >= d.memory_bytes &&
				   ASKED(d.gpus, s->gpu_count >= d.gpus) &&
				   ASKED(o.architectures,
					   o.architectures >> s->cpu_architecture & 1) &&
				   ASKED(o.vendors.n, text_list_has(&o.vendors, s->vendor_id)) &&
				   !isnan(s->min_price_ondemand);

			assert_true(fit || !picked);
			if (fit && !picked)
				assert_true(p.n == o.limit &&
					    s->min_price_ondemand * rate >=
						    p.pick[p.n - 1].price * (1 - 1e-12));
		}
		answered += p.n > 0;
	}
	assert_in_range(answered, 60, 300);
	arena_done(&arena);
	catalogue_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(picks_are_what_brute_force_finds),
		cmocka_unit_test(the_built_in_catalogue_is_picked_from_correctly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
