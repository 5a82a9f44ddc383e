/* recommender/sizing/strategies.c: the sizing of every strategy, and the additional parts of
 * `auto`. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "recommender/sizing/strategy.h"
#include "tests/support/test_runs.h"

#define GIB (1024 * MIB)

static const struct sizing_options defaults = {.hindsight = true};

static struct sizing size_with(const char *name, const struct test_runs *t,
	const struct sizing_options *o, struct arena *arena)
{
	struct sizing s = {0};
	struct err e = {0};

	assert_int_equal(strategy_find(name)->size(&t->runs, o, arena, &s, &e), 0);
	return s;
}

static const char *explained(const struct sizing *s, const char *part)
{
	for (size_t i = 0; i < s->n_explain; i++)
		if (strstr(s->explain[i], part))
			return s->explain[i];
	return NULL;
}

static void every_strategy_fills_and_explains_its_numbers(void **state)
{
	static struct test_runs t;

	test_runs_steady(&t, 20, 1000);
	for (const struct strategy *st = strategies; st->name; st++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = size_with(st->name, &t, &defaults, &arena);

		print_message("%s\n", st->name);
		assert_true(s.demand.memory_bytes > 1000 * MIB &&
			    s.demand.memory_bytes < 1400 * MIB);
		assert_true((double)s.resources.memory >= s.demand.memory_bytes / MIB);
		assert_true(s.memory_bytes_limit >= s.demand.memory_bytes);
		assert_true(s.resources.cpu >= 1 && s.resources.cpu <= 8);
		assert_true(s.demand.cpu_cores >= 1 && s.demand.cpu_cores <= 8);
		assert_true(s.demand.duration_seconds >= 600 && s.demand.duration_seconds <= 640);
		assert_true(s.memory_too_small >= 0 && s.memory_too_small < 0.2);
		assert_true(s.memory_low < 1000 * MIB && s.memory_high > 1000 * MIB);
		assert_true(s.memory_at_risk[RISK_SAFE] >= s.memory_at_risk[RISK_ECONOMY]);
		assert_true(s.hindsight_baseline.waste > 0.9); /* 1200 MiB is rounded up to 2048 */
		assert_int_equal(s.hindsight.runs, st->name[0] == 'b' ? 4 : 19);
		assert_in_range(s.hindsight.failures, 0, 2);
		assert_non_null(explained(&s, "memory: "));
		assert_non_null(explained(&s, "cpu: "));
		assert_non_null(explained(&s, "duration"));
		assert_false(warnings_have(&s.warnings, WARNING_MIXED_JOBS));
	}
}

static void hindsight_changes_nothing_else(void **state)
{
	static struct test_runs t;

	test_runs_steady(&t, 20, 1000);
	test_run_add(&t, OUTCOME_OOM_KILLED)->memory_limit_bytes = 320 * MIB;
	for (const struct strategy *st = strategies; st->name; st++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing with = size_with(st->name, &t, &defaults, &arena);
		struct sizing s = size_with(st->name, &t, &(struct sizing_options){0}, &arena);

		assert_int_equal(s.hindsight.runs + s.hindsight_baseline.runs, 0);
		assert_true(isnan(s.hindsight.waste) && isnan(s.hindsight_baseline.waste));
		assert_true(s.demand.memory_bytes == with.demand.memory_bytes);
		assert_true(s.memory_too_small == with.memory_too_small);
		for (size_t i = 0; i < ATTEMPTS_TOLD; i++)
			assert_true(s.memory_attempts[i] == with.memory_attempts[i]);
		assert_int_equal(with.hindsight.runs, st->name[0] == 'b' ? 4 : 19);
		assert_null(explained(&s, "would have wasted"));
	}
}

/* Tiny numbers from a client must not give a sentence with "inf %". */
static void waste_of_nothing_is_no_number(void **state)
{
	static struct test_runs t;

	for (int i = 0; i < 6; i++)
		test_run_succeeded(&t, 1, 1e-300);
	for (const struct strategy *st = strategies; st->name; st++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = size_with(st->name, &t, &defaults, &arena);

		assert_false(isinf(s.hindsight.waste) || isinf(s.hindsight_baseline.waste));
		assert_null(explained(&s, "inf"));
	}
}

