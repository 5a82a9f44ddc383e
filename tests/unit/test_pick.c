/* recommender/servers/pick.c: every pick fits the demand, and nothing that fits costs less. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "recommender/catalogue/build.h"
#include "recommender/servers/pick.h"

#define MIB 1048576.0
#define HEAD                                                                                       \
	"vendor_id,server_id,cpu_architecture,vcpus,memory_amount,gpu_count,gpu_memory_total,"     \
	"status,"                                                                                  \
	"min_price_ondemand,currency\n"

static struct catalogue *csv(const char *text)
{
	struct catalogue *c = NULL;
	struct err e = {0};

	if (catalogue_from_csv(&c, text, strlen(text), "test", &e))
		fail_msg("%s", e.text);
	return c;
}

static struct demand nothing(void)
{
	return (struct demand){NAN, NAN, NAN, NAN, NAN, NAN};
}

/* Expects exactly these picks, in this order. `ids` has the server_id of each pick, followed by a
 * space. */
static void assert_picks(const struct catalogue *c, struct demand d, struct pick_options o,
	const char *ids)
{
	AUTO(arena_done) struct arena arena = {0};
	AUTO(buf_done) struct buf text = BUF_MAX(4096);
	struct picks p;

	pick_servers(c, &d, &o, &arena, &p);
	for (size_t i = 0; i < p.n; i++)
		buf_addf(&text, "%s ", p.pick[i].server->server_id);
	assert_string_equal(buf_text(&text), ids);
}

static void memory_is_compared_in_its_own_unit(void **state)
{
	struct catalogue *c = csv(HEAD "v,m256,x86_64,1,256,,,,0.01,\n"
				       "v,m512,x86_64,1,512,,,,0.02,\n"
				       "v,m2048,x86_64,1,2048,,,,0.03,\n"
				       "v,m2559,x86_64,1,2559,,,,0.04,\n"
				       "v,m2560,x86_64,1,2560,,,,0.05,\n"
				       "v,g8191,x86_64,1,4096,1,8191,,0.06,\n"
				       "v,g8192,x86_64,1,4096,1,8192,,0.07,\n");
	struct pick_options one = {.limit = 1};
	struct demand d = nothing();

	d.memory_bytes = 512 * MIB;
	assert_picks(c, d, one, "m512 ");
	d.memory_bytes = 512 * MIB + 1;
	assert_picks(c, d, one, "m2048 ");
	d.memory_bytes = 2560 * MIB;
	assert_picks(c, d, one, "m2560 ");
	d.vram_bytes = 8192 * MIB;
	assert_picks(c, d, one, "g8192 ");
	d.vram_bytes = 8192 * MIB + 1;
	assert_picks(c, d, one, "");
	catalogue_free(c);
}

static void the_memory_that_the_system_sees_counts(void **state)
{
	struct catalogue *c = csv("vendor_id,server_id,vcpus,memory_amount,memory_amount_actual,"
				  "min_price_ondemand\n"
				  "v,nominal,1,1024,960,0.01\nv,real,1,1024,1024,0.02\n");
	struct demand d = nothing();

	d.memory_bytes = 1000 * MIB;
	assert_picks(c, d, (struct pick_options){0}, "real ");
	catalogue_free(c);
}

static void ties_go_to_memory_then_to_names(void **state)
{
	struct catalogue *c = csv(HEAD "w,b,x86_64,1,1024,,,,0.5,\n"
				       "v,c,x86_64,1,1024,,,,0.5,\n"
				       "v,b,x86_64,1,1024,,,,0.5,\n"
				       "v,unknown,x86_64,1,,,,,0.5,\n"
				       "v,large,x86_64,1,2048,,,,0.5,\n"
				       "v,dear,x86_64,1,9999,,,,0.6,\n");

	assert_picks(c, nothing(), (struct pick_options){0}, "large b c b unknown dear ");
	for (size_t limit = 1; limit < 6; limit++) {
		char expected[] = "large b c b unknown dear ", *end = expected;

		for (size_t i = 0; i < limit; i++)
			end = strchr(end, ' ') + 1;
		*end = '\0';
		assert_picks(c, nothing(), (struct pick_options){.limit = limit}, expected);
	}
	catalogue_free(c);
}

