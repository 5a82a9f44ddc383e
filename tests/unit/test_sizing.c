/* recommender/sizing/size.c, baseline.c, advice/formats.c: the baseline rule and the common
 * rounding. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "recommender/sizing/strategy.h"
#include "tests/support/test_runs.h"
#include "recommender/advice/advice.h"

#define GIB (1024 * MIB)

static void memory_rounds_up_to_the_seeds_steps(void **state)
{
	static const struct {
		double bytes;
		uint64_t mib;
	} table[] = {{0, 128}, {1, 128}, {128 * MIB, 128}, {128 * MIB + 1, 256}, {256 * MIB, 256},
		{256 * MIB + 1, 512}, {512 * MIB, 512}, {512 * MIB + 1, 1024}, {1024 * MIB, 1024},
		{1024 * MIB + 1, 2048}, {2048 * MIB, 2048}, {2048 * MIB + 1, 3072}, {3 * GIB, 3072},
		{3 * GIB + 1, 4096}, {1.2 * 1533 * MIB, 2048}, {106 * GIB, 108544},
		{106 * GIB + 1, 109568}, {NAN, 0}, {-1, 0}, {INFINITY, 0}, {1e300, 0}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_int_equal(sizing_round_memory(table[i].bytes), table[i].mib);
}

static void cores_round_half_to_even_and_are_at_least_one(void **state)
{
	static const struct {
		double cores;
		uint64_t rounded;
	} table[] = {{0, 1}, {0.01, 1}, {0.5, 1}, {1.4, 1}, {1.49, 1}, {1.5, 2}, {2.5, 2},
		{2.51, 3}, {3.5, 4}, {4.5, 4}, {127.6, 128}, {NAN, 0}, {-1, 0}, {INFINITY, 0}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_int_equal(sizing_round_cores(table[i].cores), table[i].rounded);
}

static const struct strategy *baseline(void)
{
	const struct strategy *s = strategy_find("baseline");

	assert_non_null(s);
	return s;
}

/* Sizes with the baseline, or fails the test. */
static struct sizing sized(const struct test_runs *t, const struct sizing_options *o,
	struct arena *arena)
{
	struct sizing s;
	struct err e;

	assert_int_equal(baseline()->size(&t->runs, o, arena, &s, &e), 0);
	return s;
}

static const struct sizing_options defaults;

/* Returns the explaining sentence that begins with `start`. */
static const char *explained(const struct sizing *s, const char *start)
{
	for (size_t i = 0; i < s->n_explain; i++)
		if (strncmp(s->explain[i], start, strlen(start)) == 0)
			return s->explain[i];
	fail_msg("nothing explains \"%s\"", start);
	return "";
}

static void baseline_averages_cpu_and_takes_the_highest_peak(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;

	test_run_succeeded(&t, 2.0, 1000 * MIB);
	test_run_succeeded(&t, 3.0, 1533 * MIB)->duration_seconds = 400;
	test_run_succeeded(&t, 2.5, 900 * MIB);
	s = sized(&t, &defaults, &arena);
	assert_int_equal(s.resources.cpu, 2);
	assert_int_equal(s.resources.memory, 2048);
	assert_int_equal(s.resources.gpu, 0);
	assert_int_equal(s.resources.vram, 0);
	assert_true(fabs(s.demand.cpu_cores - 2.5) < 1e-12);
	assert_true(fabs(s.demand.memory_bytes - 1.2 * 1533 * MIB) < 1);
	assert_true(isnan(s.demand.gpus) && isnan(s.demand.vram_bytes) &&
		    isnan(s.demand.disk_bytes));
	assert_true(s.demand.duration_seconds == 200);
	assert_int_equal(s.runs, 3);
	assert_int_equal(s.excluded, 0);
	assert_int_equal(s.samples, 30);
	assert_true(s.last == 1e9 && s.first == 1e9 - 2000);
	assert_int_equal(s.confidence, CONFIDENCE_MEDIUM);
	assert_string_equal(explained(&s, "cpu"),
		"cpu: 3 successful runs used 2.50 cores on average (2.00 to 3.00).");
	assert_string_equal(explained(&s, "memory"),
		"memory: The largest peak of 3 successful runs is 1.50 GiB.");
	for (size_t i = 0; i < s.n_explain; i++)
		assert_true(strncmp(s.explain[i], "gpu", 3) != 0);
	assert_string_equal(explained(&s, "duration"),
		"duration: 3 successful runs took 3.3 min on average (100 s to 6.7 min).");
}