static void every_strategy_says_why_it_cannot_answer(void **state)
{
	static struct test_runs none, failed;

	test_run_add(&failed, OUTCOME_FAILED);
	for (const struct strategy *st = strategies; st->name; st++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = {.runs = 77};
		struct err e = {0};

		assert_int_equal(st->size(&none.runs, &defaults, &arena, &s, &e), -ENODATA);
		assert_int_equal(st->size(&failed.runs, &defaults, &arena, &s, &e), -ENODATA);
		assert_string_equal(e.text, "none of the 1 recorded runs succeeded (1 failed)");
		assert_int_equal(s.runs, 77);
	}
}

static void unmeasured_runs_leave_every_number_unknown(void **state)
{
	static struct test_runs t;

	for (int i = 0; i < 3; i++) {
		struct run *r = test_run_add(&t, OUTCOME_SUCCEEDED);

		r->duration_seconds = NAN;
		test_run_column(r, "memory_peak_bytes", NAN, NAN);
		test_run_column(r, "cpu_cores", NAN, NAN);
		test_run_column(r, "vram_peak_bytes", NAN, NAN);
	}
	for (const struct strategy *st = strategies; st->name; st++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = size_with(st->name, &t, &defaults, &arena);

		assert_true(isnan(s.demand.memory_bytes) && isnan(s.demand.cpu_cores));
		assert_true(isnan(s.demand.duration_seconds) && isnan(s.memory_too_small));
		assert_int_equal(s.resources.memory, 0);
		assert_int_equal(s.resources.cpu, 0);
		assert_non_null(explained(&s, "memory: The need is unknown"));
		assert_non_null(explained(&s, "cpu: The need is unknown"));
	}
}

static void a_kill_for_memory_is_learnt_at_once(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;

	test_run_add(&t, OUTCOME_RUNNING);
	test_run_add(&t, OUTCOME_FAILED);
	test_run_add(&t, OUTCOME_OOM_KILLED)->memory_limit_bytes = 1200 * MIB;
	test_run_add(&t, OUTCOME_OOM_KILLED)->memory_limit_bytes = 1100 * MIB;
	test_runs_steady(&t, 10, 1000);
	s = size_with("auto", &t, &defaults, &arena);
	assert_true(s.demand.memory_bytes == 2400 * MIB);
	assert_true(isnan(s.memory_too_small));
	assert_string_equal(explained(&s, "killed"),
		"memory: The newest run was killed for memory at 1.17 GiB.");
	t.run[1].outcome = OUTCOME_SUCCEEDED; /* a later run succeeded */
	test_run_column(&t.run[1], "memory_peak_bytes", 1500 * MIB, 1500 * MIB);
	s = size_with("auto", &t, &defaults, &arena);
	assert_null(explained(&s, "killed"));
	assert_true(s.demand.memory_bytes < 2400 * MIB);
}

/* Half of the runs fit into 250 MiB. The other half was killed at 320 MiB, which no successful run
 * reached. */
static void a_small_success_does_not_undo_a_kill(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s, seeds;

	for (int i = 0; i < 10; i++) {
		test_run_succeeded(&t, 1, 250 * MIB);
		test_run_add(&t, OUTCOME_OOM_KILLED)->memory_limit_bytes = 320 * MIB;
	}
	s = size_with("auto", &t, &defaults, &arena);
	assert_true(s.demand.memory_bytes > 320 * MIB);
	assert_true(s.confidence == CONFIDENCE_LOW);
	assert_int_equal(s.memory_kills, 9); /* the oldest kill is before all successes */
	assert_non_null(explained(&s,
		"memory: 9 runs were killed for memory at up to 320 MiB, and no later run needed as much."));
	assert_null(strstr(s.summary, "successful run"));
	/* The baseline only uses successful runs, but its hindsight counts the kills. */
	seeds = size_with("baseline", &t, &defaults, &arena);
	assert_int_equal(seeds.resources.memory, 512); /* 300 MiB, rounded up */
	assert_true(seeds.memory_too_small > 0.3);
	assert_int_equal(s.hindsight_baseline.runs, 18);
	/* A later successful run that needed more explains all the kills. */
	t.run[0].stats[1].d.max = 400 * MIB;
	s = size_with("auto", &t, &defaults, &arena);
	assert_int_equal(s.memory_kills, 0);
	assert_null(explained(&s, "killed for memory"));
}

