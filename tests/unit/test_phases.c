/* recommender/phases.c, running.c: the parts of a run, and what to expect of one that still runs.
 */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recommender/phases.h"
#include "recommender/running.h"
#include "recommender/strategy.h"
#include "tests/support/test_runs.h"

#define GIB     (1024 * MIB)
#define SAMPLES 1000

/* A run of made-up samples, ten seconds each. */
struct made_up {
	struct series series;
	double at[SAMPLES], duration[SAMPLES], cpu[SAMPLES], memory[SAMPLES], gpus[SAMPLES],
		usage[SAMPLES];
	const char *columns[4];
	double *values[4];
};

static void make(struct made_up *m)
{
	*m = (struct made_up){
		.columns = {"cpu_seconds", "gpu_usage", "gpus_used", "memory_bytes"},
	};
	m->series = (struct series){SAMPLES, 4, m->columns, m->at, m->duration, m->values};
	m->values[0] = m->cpu;
	m->values[1] = m->usage;
	m->values[2] = m->gpus;
	m->values[3] = m->memory;
	for (unsigned i = 0; i < SAMPLES; i++) {
		m->at[i] = 10.0 * (i + 1);
		m->duration[i] = 10;
	}
}

/* Loads with one core and 40 GiB until sample load, then trains on a GPU with 8 GiB. */
static void load_then_train(struct made_up *m, unsigned load)
{
	make(m);
	for (unsigned i = 0; i < SAMPLES; i++) {
		double jitter = 1 + 0.02 * (double)(i * 7 % 5);

		m->cpu[i] = (i < load ? 10 : 20) * jitter;
		m->memory[i] = (i < load ? 40 : 8) * GIB / 1.08 * jitter;
		m->gpus[i] = i < load ? 0 : 1;
		m->usage[i] = i < load ? 0 : 0.9 * jitter;
	}
}

static void a_run_is_cut_where_it_changes(void **state)
{
	static struct made_up m;
	AUTO(arena_done) struct arena arena = {0};
	struct phases p;

	(void)state;
	load_then_train(&m, 300);
	phases_of(&m.series, &arena, &p);
	assert_int_equal(p.n, 2);
	assert_true(p.seconds == 10000);
	assert_true(p.phase[0].start == 0 && p.phase[1].start == 3000);
	assert_true(p.phase[0].seconds == 3000 && p.phase[1].seconds == 7000);
	assert_true(fabs(p.phase[0].cores_mean - 1.04) < 0.01);
	assert_true(fabs(p.phase[0].demand.memory_bytes / GIB - 40) < 0.01);
	assert_true(fabs(p.phase[1].demand.memory_bytes / GIB - 8) < 0.01);
	assert_true(p.phase[0].demand.gpus == 0 && p.phase[1].demand.gpus == 1);
	assert_true(p.phase[0].gpu_mean == 0 && p.phase[1].gpu_mean > 0.9);
	assert_true(isnan(p.phase[0].demand.vram_bytes));
}

static void a_steady_run_has_one_phase(void **state)
{
	static struct made_up m;
	AUTO(arena_done) struct arena arena = {0};
	struct phases p;

	(void)state;
	load_then_train(&m, 0);
	phases_of(&m.series, &arena, &p);
	assert_int_equal(p.n, 1);
	m.series.n = 0;
	phases_of(&m.series, &arena, &p);
	assert_int_equal(p.n, 0);
	m.series.n = 3;
	m.series.n_columns = 0;
	phases_of(&m.series, &arena, &p);
	assert_int_equal(p.n, 1);
	assert_true(isnan(p.phase[0].demand.memory_bytes) && isnan(p.phase[0].cores_mean));
}

static void a_split_that_recurs_and_pays_is_proposed(void **state)
{
	static struct made_up m[3];
	AUTO(arena_done) struct arena arena = {0};
	struct phases p[3];
	struct split split;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		load_then_train(&m[i], 400 + 20 * i);
		phases_of(&m[i].series, &arena, &p[i]);
	}
	assert_true(phases_split(p, 3, &arena, &split));
	assert_int_equal(split.parts.n, 2);
	assert_true(split.parts.phase[0].seconds == 4000);
	/* together (2.16 + 5 + 25) x 10000; apart (1.08 + 5) x 4000 + (2.16 + 1 + 25) x 6000 */
	assert_true(fabs(split.saving - (1 - 193280 / 321600.0)) < 0.005);
	assert_string_equal(split.words,
		"split: the run takes 66.7 min on 1.1 cores with 40.0 GiB, then 100.0 min on 2.2 "
		"cores with 8.00 GiB "
		"and 1 GPU; as 2 steps, each with its own request, it would reserve 40 % less");
	assert_false(phases_split(p, 2, &arena, &split)); /* twice is not yet a habit */
}