static void baseline_looks_at_the_newest_successful_runs_only(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;

	test_run_column(test_run_add(&t, OUTCOME_RUNNING), "memory_peak_bytes", 9 * GIB, 9 * GIB);
	test_run_succeeded(&t, 1, 100 * MIB);
	test_run_column(test_run_add(&t, OUTCOME_FAILED), "memory_peak_bytes", 9 * GIB, 9 * GIB);
	test_run_column(test_run_add(&t, OUTCOME_UNKNOWN), "memory_peak_bytes", 9 * GIB, 9 * GIB);
	test_run_succeeded(&t, 1, 90 * MIB);
	test_run_column(test_run_add(&t, OUTCOME_INTERRUPTED), "memory_peak_bytes", 9 * GIB,
		9 * GIB);
	test_run_succeeded(&t, 5, 5 * GIB); /* outside the window of two runs */
	s = sized(&t, &(struct sizing_options){.runs = 2}, &arena);
	assert_int_equal(s.resources.cpu, 1);
	assert_int_equal(s.resources.memory, 128);
	assert_int_equal(s.runs, 2);
	assert_int_equal(s.excluded, 2);
	s = sized(&t, &defaults, &arena);
	assert_int_equal(s.resources.memory, 6144);
	assert_int_equal(s.runs, 3);
	assert_int_equal(s.excluded, 3);
}

static void baseline_says_why_it_cannot_answer(void **state)
{
	static struct test_runs none, oom, failed;
	static const struct {
		struct test_runs *t;
		const char *text;
	} table[] = {
		{&none, "no run is recorded"},
		{&oom, "none of the 1 recorded runs succeeded (1 oom_killed)"},
		{&failed, "none of the 3 recorded runs succeeded (1 running, 2 failed)"},
	};

	test_run_add(&oom, OUTCOME_OOM_KILLED);
	test_run_add(&failed, OUTCOME_RUNNING);
	test_run_add(&failed, OUTCOME_FAILED);
	test_run_add(&failed, OUTCOME_FAILED);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = {.runs = 77};
		struct err e;

		assert_int_equal(baseline()->size(&table[i].t->runs, &(struct sizing_options){0},
					 &arena, &s, &e),
			-ENODATA);
		assert_string_equal(e.text, table[i].text);
		assert_int_equal(s.runs, 77);
	}
}

static void baseline_leaves_unmeasured_numbers_unknown(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;

	test_run_succeeded(&t, NAN, NAN)->duration_seconds = NAN;
	test_run_column(test_run_succeeded(&t, NAN, NAN), "memory_peak_bytes", NAN, NAN);
	t.run[1].duration_seconds = NAN;
	s = sized(&t, &defaults, &arena);
	assert_int_equal(s.resources.cpu, 0);
	assert_int_equal(s.resources.memory, 0);
	assert_true(isnan(s.demand.cpu_cores) && isnan(s.demand.memory_bytes));
	assert_true(isnan(s.demand.duration_seconds));
	assert_int_equal(s.confidence, CONFIDENCE_LOW);
	explained(&s, "cpu: The need is unknown");
	explained(&s, "memory: The need is unknown");
}

static void baseline_falls_back_to_sampled_memory(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;

	test_run_column(test_run_succeeded(&t, 1, NAN), "memory_bytes", 100 * MIB, 400 * MIB);
	s = sized(&t, &defaults, &arena);
	assert_int_equal(s.resources.memory, 512);
}

