/* recommender/servers/saving.c: which server is the best, what it saves, and what a condition would
 * save. Also tests the objectives. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "recommender/catalogue/build.h"
#include "recommender/servers/saving.h"

FREEP(catalogue)

/* old: the job runs here. big: 16 times the CPUs and the price. fast: twice as fast. hourly: cheaper
 * than old, but billed in hours. arm, burst, and the spot price of fast: allowed only under a
 * condition. blind: unknown speed. */
static const char servers[] =
	"vendor_id,server_id,cpu_architecture,cpu_allocation,vcpus,memory_amount,score1,score,region_id,allocation,price,billing_increment_seconds,minimum_billing_seconds\n"
	"s,old,x86_64,Dedicated,2,4096,1000,2000,r,ondemand,0.10,1,60\n"
	"s,big,x86_64,Dedicated,32,131072,1100,30000,r,ondemand,1.60,1,60\n"
	"s,fast,x86_64,Dedicated,2,4096,2000,4000,r,ondemand,0.15,1,60\n"
	"s,fast,,,,,,,r,spot,0.04,,\n"
	"s,arm,arm64,Dedicated,2,4096,1000,2000,r,ondemand,0.05,1,60\n"
	"s,burst,x86_64,Burstable,2,4096,1000,2000,r,ondemand,0.03,1,60\n"
	"s,blind,x86_64,Dedicated,2,4096,,,r,ondemand,0.09,1,60\n"
	"h,hourly,x86_64,Dedicated,2,4096,1002,2000,7,ondemand,0.08,3600,3600\n";

static struct world {
	struct catalogue *c;
	struct arena arena;
	struct demand d;
	struct job_profile profile;
	struct pick_options o;
	struct pick now;
	struct picks p;
} world;

/* A job of 16 minutes that keeps one core busy, on the server `old`. */
static int fresh(void **state)
{
	struct err e = {0};

	world = (struct world){.d = {1, 1e9, NAN, NAN, NAN, 960}};
	if (catalogue_from_csv(&world.c, servers, strlen(servers), "test", &e))
		fail_msg("%s", e.text);
	world.profile = forecast_profile(960);
	world.profile.cpu_seconds = 960;
	world.profile.cores = 1;
	world.profile.reference = catalogue_find(world.c, "s", "old");
	world.o = (struct pick_options){.profile = &world.profile,
		.architectures = 1u << ARCHITECTURE_X86_64,
		.cpu_allocations = 1u << CPU_DEDICATED,
		.spot_interruptions_per_hour = 0.05};
	return 0;
}

static int done(void **state)
{
	arena_done(&world.arena);
	catalogue_free(world.c);
	return 0;
}

static const char *first(const char *objective)
{
	world.o.objective = objective ? objective_find(objective) : NULL;
	pick_servers(world.c, &world.d, &world.o, &world.arena, &world.p);
	return world.p.best ? world.p.best->server->server_id : "";
}

static struct best_server best_from(const char *current)
{
	const struct server *s = catalogue_find(world.c, *current == 'h' ? "h" : "s", current);

	assert_int_equal(pick_one(world.c, s, &world.d, &world.o, &world.now), EXCLUSION_COUNT);
	return saving_best(world.c, &world.d, &world.o, &world.p, &world.now);
}