static void each_filter_counts_what_it_removed(void **state)
{
	static const char *const vendors[] = {"v", "w"};
	struct catalogue *c = csv(HEAD "v,gone,x86_64,8,8192,1,8192,inactive,1,\n"
				       "x,foreign,x86_64,8,8192,1,8192,,1,\n"
				       "v,arm,arm64,8,8192,1,8192,,1,\n"
				       "v,unsaid,,8,8192,1,8192,,1,\n"
				       "v,slow,x86_64,1,8192,1,8192,,1,\n"
				       "v,unknown,x86_64,,8192,1,8192,,1,\n"
				       "v,small,x86_64,8,1024,1,8192,,1,\n"
				       "v,blind,x86_64,8,8192,0,,,1,\n"
				       "v,dim,x86_64,8,8192,1,4096,,1,\n"
				       "v,free,x86_64,8,8192,1,8192,,,\n"
				       "v,peso,x86_64,8,8192,1,8192,,1,ARS\n"
				       "w,good,x86_64,8,8192,1,8192,,1,\n");
	struct arena arena = {0};
	struct demand d = {2, 4096 * MIB, 1, 8192 * MIB, NAN, 1800};
	struct pick_options o = {
		.architectures = 1u << ARCHITECTURE_X86_64, .vendors = {2, vendors}};
	struct picks p;
	static const size_t expected[EXCLUSION_COUNT] = {
		[EXCLUDED_INACTIVE] = 1,
		[EXCLUDED_VENDOR] = 1,
		[EXCLUDED_ARCHITECTURE] = 2,
		[EXCLUDED_TOO_FEW_VCPUS] = 2,
		[EXCLUDED_TOO_LITTLE_MEMORY] = 1,
		[EXCLUDED_TOO_FEW_GPUS] = 1,
		[EXCLUDED_TOO_LITTLE_VRAM] = 1,
		[EXCLUDED_NO_PRICE] = 1,
		[EXCLUDED_CURRENCY] = 1,
	};

	pick_servers(c, &d, &o, &arena, &p);
	for (size_t i = 0; i < EXCLUSION_COUNT; i++) {
		if (p.excluded[i] != expected[i])
			fail_msg("%s: %zu", pick_exclusion_name[i], p.excluded[i]);
		assert_non_null(pick_exclusion_name[i]);
	}
	assert_int_equal(p.n, 1);
	assert_int_equal(p.fitting, 1);
	assert_string_equal(p.pick[0].server->server_id, "good");
	assert_true(p.pick[0].price == 1 && p.pick[0].forecast_cost == 0.5);
	assert_true(p.pick[0].forecast_duration_seconds == 1800);
	arena_done(&arena);
	catalogue_free(c);
}

static void prices_are_compared_in_one_currency(void **state)
{
	static const char table[] =
		HEAD "v,dollar,x86_64,1,1,,,,1.05,USD\nv,peso,x86_64,1,1,,,,1.0,ARS\n"
		     "v,cent,x86_64,1,1,,,,0.9,ARS\n";
	struct buf rated = BUF_MAX(4096);
	struct catalogue *plain = csv(table), *with_rate,
			 *only_peso = csv(HEAD "v,peso,x86_64,1,1,,,,1.0,ARS\n");
	struct arena arena = {0};
	struct demand d = nothing();
	struct picks p;

	buf_addf(&rated, "# rate: ARS 1.1\n%s", table);
	with_rate = csv(buf_text(&rated));
	assert_picks(plain, d, (struct pick_options){0}, "dollar ");
	assert_picks(plain, d, (struct pick_options){.currency = "ARS"}, "cent peso ");
	assert_picks(plain, d, (struct pick_options){.currency = "ZZZ"}, "");
	assert_picks(with_rate, d, (struct pick_options){0}, "cent dollar peso ");
	assert_picks(with_rate, d, (struct pick_options){.currency = "ARS"}, "cent dollar peso ");

	d.duration_seconds = 7200;
	pick_servers(with_rate, &d, &(struct pick_options){.currency = "ARS"}, &arena, &p);
	assert_string_equal(p.currency, "ARS");
	assert_true(fabs(p.pick[1].price - 1.05 / 1.1) < 1e-12);
	assert_true(fabs(p.pick[1].forecast_cost - 2 * 1.05 / 1.1) < 1e-12);
	pick_servers(only_peso, &d, &(struct pick_options){0}, &arena, &p);
	assert_string_equal(p.currency, "ARS");
	assert_int_equal(p.n, 1);
	arena_done(&arena);
	buf_done(&rated);
	catalogue_free(plain);
	catalogue_free(with_rate);
	catalogue_free(only_peso);
}