static void baseline_counts_gpus_that_were_used(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;
	struct run *r;

	r = test_run_succeeded(&t, 1, GIB);
	test_run_column(r, "gpus_used", 1.5, 2); /* two GPUs at 40 % each are two GPUs */
	test_run_column(r, "gpu_usage", 0.6, 0.8);
	test_run_column(r, "vram_bytes", 6 * GIB, 8 * GIB);
	test_run_column(test_run_succeeded(&t, 1, GIB), "gpus_used", 0, 0);
	s = sized(&t, &defaults, &arena);
	assert_int_equal(s.resources.gpu, 2);
	assert_int_equal(s.resources.vram, 10240);
	assert_true(s.demand.gpus == 2);
	assert_true(fabs(s.demand.vram_bytes - 9.6 * GIB) < 1);

	static struct test_runs idle;

	r = test_run_succeeded(&idle, 1, GIB);
	test_run_column(r, "gpu_usage", 0, 0);
	test_run_column(r, "vram_bytes", 0, 0);
	s = sized(&idle, &defaults, &arena);
	assert_true(s.demand.gpus == 0 && s.demand.vram_bytes == 0);
	assert_int_equal(s.resources.vram, 0);
}

static void baseline_warns_of_an_oom_kill(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;

	test_run_add(&t, OUTCOME_RUNNING);
	test_run_add(&t, OUTCOME_OOM_KILLED)->memory_limit_bytes = 2 * GIB;
	test_run_succeeded(&t, 1, GIB);
	s = sized(&t, &defaults, &arena);
	assert_true(warnings_have(&s.warnings, WARNING_KILLED_FOR_MEMORY));
	assert_string_equal(s.warnings.at[0].text,
		"The kernel killed 1 run, or a process of it, because memory ran out at 2.00 GiB. The need was above that.");
	t.run[1].outcome = OUTCOME_FAILED;
	s = sized(&t, &defaults, &arena);
	assert_false(warnings_have(&s.warnings, WARNING_KILLED_FOR_MEMORY));
}

static void confidence_grows_with_runs_that_agree(void **state)
{
	static const struct {
		size_t n;
		double lowest, highest;
		enum confidence expected;
	} table[] = {
		{1, 100, 100, CONFIDENCE_LOW},
		{2, 100, 100, CONFIDENCE_LOW},
		{3, 100, 100, CONFIDENCE_MEDIUM},
		{5, 100, 119, CONFIDENCE_HIGH},
		{5, 100, 121, CONFIDENCE_MEDIUM},
		{5, 100, 201, CONFIDENCE_LOW},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct test_runs t = {0};
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s;

		for (size_t k = 0; k < table[i].n; k++)
			test_run_succeeded(&t, 1, (k ? table[i].lowest : table[i].highest) * MIB);
		s = sized(&t, &defaults, &arena);
		assert_int_equal(s.confidence, table[i].expected);
	}
	assert_string_equal(sizing_confidence_name(CONFIDENCE_NONE), "none");
	assert_string_equal(sizing_confidence_name(CONFIDENCE_HIGH), "high");
}

static void tables_are_complete_and_start_with_the_defaults(void **state)
{
	assert_string_equal(strategies[0].name, "auto");
	for (const struct strategy *s = strategies; s->name; s++) {
		assert_ptr_equal(strategy_find(s->name), s);
		assert_true(s->help && *s->help && s->size);
	}
	assert_null(strategy_find("no such strategy"));
	assert_string_equal(advice_formats[0].name, "json");
	assert_null(advice_formats[0].layout);
	for (const struct advice_format *f = advice_formats; f->name; f++) {
		assert_ptr_equal(advice_format_find(f->name), f);
		assert_true(f->help && *f->help && f->content_type);
		assert_true(f == advice_formats || f->layout);
	}
	assert_null(advice_format_find(""));
}

static void sentences_past_the_cap_are_dropped(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s = {0};

	for (int i = 0; i < EXPLAIN_MAX + 3; i++)
		sizing_explain(&s, &arena, TOPIC_MEMORY, "Sentence %d.", i);
	assert_int_equal(s.n_explain, EXPLAIN_MAX);
	assert_string_equal(s.explain[EXPLAIN_MAX - 1], "memory: Sentence 39.");
}

static void words_keep_three_figures(void **state)
{
	static const struct {
		double bytes;
		const char *text;
	} sizes[] = {
		{1.5 * MIB, "1.50 MiB"},
		{812 * MIB, "812 MiB"},
		{1.5 * GIB, "1.50 GiB"},
		{42.25 * GIB, "42.2 GiB"},
		{3 * 1024 * GIB, "3.00 TiB"},
	};
	static const struct {
		double seconds;
		const char *text;
	} times[] = {{0.25, "0.25 s"}, {100, "100 s"}, {150, "2.5 min"}, {9000, "2.5 h"},
		{432000, "5.0 days"}};
	char out[WORDING_MAX];

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		assert_string_equal(wording_bytes(out, sizes[i].bytes), sizes[i].text);
	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		assert_string_equal(wording_seconds(out, times[i].seconds), times[i].text);
}