static void what_is_best_depends_on_the_length_of_a_run(void **state)
{
	/* Each row: the duration of a run, and the best server for it. */
	static const struct {
		double seconds;
		const char *best;
	} table[] = {
		{30, "old"},                     /* a minute is billed: 0.10 is less than 0.15 */
		{960, "fast"},                   /* takes half the time for 1.5 times the price */
		{3600, "fast"},                  /* costs 0.075; an hour of "hourly" costs 0.08 */
		{7300, "fast"}, {NAN, "hourly"}, /* without a duration: lowest price per hour */
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		world.profile.duration_seconds = world.d.duration_seconds = table[i].seconds;
		world.profile.cpu_seconds = table[i].seconds;
		assert_string_equal(first(NULL), table[i].best);
		assert_string_equal(world.p.objective->name,
			isnan(table[i].seconds) ? "price" : "cost");
	}
	/* The speed of the servers is unknown, so only their prices and billing rules count. */
	world.profile = forecast_profile(960);
	world.d.duration_seconds = 960;
	assert_string_equal(first(NULL), "blind");
	assert_string_equal(first("price"), "hourly");
	assert_string_equal(first("cheapest"), "hourly");
	assert_string_equal(world.p.objective->name, "price");
}

static void one_core_gets_no_32(void **state)
{
	AUTO(buf_done) struct buf why = BUF_MAX(4096);

	assert_string_equal(first("efficiency"), "fast");
	assert_string_equal(first("fastest"), "fast");
	assert_string_equal(world.p.objective->order, "Shortest run first.");
	assert_string_equal(world.p.pick[1].server->server_id, "big");
	pick_why(&why, &world.p, 1);
	assert_string_equal(buf_text(&why), "82 % more time per run than the best");
	buf_reset(&why);
	/* Without a history, the demand says how many cores the job uses. */
	world.o.profile = NULL;
	assert_string_equal(first("efficiency"), "fast");
	assert_string_equal(first("fastest"), "fast");
	world.d.cpu_cores = 4;
	assert_string_equal(first("fastest"), "big");
	world.d.cpu_cores = NAN;
	assert_string_equal(first("fastest"), "big");
	/* Without a speed of the job's server, all forecasts are equal: the sentence is about the
	 * score, and not about time. */
	assert_string_equal(world.p.objective->order, "Most speed first.");
	pick_why(&why, &world.p, 1);
	/* 30000 against 4000, and not the steps in which they are sorted */
	assert_string_equal(buf_text(&why), "the best has 650 % more usable SCore");
	/* If two servers are equally fast, or nearly, the cheaper server comes first. */
	world.d.cpu_cores = 1;
	const char *const slow[] = {"old", "hourly"};

	world.o.include = (struct text_list){2, slow};
	assert_string_equal(first("fastest"), "old");
	world.d.duration_seconds = NAN;
	assert_string_equal(first("fastest"), "hourly");
}

static void a_speed_that_is_unknown_is_behind_only_if_others_are_known(void **state)
{
	first(NULL);
	assert_string_equal(world.p.pick[world.p.n - 1].server->server_id, "blind");
	assert_true(world.p.pick[world.p.n - 1].unsure);
	world.profile.reference = catalogue_find(world.c, "s", "blind");
	assert_string_equal(first(NULL), "blind");
	for (size_t i = 0; i < world.p.n; i++)
		assert_false(world.p.pick[i].unsure);
}

static void the_headline_is_never_negative(void **state)
{
	first(NULL);
	struct best_server b = best_from("old");

	assert_false(b.is_current);
	assert_string_equal(b.pick->server->server_id, "fast");
	assert_double_equal(b.saving.amount, 960 * 0.10 / 3600 - 480 * 0.15 / 3600, 1e-12);
	assert_double_equal(b.saving.percent, 25, 1e-9);
	/* The job already runs on the best server of the list. */
	b = best_from("fast");
	assert_true(b.is_current && b.saving.amount == 0 && b.saving.percent == 0);
	/* A server that the filters leave out is cheaper, and the job runs there. */
	b = best_from("burst");
	assert_true(b.is_current && b.pick == &world.now && b.saving.amount == 0);
	/* The current server has too little memory for the next run, so the saving is unknown. */
	world.d.memory_bytes = 4100.0 * 1024 * 1024;
	assert_string_equal(first(NULL), "big");
	b = best_from("burst");
	assert_false(b.is_current);
	assert_string_equal(b.pick->server->server_id, "big");
	assert_true(isnan(b.saving.amount) && isnan(b.saving.percent));
	/* The current server is unknown. */
	b = saving_best(world.c, &world.d, &world.o, &world.p, NULL);
	assert_true(b.pick == world.p.best && !b.is_current && isnan(b.saving.amount));
}