static void a_busy_job_is_kept_off_shared_cpus(void **state)
{
	struct job_profile idle = forecast_profile(100), busy = idle, unknown = idle;

	idle.cpu_seconds = 5;
	busy.cpu_seconds = 50;
	idle.cores = busy.cores = 1;
	assert_int_equal(pick_usual_cpu_allocations(&idle), 0);
	for (size_t i = 0; i < 2; i++) {
		unsigned allowed = pick_usual_cpu_allocations(i ? &busy : &unknown);

		assert_true(allowed & 1u << CPU_DEDICATED);
		assert_true(allowed & 1u << CPU_ALLOCATION_UNKNOWN);
		assert_false(allowed & 1u << CPU_SHARED);
		assert_false(allowed & 1u << CPU_BURSTABLE);
	}
}

/* One of the two servers is better with one core, the other with all its cores. */
static void the_score_fits_the_cores(void **state)
{
	static const struct {
		double cores;
		enum benchmark_config config;
		const char *first;
		bool single;
	} table[] = {
		{1, BENCHMARK_AUTO, "one ", true},
		{0.5, BENCHMARK_AUTO, "one ", true},
		{2, BENCHMARK_AUTO, "all ", false},
		{NAN, BENCHMARK_AUTO, "all ", false},
		{1, BENCHMARK_MULTI, "all ", false},
		{2, BENCHMARK_SINGLE, "one ", true},
	};
	struct catalogue_builder *b = catalogue_builder_new();
	const struct benchmark about = {.benchmark_id = "geekbench",
		.name = "",
		.category = "",
		.unit = "",
		.higher_is_better = true};
	const char *servers = HEAD "v,one,x86_64,2,1024,,,,1,\nv,all,x86_64,2,1024,,,,1,\n";
	struct catalogue *c = NULL;
	struct err e = {0};

	assert_int_equal(catalogue_read_csv(b, servers, strlen(servers), &e), 0);
	assert_int_equal(catalogue_add_benchmark(b, &about, &e), 0);
	catalogue_add_score(b, "v", "one", "geekbench", 150);
	catalogue_add_single_score(b, "v", "one", "geekbench", 100);
	catalogue_add_score(b, "v", "all", "geekbench", 190);
	catalogue_add_single_score(b, "v", "all", "geekbench", 90);
	catalogue_finish(b, "test", &c);
	catalogue_builder_free(b);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct demand d = nothing();
		struct pick_options o = {.objective = objective_find("benchmark"),
			.benchmark = &c->benchmark[0],
			.benchmark_config = table[i].config,
			.limit = 1};
		struct picks p;

		d.cpu_cores = table[i].cores;
		assert_picks(c, d, o, table[i].first);
		pick_servers(c, &d, &o, &arena, &p);
		assert_true(p.single_scores == table[i].single);
		assert_true(p.best->score == (table[i].single ? 100 : 190));
	}
	catalogue_free(c);
}

/* The lowest price of all allocations is used only if there is no other price. Such a server comes
 * after all others. */