static void a_split_that_does_not_pay_or_recur_is_not(void **state)
{
	static struct made_up m[3];
	AUTO(arena_done) struct arena arena = {0};
	struct phases p[3];
	struct split split;

	(void)state;
	for (unsigned i = 0; i < 3; i++) { /* at another place each time */
		load_then_train(&m[i], 200 + 250 * i);
		phases_of(&m[i].series, &arena, &p[i]);
	}
	assert_false(phases_split(p, 3, &arena, &split));
	for (unsigned i = 0; i < 3; i++) { /* too short to be a step */
		load_then_train(&m[i], 60);
		phases_of(&m[i].series, &arena, &p[i]);
		assert_int_equal(p[i].n, 2);
	}
	assert_false(phases_split(p, 3, &arena, &split));
	for (unsigned i = 0; i < 3; i++) { /* both parts need nearly the same */
		make(&m[i]);
		for (unsigned k = 0; k < SAMPLES; k++) {
			m[i].cpu[k] = k < 500 ? 20 : 19;
			m[i].memory[k] = 8 * GIB;
		}
		phases_of(&m[i].series, &arena, &p[i]);
		assert_int_equal(p[i].n, 2);
	}
	assert_false(phases_split(p, 3, &arena, &split));
}

static void add_history(struct test_runs *t)
{
	for (unsigned i = 0; i < 40; i++)
		test_run_succeeded(t, 2, (1000 + 50 * (double)(i * 7 % 20)) * MIB)
			->duration_seconds = 100 + 5 * (double)(i * 3 % 20);
}

static struct run running_at(struct test_runs *t, double peak_mib, double seconds, double limit_mib)
{
	struct run *r = test_run_add(t, OUTCOME_RUNNING);

	if (peak_mib > 0)
		test_run_column(r, "memory_peak_bytes", peak_mib * MIB, peak_mib * MIB);
	test_run_column(r, "cpu_cores", 2, 2);
	r->duration_seconds = seconds;
	r->memory_limit_bytes = limit_mib * MIB;
	r->requested_cpu_cores = 8;
	t->runs.n--; /* not part of the history */
	return *r;
}

static void the_risk_of_a_kill_follows_mark_and_limit(void **state)
{
	static struct test_runs t;
	struct running early, late, roomy, gone;
	struct run now;

	(void)state;
	add_history(&t); /* peaks of 1000 to 1950 MiB */
	now = running_at(&t, 300, 10, 1800);
	running_outlook(&t.runs, &now, &early);
	assert_true(early.oom_risk > 0.1 && early.oom_risk < 0.35);
	now = running_at(&t, 1750, 10, 1800);
	running_outlook(&t.runs, &now, &late);
	assert_true(late.oom_risk > 0.5 && late.oom_risk <= 1);
	now = running_at(&t, 300, 10, 20000);
	running_outlook(&t.runs, &now, &roomy);
	assert_true(roomy.oom_risk < 0.01);
	now = running_at(&t, 1801, 10, 1800);
	running_outlook(&t.runs, &now, &gone);
	assert_true(gone.oom_risk == 1);
	assert_true(early.expected_peak_bytes > 1300 * MIB &&
		    early.expected_peak_bytes < 1600 * MIB);
	assert_true(late.expected_peak_bytes >= 1750 * MIB);
	assert_true(fabs(early.overprovisioned_memory - 6) < 1e-9);
	assert_true(fabs(early.overprovisioned_cpu - 4) < 1e-9);
}

static void the_expected_end_moves_with_the_time_taken(void **state)
{
	static struct test_runs t;
	struct running early, late, beyond;
	struct run now;

	(void)state;
	add_history(&t); /* 100 to 195 s */
	now = running_at(&t, 300, 10, NAN);
	running_outlook(&t.runs, &now, &early);
	now = running_at(&t, 300, 180, NAN);
	running_outlook(&t.runs, &now, &late);
	now = running_at(&t, 300, 5000, NAN);
	running_outlook(&t.runs, &now, &beyond);
	assert_true(early.expected_duration_seconds > 130 && early.expected_duration_seconds < 165);
	assert_true(late.expected_duration_seconds >= 180 && late.expected_duration_seconds < 260);
	assert_true(beyond.expected_duration_seconds >= 5000);
	assert_true(fabs(early.expected_end - now.started_at - early.expected_duration_seconds) <
		    1e-6);
	assert_true(isnan(early.oom_risk)); /* no limit */
}

static void without_a_past_nothing_is_expected(void **state)
{
	static struct test_runs t;
	struct running r;
	struct run now = running_at(&t, 0, 10, 1800);

	(void)state;
	running_outlook(&t.runs, &now, &r);
	assert_true(isnan(r.oom_risk) && isnan(r.expected_peak_bytes));
	assert_true(isnan(r.expected_duration_seconds) && isnan(r.expected_end));
	assert_true(isnan(r.overprovisioned_memory));
	assert_true(fabs(r.overprovisioned_cpu - 4) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_cut_where_it_changes),
		cmocka_unit_test(a_steady_run_has_one_phase),
		cmocka_unit_test(a_split_that_recurs_and_pays_is_proposed),
		cmocka_unit_test(a_split_that_does_not_pay_or_recur_is_not),
		cmocka_unit_test(the_risk_of_a_kill_follows_mark_and_limit),
		cmocka_unit_test(the_expected_end_moves_with_the_time_taken),
		cmocka_unit_test(without_a_past_nothing_is_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