static void a_deadline_holds_for_the_current_server_too(void **state)
{
	world.o.deadline_seconds = 600;
	assert_string_equal(first("deadline"), "fast");
	world.o.deadline_seconds = 0;
	struct best_server b = best_from("burst");

	assert_true(b.is_current);
	world.o.deadline_seconds = 600;
	b = saving_best(world.c, &world.d, &world.o, &world.p, &world.now);
	assert_false(b.is_current);
	assert_true(isnan(b.saving.amount));
}

/* The current server is the best only if it meets the conditions of the request. Default conditions
 * do not count: the server is burstable, and the job already runs there. */
static void conditions_of_the_request_hold_for_the_current_server(void **state)
{
	const struct server *burst = catalogue_find(world.c, "s", "burst");
	const char *const own[] = {"burst"}, *const vendor[] = {"h"};
	bool *regions = arena_alloc(&world.arena, world.c->n_regions);
	const struct pick_options usual = world.o;

	first(NULL);
	assert_true(best_from("burst").is_current);
	struct {
		const char *what;
		struct pick_options o;
	} table[] = {{"exclude", usual}, {"vendor", usual}, {"vcpus", usual}, {"memory", usual},
		{"cost", usual}, {"kind", usual}, {"region", usual}, {"gpu", usual}};

	table[0].o.exclude = (struct text_list){1, own};
	table[1].o.vendors = (struct text_list){1, vendor};
	table[2].o.vcpus_min = burst->vcpus + 1;
	table[3].o.memory_min = burst->memory_amount + 1;
	table[4].o.max_cost = 1e-9;
	table[5].o.kinds_asked = true;
	table[6].o.regions = regions;
	table[7].o.gpus_min = 1;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (saving_best(world.c, &world.d, &table[i].o, &world.p, &world.now).is_current)
			fail_msg("%s", table[i].what);
}

/* The saving of an alternative is compared with the best server, even if that is the current one.
 * Neither the best server nor a server that costs more is an alternative. */
static void alternatives_save_against_the_current_server_if_it_is_the_best(void **state)
{
	struct alternative a[CONDITIONS];

	first(NULL);
	struct best_server b = best_from("burst");

	assert_true(b.is_current);
	size_t n =
		saving_alternatives(world.c, &world.d, &world.o, &world.p, b.pick, &world.arena, a);

	for (size_t i = 0; i < n; i++) {
		assert_true(a[i].pick.server != b.pick->server);
		assert_true(a[i].pick.cost.amount < b.pick->cost.amount);
		assert_double_equal(a[i].saving.amount, b.pick->cost.amount - a[i].pick.cost.amount,
			1e-12);
	}
	/* Even if servers are ranked by their price per hour, the saving is per run. */
	first("price");
	n = saving_alternatives(world.c, &world.d, &world.o, &world.p, world.p.best, &world.arena,
		a);
	for (size_t i = 0; i < n; i++)
		assert_double_equal(a[i].saving.amount,
			world.p.best->cost.amount - a[i].pick.cost.amount, 1e-12);
}