static void a_price_of_an_unknown_allocation_is_the_last_resort(void **state)
{
	static const struct {
		const char *server;
		enum allocation allocation;
		double price;
	} prices[] = {
		{"sure", ALLOCATION_ONDEMAND, 2},
		{"spotty", ALLOCATION_ANY, 1},
		{"spotty", ALLOCATION_SPOT, 3},
		{"any", ALLOCATION_ANY, 1},
	};
	struct catalogue_builder *b = catalogue_builder_new();
	const char *servers = HEAD "v,sure,x86_64,2,1024,,,,,\nv,spotty,x86_64,2,1024,,,,,\n"
				   "v,any,x86_64,2,2048,,,,,\n";
	struct pick_options both = {.allocations = ALLOCATION_BIT(ALLOCATION_ONDEMAND) |
						   ALLOCATION_BIT(ALLOCATION_SPOT)},
			    spot = {.allocations = ALLOCATION_BIT(ALLOCATION_SPOT)};
	struct catalogue *c = NULL;
	struct err e = {0};

	assert_int_equal(catalogue_read_csv(b, servers, strlen(servers), &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(prices); i++)
		assert_int_equal(catalogue_add_price(b,
					 &(struct price_row){"v", prices[i].server, "", "", "USD",
						 prices[i].allocation, prices[i].price},
					 &e),
			0);
	catalogue_finish(b, "test", &c);
	catalogue_builder_free(b);
	assert_picks(c, nothing(), (struct pick_options){0}, "sure any spotty ");
	assert_picks(c, nothing(), both, "sure spotty any ");
	assert_picks(c, nothing(), spot, "spotty ");
	catalogue_free(c);
}

static void an_unknown_duration_has_no_cost(void **state)
{
	struct catalogue *c = csv(HEAD "v,a,x86_64,1,1,,,,1,USD\n");
	struct demand d = nothing();
	struct arena arena = {0};
	struct picks p;

	pick_servers(c, &d, &(struct pick_options){0}, &arena, &p);
	assert_int_equal(p.n, 1);
	assert_true(isnan(p.pick[0].forecast_cost) && p.pick[0].price == 1);
	/* A limit excludes the server because its cost is unknown, not because it is high. */
	pick_servers(c, &d, &(struct pick_options){.max_cost = 9}, &arena, &p);
	assert_int_equal(p.excluded[EXCLUDED_NO_FORECAST], 1);
	pick_servers(c, &d, &(struct pick_options){.deadline_seconds = 9}, &arena, &p);
	assert_int_equal(p.excluded[EXCLUDED_NO_FORECAST], 1);
	d.duration_seconds = 36000;
	pick_servers(c, &d, &(struct pick_options){.max_cost = 9}, &arena, &p);
	assert_int_equal(p.excluded[EXCLUDED_TOO_EXPENSIVE], 1);
	pick_servers(c, &d, &(struct pick_options){.deadline_seconds = 9}, &arena, &p);
	assert_int_equal(p.excluded[EXCLUDED_TOO_SLOW], 1);
	arena_done(&arena);
	catalogue_free(c);
}

/* A percentage exists only for keys that can be divided. If the best score or price is 0, there is
 * none. */
static void how_far_behind_the_best_is_told_only_where_it_is_a_number(void **state)
{
	static const struct {
		const char *objective;
		double best, key;
		const char *says;
	} table[] = {
		{"price", 1, 1.03, "3.0 % more per hour than the best"},
		{"price", 1, 3.5, "250 % more per hour than the best"},
		{"price", 0, 1, "far behind the best"},
		{"price", 1, 10000, "999900 % more per hour than the best"},
		{"price", 1, 10002, "far behind the best"},
		{"efficiency", 1, INFINITY, "far behind the best"},
		{"benchmark", -3, -2, "the best has 50 % more score"},
		{"benchmark", -3, -0.0, "far behind the best"},
		{"price", 1, 1, "as good as the best"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct price sure = {.allocation = ALLOCATION_ONDEMAND};
		struct pick pick[] = {{.priced = &sure, .key = table[i].best},
			{.priced = &sure, .key = table[i].key}};
		struct picks p = {.objective = objective_find(table[i].objective),
			.n = 2,
			.pick = pick,
			.best = pick};
		AUTO(buf_done) struct buf why = BUF_MAX(4096);

		pick_why(&why, &p, 1);
		if (!strstr(buf_text(&why), table[i].says))
			fail_msg("case %zu: %s", i, buf_text(&why));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_compared_in_its_own_unit),
		cmocka_unit_test(the_memory_that_the_system_sees_counts),
		cmocka_unit_test(ties_go_to_memory_then_to_names),
		cmocka_unit_test(each_filter_counts_what_it_removed),
		cmocka_unit_test(prices_are_compared_in_one_currency),
		cmocka_unit_test(a_busy_job_is_kept_off_shared_cpus),
		cmocka_unit_test(the_score_fits_the_cores),
		cmocka_unit_test(a_price_of_an_unknown_allocation_is_the_last_resort),
		cmocka_unit_test(an_unknown_duration_has_no_cost),
		cmocka_unit_test(how_far_behind_the_best_is_told_only_where_it_is_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
