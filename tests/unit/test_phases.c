/* recommender/behaviour/phases.c, running.c: the phases of a run, and the forecast for a run that
 * is still running. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recommender/behaviour/phases.h"
#include "recommender/sizing/strategy.h"
#include "tests/support/test_runs.h"

#define GIB     (1024 * MIB)
#define SAMPLES 1000

/* A run of invented samples, ten seconds each. */
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

/* Loads data on one core with 40 GiB up to sample `load`. Then trains on a GPU with 8 GiB. */
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

/* If the history file lacks a column, the history returns only NaN for this column. */
static void an_unknown_column_is_as_good_as_none(void **state)
{
	static struct made_up m;
	static double unknown[SAMPLES], *values[16];
	AUTO(arena_done) struct arena arena = {0};
	struct phases few, all;
	size_t n = 0;

	load_then_train(&m, 300);
	m.series.n_columns = 2; /* CPU time and GPU usage */
	phases_of(&m.series, &arena, &few);
	for (size_t i = 0; i < SAMPLES; i++)
		unknown[i] = NAN;
	for (; phases_columns[n]; n++) {
		values[n] = unknown;
		for (size_t c = 0; c < m.series.n_columns; c++)
			if (strcmp(phases_columns[n], m.columns[c]) == 0)
				values[n] = m.values[c];
	}
	m.series = (struct series){SAMPLES, n, phases_columns, m.at, m.duration, values};
	phases_of(&m.series, &arena, &all);
	assert_int_equal(all.n, 2);
	assert_int_equal(few.n, 2);
	for (size_t i = 0; i < few.n; i++) {
		assert_true(all.phase[i].seconds == few.phase[i].seconds);
		assert_true(all.phase[i].demand.cpu_cores == few.phase[i].demand.cpu_cores);
		assert_true(all.phase[i].demand.gpus == few.phase[i].demand.gpus);
	}
	assert_true(all.phase[1].demand.gpus == 1);
}

static void a_steady_run_has_one_phase(void **state)
{
	static struct made_up m;
	AUTO(arena_done) struct arena arena = {0};
	struct phases p;

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

	for (unsigned i = 0; i < 3; i++) {
		load_then_train(&m[i], 400 + 20 * i);
		phases_of(&m[i].series, &arena, &p[i]);
	}
	assert_true(phases_split(p, 3, &arena, &split));
	assert_int_equal(split.parts.n, 2);
	assert_true(split.parts.phase[0].seconds == 4000);
	/* A request costs (CPU + memory + GPU) x seconds. One request: (2.16 + 5 + 25) x 10000. Two
	 * requests: (1.08 + 5) x 4000 + (2.16 + 1 + 25) x 6000. */
	assert_true(fabs(split.saving - (1 - 193280 / 321600.0)) < 0.005);
	assert_string_equal(split.words,
		"split: the run takes 66.7 min on 1.1 cores with 40.0 GiB, then 100.0 min on 2.2 "
		"cores with 8.00 GiB and 1 GPU; as 2 steps, each with its own request, it would "
		"reserve 40 % less");
	assert_false(phases_split(p, 2, &arena, &split)); /* two runs are too few */
}

static void a_split_that_does_not_pay_or_recur_is_not(void **state)
{
	static struct made_up m[3];
	AUTO(arena_done) struct arena arena = {0};
	struct phases p[3];
	struct split split;

	for (unsigned i = 0; i < 3; i++) { /* the phase changes at another sample in each run */
		load_then_train(&m[i], 200 + 250 * i);
		phases_of(&m[i].series, &arena, &p[i]);
	}
	assert_false(phases_split(p, 3, &arena, &split));
	/* The first phase is too short to be a step of its own. */
	for (unsigned i = 0; i < 3; i++) {
		load_then_train(&m[i], 60);
		phases_of(&m[i].series, &arena, &p[i]);
		assert_int_equal(p[i].n, 2);
	}
	assert_false(phases_split(p, 3, &arena, &split));
	for (unsigned i = 0; i < 3; i++) { /* both phases need nearly the same */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_cut_where_it_changes),
		cmocka_unit_test(an_unknown_column_is_as_good_as_none),
		cmocka_unit_test(a_steady_run_has_one_phase),
		cmocka_unit_test(a_split_that_recurs_and_pays_is_proposed),
		cmocka_unit_test(a_split_that_does_not_pay_or_recur_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