static void a_run_that_was_not_measured_sizes_only_the_duration(void **state)
{
	for (const struct strategy *strategy = strategies; strategy->name; strategy++) {
		AUTO(arena_done) struct arena arena = {0};
		struct test_runs all = {0}, measured = {0};
		struct sizing s, without;
		struct err e = {0};
		struct run *r = test_run_succeeded(&all, 64, 900 * GIB);

		r->not_measured = "a number is impossible";
		r->memory_source = "limit";
		r->duration_seconds = 1e6;
		test_run_column(r, "disk_grown_bytes", 900 * GIB, 900 * GIB);
		test_run_column(r, "vram_peak_bytes", 90 * GIB, 90 * GIB);
		test_run_column(r, "gpus_used", 4, 4);
		for (size_t i = 0; i < 6; i++) {
			test_run_succeeded(&all, 1, GIB);
			test_run_succeeded(&measured, 1, GIB);
		}
		const struct sizing_options five = {.runs = 5};

		assert_int_equal(strategy->size(&all.runs, &five, &arena, &s, &e), 0);
		assert_int_equal(strategy->size(&measured.runs, &five, &arena, &without, &e), 0);
		assert_int_equal(s.runs, 5);
		assert_int_equal(s.not_measured, 1);
		assert_int_equal(without.not_measured, 0);
		assert_int_equal(s.resources.memory, without.resources.memory);
		assert_int_equal(s.resources.cpu, without.resources.cpu);
		assert_int_equal(s.resources.gpu, 0);
		assert_int_equal(s.resources.vram, 0);
		assert_true(isnan(s.demand.disk_bytes));
		assert_null(s.memory_source);
		assert_int_equal(s.samples, 50);
		assert_int_equal(s.confidence, CONFIDENCE_HIGH);
		explained(&s,
			"runs: 1 successful run without numbers, of which only the duration counts: a number is impossible.");
		assert_true(s.demand.duration_seconds > without.demand.duration_seconds ||
			    s.duration_high > without.duration_high);
	}
}

static void runs_of_which_none_was_measured_size_nothing(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct test_runs t = {0};
	struct sizing s;
	struct err e = {0};

	test_run_succeeded(&t, 1, GIB)->not_measured = "a number is impossible";
	for (const struct strategy *strategy = strategies; strategy->name; strategy++) {
		assert_int_equal(strategy->size(&t.runs, &defaults, &arena, &s, &e), 0);
		assert_int_equal(s.runs, 0);
		assert_int_equal(s.resources.cpu, 0);
		assert_int_equal(s.resources.memory, 0);
		assert_true(s.demand.duration_seconds > 0);
	}
}

static bool warns(const struct sizing *s, const char *text)
{
	bool ret = false;

	for (size_t i = 0; i < s->warnings.n; i++)
		ret = ret || strstr(s->warnings.at[i].text, text);
	return ret;
}