/* A process above its limit is killed, so the limit is above every observed peak and above the
 * request. */
static void a_limit_has_room_for_every_peak(void **state)
{
	static const size_t runs[] = {1, 2, 5, 10, 20, 50, 200};

	for (const struct strategy *strategy = strategies; strategy->name; strategy++)
		for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
			static struct test_runs t;
			AUTO(arena_done) struct arena arena = {0};
			double largest = 1000 * MIB;

			t = (struct test_runs){0};
			for (size_t k = 0; k < runs[i]; k++)
				test_run_succeeded(&t, 1, k == runs[i] / 2 ? largest : 100 * MIB);
			struct sizing s = size_with(strategy->name, &t, &defaults, &arena);

			/* The baseline uses five runs only. */
			if (strcmp(strategy->name, "baseline") == 0 && runs[i] / 2 >= SIZING_RUNS)
				largest = 100 * MIB;
			if (!(s.memory_bytes_limit >= largest * 1.05 + 16 * MIB &&
				    s.memory_bytes_limit >= s.demand.memory_bytes))
				fail_msg("%s, %zu runs: %g MiB", strategy->name, runs[i],
					s.memory_bytes_limit / MIB);
			assert_non_null(explained(&s, "systems with a limit beside the request"));
		}
}

static void a_limit_has_room_for_what_a_kill_tells(void **state)
{
	static const char *const names[] = {"auto", "max", "percentile", "krr", "vpa"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};

		t = (struct test_runs){0};
		for (int k = 0; k < 20; k++)
			test_run_succeeded(&t, 1, 100 * MIB);
		t.run[10].outcome = OUTCOME_OOM_KILLED;
		t.run[10].memory_limit_bytes = 1000 * MIB;
		test_run_peak(&t.run[10], 1000 * MIB);
		double limit = size_with(names[i], &t, &defaults, &arena).memory_bytes_limit;

		if (!(limit > 1200 * MIB && limit < 1500 * MIB))
			fail_msg("%s: %g MiB", names[i], limit / MIB);
	}
}

static void add_run_with_disk_and_vram(struct test_runs *t)
{
	struct run *r = test_run_succeeded(t, 1, 50 * GIB);

	test_run_column(r, "gpus_used", 1, 1);
	test_run_column(r, "vram_peak_bytes", 4 * GIB, 4 * GIB);
	test_run_column(r, "disk_grown_bytes", 2 * GIB, 2 * GIB);
}

static void a_kill_for_memory_says_nothing_of_disk_vram_and_time(void **state)
{
	for (const struct strategy *strategy = strategies; strategy->name; strategy++)
		for (size_t newer = 0; newer <= 5; newer += 5) {
			static struct test_runs without, with;
			AUTO(arena_done) struct arena arena = {0};
			struct sizing calm, killed;

			with = without = (struct test_runs){0};
			for (size_t i = 0; i < 9; i++) {
				add_run_with_disk_and_vram(&without);
				if (i == newer)
					test_run_add(&with, OUTCOME_OOM_KILLED)
						->memory_limit_bytes = 64 * GIB;
				add_run_with_disk_and_vram(&with);
			}
			calm = size_with(strategy->name, &without, &defaults, &arena);
			killed = size_with(strategy->name, &with, &defaults, &arena);
			if (!(killed.demand.disk_bytes == calm.demand.disk_bytes &&
				    killed.demand.vram_bytes == calm.demand.vram_bytes &&
				    killed.demand.duration_seconds == calm.demand.duration_seconds))
				fail_msg("%s, %zu newer: disk %g not %g, VRAM %g not %g",
					strategy->name, newer, killed.demand.disk_bytes,
					calm.demand.disk_bytes, killed.demand.vram_bytes,
					calm.demand.vram_bytes);
		}
}

static void auto_answers_when_there_were_only_kills(void **state)
{
	static struct test_runs t, limitless;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;
	struct err e;

	test_run_add(&t, OUTCOME_OOM_KILLED)->memory_limit_bytes = 2 * GIB;
	s = size_with("auto", &t, &defaults, &arena);
	assert_true(s.demand.memory_bytes == 4 * GIB);
	assert_int_equal(s.resources.memory, 4096);
	assert_int_equal(s.runs, 0);
	assert_int_equal(s.confidence, CONFIDENCE_NONE);
	assert_true(isnan(s.demand.cpu_cores));
	assert_int_equal(strategy_find("krr")->size(&t.runs, &defaults, &arena, &s, &e), -ENODATA);
	test_run_add(&limitless, OUTCOME_OOM_KILLED);
	assert_int_equal(strategy_find("auto")->size(&limitless.runs, &defaults, &arena, &s, &e),
		-ENODATA);
}