static void conditions_are_offered_where_they_save(void **state)
{
	struct alternative a[CONDITIONS];
	AUTO(buf_done) struct buf asks = BUF_MAX(256);

	first(NULL);
	size_t n = saving_alternatives(world.c, &world.d, &world.o, &world.p, world.p.best,
		&world.arena, a);

	assert_int_equal(n, 3);
	assert_string_equal(a[0].pick.server->server_id, "fast");
	assert_int_equal(a[0].pick.priced->allocation, ALLOCATION_SPOT);
	assert_string_equal(a[2].pick.server->server_id, "arm");
	assert_double_equal(a[2].saving.amount, (480 * 0.15 - 960 * 0.05) / 3600, 1e-12);
	assert_string_equal(a[1].pick.server->server_id, "burst");
	assert_true(a[0].saving.amount > a[1].saving.amount);
	assert_true(a[1].saving.amount > a[2].saving.amount);
	for (size_t i = 0; i < n; i++) {
		saving_asks(&asks, &a[i].pick, &world.o);
		buf_addc(&asks, '\n');
	}
	assert_string_equal(buf_text(&asks), "may be interrupted: 5 % per hour assumed\n"
					     "bursts on credits: full speed only part of the time\n"
					     "needs programs built for arm64\n");
	/* Spot servers that are interrupted very often cost more in the end. */
	const char *const cheap[] = {"old", "fast"};

	world.o.include = (struct text_list){2, cheap};
	const double often[] = {2, 20};

	for (size_t i = 0; i < ARRAY_LEN(often); i++) {
		world.o.spot_interruptions_per_hour = often[i];
		first(NULL);
		n = saving_alternatives(world.c, &world.d, &world.o, &world.p, world.p.best,
			&world.arena, a);
		assert_int_equal(n, i == 0 ? 1 : 0);
	}
	assert_int_equal(a[0].condition, CONDITION_SPOT);
	/* Spot servers are allowed already, so they are no alternative. */
	world.o.allocations = ALLOCATION_BIT(ALLOCATION_SPOT) | ALLOCATION_BIT(ALLOCATION_ONDEMAND);
	first(NULL);
	assert_int_equal(saving_alternatives(world.c, &world.d, &world.o, &world.p, world.p.best,
				 &world.arena, a),
		0);
	/* No allowed server fits, so the saving of the alternative is unknown. */
	world.o.allocations = 0;
	world.o.include = (struct text_list){1, (const char *const[]){"arm"}};
	assert_string_equal(first(NULL), "");
	assert_int_equal(saving_alternatives(world.c, &world.d, &world.o, &world.p, world.p.best,
				 &world.arena, a),
		1);
	assert_true(a[0].condition == CONDITION_ARM64 && isnan(a[0].saving.amount));
	/* The objective is speed, so no saving of money is offered. */
	world.o.include = (struct text_list){0};
	first("fastest");
	assert_int_equal(saving_alternatives(world.c, &world.d, &world.o, &world.p, world.p.best,
				 &world.arena, a),
		0);
}

/* A server of a list that allows any kind says all that it asks, but nothing that was asked for. */
static void a_server_says_what_it_asks(void **state)
{
	AUTO(buf_done) struct buf asks = BUF_MAX(256);
	struct server *arm = (struct server *)(uintptr_t)catalogue_find(world.c, "s", "arm");

	world.o.architectures = world.o.cpu_allocations = 0;
	world.o.include = (struct text_list){1, (const char *const[]){"arm"}};
	first(NULL);
	arm->cpu_allocation = CPU_SHARED;
	saving_asks(&asks, world.p.best, &world.o);
	assert_string_equal(buf_text(&asks),
		"needs programs built for arm64; shares its CPUs: full speed only part of the time");
	buf_reset(&asks);
	world.o.architectures = 1u << ARCHITECTURE_ARM64;
	world.o.cpu_allocations = 1u << CPU_SHARED;
	saving_asks(&asks, world.p.best, &world.o);
	assert_int_equal(asks.len, 0);
}

/* A job that requests no architecture also gets servers of an unknown architecture. */
static void an_unknown_architecture_hides_no_alternative(void **state)
{
	struct alternative a[CONDITIONS];

	world.o.architectures |= 1u << ARCHITECTURE_UNKNOWN;
	world.o.include = (struct text_list){1, (const char *const[]){"arm"}};
	assert_string_equal(first(NULL), "");
	assert_int_equal(saving_alternatives(world.c, &world.d, &world.o, &world.p, world.p.best,
				 &world.arena, a),
		1);
	assert_true(a[0].condition == CONDITION_ARM64);
}