static void uncertain_cpu_time_sizes_no_cores_but_memory(void **state)
{
	static const struct {
		double used, missed, foreign;
		size_t uncertain;
		const char *said; /* NULL = nothing */
	} cases[] = {
		{100, NAN, NAN, 0, NULL},
		{100, 0, 0, 0, NULL},
		{100, 5, 5, 0, NULL},
		{100, 5.1, 0, 0,
			"cpu: 100 s of CPU time were measured. Up to 5.1 s more may be missing."},
		{100, 0, 5.1, 0,
			"cpu: 100 s of CPU time were measured. Up to 5.1 s of it may be of other processes."},
		{100, 20, 20, 0,
			"cpu: 100 s of CPU time were measured. Up to 20 s of it may be of other processes. Up to 20 s more may be missing."},
		{100, 20.1, 0, 1,
			"cpu: 100 s of CPU time were measured. Up to 20.1 s more may be missing. 1 of 1 runs is too uncertain to size cores."},
		{100, NAN, 20.1, 1,
			"cpu: 100 s of CPU time were measured. Up to 20.1 s of it may be of other processes. 1 of 1 runs is too uncertain to size cores."},
		{0.3, 0.1, 0.1, 0, NULL},
		{0.3, 0.101, 0, 1,
			"cpu: 0.3 s of CPU time were measured. Up to 0.101 s more may be missing. 1"},
		{0.3, 0, 0.101, 1,
			"cpu: 0.3 s of CPU time were measured. Up to 0.101 s of it may be of other processes. 1"},
	};

	for (const struct strategy *strategy = strategies; strategy->name; strategy++)
		for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
			AUTO(arena_done) struct arena arena = {0};
			struct test_runs t = {0};
			struct sizing s;
			struct err e = {0};
			struct run *r = test_run_succeeded(&t, 1, GIB);
			bool uncertain = cases[i].uncertain > 0;

			test_run_column(r, "cpu_seconds", cases[i].used / 10, cases[i].used / 10);
			r->cpu_missed_seconds = cases[i].missed;
			r->cpu_foreign_seconds = cases[i].foreign;
			assert_int_equal(strategy->size(&t.runs, &defaults, &arena, &s, &e), 0);
			assert_int_equal(s.runs, 1);
			assert_int_equal(s.uncertain_cpu, cases[i].uncertain);
			assert_int_equal(s.resources.cpu > 0, !uncertain);
			assert_int_equal(uncertain, warns(&s, "The CPU time of no run is certain"));
			assert_false(warns(&s, "No CPU time was measured"));
			assert_true(s.resources.memory >= 1024);
			if (uncertain)
				explained(&s,
					"cpu: The need is unknown, because the CPU time of 1 successful run is too uncertain.");
			if (cases[i].said)
				explained(&s, cases[i].said);
			else
				for (size_t k = 0; k < s.n_explain; k++)
					assert_null(strstr(s.explain[k], "were measured"));
		}
}

static void a_certain_run_sizes_the_cores_beside_uncertain_ones(void **state)
{
	for (const struct strategy *strategy = strategies; strategy->name; strategy++) {
		AUTO(arena_done) struct arena arena = {0};
		struct test_runs t = {0};
		struct sizing s;
		struct err e = {0};
		struct run *r = test_run_succeeded(&t, 60, GIB);

		test_run_column(r, "cpu_seconds", 10, 10);
		r->cpu_missed_seconds = 50;
		/* This run has the largest number of cores used at once. With a mean alone, `auto`
		 * would request more cores than were used. */
		test_run_column(test_run_succeeded(&t, NAN, GIB), "cpu_cores", 1.9, 2);
		assert_int_equal(strategy->size(&t.runs, &defaults, &arena, &s, &e), 0);
		assert_int_equal(s.runs, 2);
		assert_int_equal(s.uncertain_cpu, 1);
		assert_in_range(s.resources.cpu, 2, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_rounds_up_to_the_seeds_steps),
		cmocka_unit_test(cores_round_half_to_even_and_are_at_least_one),
		cmocka_unit_test(baseline_averages_cpu_and_takes_the_highest_peak),
		cmocka_unit_test(baseline_looks_at_the_newest_successful_runs_only),
		cmocka_unit_test(baseline_says_why_it_cannot_answer),
		cmocka_unit_test(baseline_leaves_unmeasured_numbers_unknown),
		cmocka_unit_test(baseline_falls_back_to_sampled_memory),
		cmocka_unit_test(baseline_counts_gpus_that_were_used),
		cmocka_unit_test(baseline_warns_of_an_oom_kill),
		cmocka_unit_test(confidence_grows_with_runs_that_agree),
		cmocka_unit_test(tables_are_complete_and_start_with_the_defaults),
		cmocka_unit_test(sentences_past_the_cap_are_dropped),
		cmocka_unit_test(words_keep_three_figures),
		cmocka_unit_test(a_run_that_was_not_measured_sizes_only_the_duration),
		cmocka_unit_test(runs_of_which_none_was_measured_size_nothing),
		cmocka_unit_test(uncertain_cpu_time_sizes_no_cores_but_memory),
		cmocka_unit_test(a_certain_run_sizes_the_cores_beside_uncertain_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