static void add_runs_by_input(struct test_runs *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double size = 1 + (double)(i * 7 % 10);

		test_run_succeeded(t, 1, (100 + 300 * size) * MIB)->input_bytes = 1e9 * size;
	}
}

static void auto_uses_an_announced_input(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing small, large, far, empty;

	add_runs_by_input(&t, 40);
	small = size_with("auto", &t, &(struct sizing_options){.input_bytes = 1e9}, &arena);
	large = size_with("auto", &t, &(struct sizing_options){.input_bytes = 1e10}, &arena);
	far = size_with("auto", &t, &(struct sizing_options){.input_bytes = 1e15}, &arena);
	/* An input of 0 bytes is an input, and not an unknown one. The line through the peaks
	 * reaches below the smallest peak of 400 MiB: to 100 MiB at an input of 0. */
	empty = size_with("auto", &t, &(struct sizing_options){.input_given = true}, &arena);
	assert_true(empty.demand.memory_bytes > 90 * MIB &&
		    empty.demand.memory_bytes < small.demand.memory_bytes);
	assert_true(small.demand.memory_bytes > 400 * MIB && small.demand.memory_bytes < 700 * MIB);
	assert_true(large.demand.memory_bytes > 3100 * MIB &&
		    large.demand.memory_bytes < 3700 * MIB);
	assert_true(far.demand.memory_bytes > 1000 * large.demand.memory_bytes &&
		    far.demand.memory_bytes <= ALLOCATION_MAX);
	assert_string_equal(explained(&far, "announced input"),
		"memory: The announced input is 100000 times the largest earlier one, and the chance of a failure grows with the square.");
	assert_null(explained(&large, "announced input"));
}

static void vram_and_gpus_are_sized(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;

	for (size_t i = 0; i < 8; i++) {
		struct run *r = test_run_succeeded(&t, NAN, GIB);

		test_run_column(r, "cpu_cores", 1.99, 2);
		test_run_column(r, "gpus_used", 2, 2);
		test_run_column(r, "vram_peak_bytes", 8 * GIB, (8000 + (double)i) * MIB);
	}
	for (const struct strategy *st = strategies; st->name; st++) {
		s = size_with(st->name, &t, &defaults, &arena);
		assert_int_equal(s.resources.gpu, 2);
		assert_true(s.demand.vram_bytes >= 8007 * MIB && s.demand.vram_bytes < 11000 * MIB);
		assert_true((double)s.resources.vram >= s.demand.vram_bytes / MIB);
		assert_non_null(explained(&s, strcmp(st->name, "baseline") == 0 ?
						      "The GPU memory is the largest peak" :
						      "of GPU memory is sized"));
	}
	/* With fewer CPUs, the run would occupy its GPUs longer. Fewer CPUs are therefore never
	 * cheaper. */
	for (enum cpu_for purpose = 0; purpose < CPU_FOR_COUNT; purpose++) {
		const struct sizing_options options = {.cpu_for = purpose};

		s = size_with("auto", &t, &options, &arena);
		assert_int_equal(s.resources.cpu, 2);
	}
}

static void options_reach_the_rules(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;

	for (size_t i = 0; i < 10; i++)
		test_run_succeeded(&t, 1,
			100 * (double)(i + 1) * MIB); /* newest 100 MiB, oldest 1000 */
	s = size_with("max", &t, &(struct sizing_options){.margin_given = true, .margin = 0.5},
		&arena);
	assert_true(fabs(s.demand.memory_bytes / MIB - 1500) < 1e-6);
	s = size_with("max", &t, &(struct sizing_options){.runs = 3}, &arena);
	assert_true(fabs(s.demand.memory_bytes / MIB - 360) < 1e-6);
	assert_int_equal(s.runs, 3);
	s = size_with("percentile", &t, &(struct sizing_options){.percentile = 0.5}, &arena);
	assert_true(fabs(s.demand.memory_bytes / MIB - 550) < 1e-6);
	s = size_with("percentile", &t, &(struct sizing_options){.percentile = 17}, &arena);
	assert_true(fabs(s.demand.memory_bytes / MIB - 1000) < 1e-6);
	s = size_with("vpa", &t, &(struct sizing_options){.margin_given = true}, &arena);
	assert_true(s.demand.memory_bytes < 1050 * MIB);
}