/* A server with an estimated price comes last in the list, and is never the best. */
static void an_estimated_price_is_never_the_best(void **state)
{
	struct price *all = (struct price *)(uintptr_t)world.c->price;
	const struct server *cheap = catalogue_find(world.c, "h", "hourly");

	assert_string_equal(first("price"), "hourly");
	all[cheap->first_price].estimated = true;
	assert_string_equal(first("price"), "blind");
	assert_string_equal(world.p.pick[world.p.n - 1].server->server_id, "hourly");
	assert_true(world.p.pick[world.p.n - 1].unsure);
	world.o.include = (struct text_list){1, (const char *const[]){"hourly"}};
	assert_string_equal(first("price"), "hourly");
	assert_null(saving_best(world.c, &world.d, &world.o, &world.p, NULL).pick);
	/* Today's server is not called the best beside one that seems cheaper, and is beside one that
	 * costs more. */
	world.now = world.p.pick[0];
	world.now.price *= 2;
	assert_null(saving_best(world.c, &world.d, &world.o, &world.p, &world.now).pick);
	world.now.price /= 4;
	assert_true(saving_best(world.c, &world.d, &world.o, &world.p, &world.now).is_current);
	/* A server that also has a reliable price gets that price, although it is higher. */
	const struct server *fast = catalogue_find(world.c, "s", "fast");

	world.o.include = (struct text_list){0};
	world.o.allocations = ALLOCATION_BIT(ALLOCATION_SPOT) | ALLOCATION_BIT(ALLOCATION_ONDEMAND);
	assert_string_equal(first(NULL), "fast");
	assert_int_equal(world.p.best->priced->allocation, ALLOCATION_SPOT);
	for (uint32_t i = 0; i < fast->n_prices; i++)
		all[fast->first_price + i].estimated =
			all[fast->first_price + i].allocation == ALLOCATION_SPOT;
	assert_string_equal(first(NULL), "fast");
	assert_int_equal(world.p.best->priced->allocation, ALLOCATION_ONDEMAND);
}

/* The region with the lowest price is not the cheapest for a job that needs disk. */
static void storage_counts_when_a_region_is_chosen(void **state)
{
	static const char two[] =
		"vendor_id,server_id,vcpus,memory_amount,region_id,price,storage_price_gb_month\n"
		"s,a,2,4096,near,1.0,0.1\n"
		"s,a,,,far,0.99,10\n";
	AUTO(catalogue_freep) struct catalogue *c = NULL;
	struct demand d = {NAN, NAN, NAN, NAN, 100e9, 3600};
	struct picks p;

	assert_int_equal(catalogue_from_csv(&c, two, strlen(two), "test", NULL), 0);
	pick_servers(c, &d, &(struct pick_options){0}, &world.arena, &p);
	assert_string_equal(p.best->region_id, "near");
	d.disk_bytes = NAN;
	pick_servers(c, &d, &(struct pick_options){0}, &world.arena, &p);
	assert_string_equal(p.best->region_id, "far");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_best_depends_on_the_length_of_a_run),
		TEST(one_core_gets_no_32),
		TEST(a_speed_that_is_unknown_is_behind_only_if_others_are_known),
		TEST(the_headline_is_never_negative),
		TEST(a_deadline_holds_for_the_current_server_too),
		TEST(conditions_of_the_request_hold_for_the_current_server),
		TEST(alternatives_save_against_the_current_server_if_it_is_the_best),
		TEST(conditions_are_offered_where_they_save),
		TEST(a_server_says_what_it_asks),
		TEST(an_unknown_architecture_hides_no_alternative),
		TEST(an_estimated_price_is_never_the_best),
		TEST(storage_counts_when_a_region_is_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