static void a_later_attempt_asks_for_more(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};

	for (size_t i = 0; i < 20; i++)
		test_run_succeeded(&t, 1, (i == 7 ? 3000 : 1000) * MIB);
	for (const struct strategy *st = strategies; st->name; st++) {
		double last = 0;

		for (size_t attempt = 1; attempt < 5; attempt++) {
			struct sizing s = size_with(st->name, &t,
				&(struct sizing_options){.attempt = attempt}, &arena);

			assert_true(s.demand.memory_bytes > last);
			assert_int_equal(explained(&s, "memory: Attempt ") != NULL, attempt > 1);
			last = s.demand.memory_bytes;
		}
	}

	struct sizing s = size_with("auto", &t, &(struct sizing_options){.attempt = 2}, &arena);

	/* Only one peak, 3000 MiB, is above the first attempt. The second attempt requests it. */
	assert_true(fabs(s.demand.memory_bytes / MIB - 3000) < 1e-6);
	s = size_with("auto", &t, &(struct sizing_options){.attempt = 1000000}, &arena);
	assert_true(s.demand.memory_bytes <= ALLOCATION_MAX);
}

static void risk_levels_are_ordered_and_named(void **state)
{
	static const enum risk by_caution[] = {RISK_ECONOMY, RISK_BALANCED, RISK_SAFE};
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	double last = 0;
	enum risk r;

	for (size_t i = 0; i < 40; i++)
		test_run_succeeded(&t, 1, (1000 + 400 * (double)(i * 7 % 11)) * MIB);
	for (size_t i = 0; i < RISK_COUNT; i++) {
		struct sizing s = size_with("auto", &t,
			&(struct sizing_options){.risk = by_caution[i]}, &arena);

		assert_true(s.demand.memory_bytes >= last);
		assert_true(s.demand.memory_bytes == s.memory_at_risk[by_caution[i]]);
		last = s.demand.memory_bytes;
		assert_true(sizing_risk_parse(sizing_risk_name(by_caution[i]), &r) &&
			    r == by_caution[i]);
	}
	assert_false(sizing_risk_parse("reckless", &r));
	assert_string_equal(sizing_risk_name(defaults.risk), "balanced");
}

static void an_old_size_is_said_to_be_moved(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;

	test_runs_steady(&t, 6, 1000);
	test_runs_steady(&t, 30, 5000);
	s = size_with("auto", &t, &defaults, &arena);
	assert_true(s.demand.memory_bytes < 1500 * MIB);
	assert_string_equal(explained(&s, "lasting"),
		"memory: 30 runs before a lasting change of the peak count as if on the new level.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_strategy_fills_and_explains_its_numbers),
		cmocka_unit_test(hindsight_changes_nothing_else),
		cmocka_unit_test(waste_of_nothing_is_no_number),
		cmocka_unit_test(every_strategy_says_why_it_cannot_answer),
		cmocka_unit_test(unmeasured_runs_leave_every_number_unknown),
		cmocka_unit_test(a_kill_for_memory_is_learnt_at_once),
		cmocka_unit_test(a_small_success_does_not_undo_a_kill),
		cmocka_unit_test(a_limit_has_room_for_every_peak),
		cmocka_unit_test(a_limit_has_room_for_what_a_kill_tells),
		cmocka_unit_test(a_kill_for_memory_says_nothing_of_disk_vram_and_time),
		cmocka_unit_test(auto_answers_when_there_were_only_kills),
		cmocka_unit_test(auto_uses_an_announced_input),
		cmocka_unit_test(vram_and_gpus_are_sized),
		cmocka_unit_test(options_reach_the_rules),
		cmocka_unit_test(a_later_attempt_asks_for_more),
		cmocka_unit_test(risk_levels_are_ordered_and_named),
		cmocka_unit_test(an_old_size_is_said_to_be_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
