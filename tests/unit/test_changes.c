/* recommender/behaviour/segments.c, trend.c, changes.c: which changes of a job are reported, and
 * which are not. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "recommender/behaviour/changes.h"
#include "recommender/behaviour/segments.h"
#include "recommender/sizing/strategy.h"
#include "recommender/behaviour/trend.h"
#include "tests/support/test_runs.h"

/* Returns reproducible noise between -1 and 1. */
static double noise(unsigned i)
{
	return (double)((i * 2654435761u >> 16) & 0xff) / 127.5 - 1;
}

static void cuts_are_found_where_the_level_shifts(void **state)
{
	double steps[300], flat[300], rate[300], gaps[300], unknown[300];
	size_t cut[300];
	const double *two[] = {flat, rate}, *one[] = {steps}, *none[] = {flat}, *holes[] = {gaps};
	const double *nothing[] = {unknown};

	for (unsigned i = 0; i < 300; i++) {
		steps[i] = (i < 100 ? 10 : i < 220 ? 30 : 20) + noise(i);
		flat[i] = 7;
		rate[i] = (i < 150 ? 0 : 5) + noise(i);
		gaps[i] = i % 3 ? NAN : i < 150 ? 1 : 2;
		unknown[i] = NAN;
	}
	assert_int_equal(segments_cut(one, 1, 300, 5, cut), 2);
	assert_int_equal(cut[0], 100);
	assert_int_equal(cut[1], 220);
	assert_int_equal(segments_cut(two, 2, 300, 5, cut), 1);
	assert_int_equal(cut[0], 150);
	assert_int_equal(segments_cut(holes, 1, 300, 5, cut), 1);
	assert_int_equal(cut[0], 150);
	assert_int_equal(segments_cut(none, 1, 300, 5, cut), 0);
	assert_int_equal(segments_cut(nothing, 1, 300, 5, cut), 0);
	assert_int_equal(segments_cut(one, 1, 1, 1, cut), 0);
	assert_int_equal(segments_cut(one, 1, SEGMENTS_POINTS_MAX + 1, 1, cut), 0);
}

static void noise_alone_is_not_cut(void **state)
{
	double v[400];
	size_t cut[400];
	const double *channel[] = {v};

	for (unsigned i = 0; i < 400; i++)
		v[i] = 100 + noise(i);
	assert_int_equal(segments_cut(channel, 1, 400, 1, cut), 0);
}

static void no_segment_is_shorter_than_asked(void **state)
{
	double v[60] = {0};
	size_t cut[60];
	const double *channel[] = {v};

	v[30] = v[31] = 100; /* two points are a segment only if segments may be this short */
	assert_int_equal(segments_cut(channel, 1, 60, 2, cut), 2);
	assert_int_equal(segments_cut(channel, 1, 60, 31, cut), 0);
	for (size_t n = segments_cut(channel, 1, 60, 10, cut), i = 0; i < n; i++)
		assert_true(cut[i] >= 10 && cut[i] <= 50);
}

static void trend_agrees_with_hand_calculation(void **state)
{
	static const struct {
		double v[10];
		size_t n;
		double chance, slope;
	} table[] = {
		/* Mann-Kendall: S = 45, variance 125, z = 44 / 11.180 */
		{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 10, 8.303e-5, 1},
		{{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 10, 8.303e-5, -1},
		/* S = 8. Two pairs of equal values: variance (300 - 2 x 18) / 18 = 14.667, z = 7 /
		 * 3.830 */
		{{1, 2, 2, 3, 3}, 5, 0.06757, 0.5},
		{{5, 5, 5, 5, 5}, 5, 1, 0},
		{{1, 2, 3}, 3, 1, 1},
		/* S = 20. Two pairs of equal values: variance (1176 - 36) / 18 = 63.333, z = 19 /
		 * 7.958 */
		{{1, 3, 2, 4, 3, 5, 4, 6}, 8, 0.01696, 0.5},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		double chance = trend_chance(table[i].v, table[i].n),
		       slope = trend_slope(table[i].v, table[i].n);

		if (!(fabs(chance - table[i].chance) <= 2e-3 * table[i].chance) ||
			!(fabs(slope - table[i].slope) < 1e-9))
			fail_msg("row %zu: chance %.6g, slope %.6g", i, chance, slope);
	}
	assert_true(isnan(trend_slope(table[0].v, 1)));
}

static void what_is_long_ago_is_no_part_of_a_trend(void **state)
{
	double v[3 * TREND_MAX];

	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		v[i] = i < 2 * TREND_MAX ? 1e6 - 100 * (double)i : (double)i;
	const double *newest = v + 2 * TREND_MAX;

	assert_true(fabs(trend_slope(v, ARRAY_LEN(v)) - 1) < 1e-9);
	assert_true(trend_chance(v, ARRAY_LEN(v)) == trend_chance(newest, TREND_MAX));
	assert_true(trend_of(v, ARRAY_LEN(v)).chance == trend_of(newest, TREND_MAX).chance);
	assert_true(fabs(trend_of(v, ARRAY_LEN(v)).slope - 1) < 1e-9);
	assert_true(isnan(trend_median(v, 0)));
}

static void a_slow_wave_is_not_a_trend(void **state)
{
	double wave[60], rise[60];

	for (unsigned i = 0; i < 60; i++) {
		wave[i] = sin(i * 0.11 + 1) + 0.05 * noise(i);
		rise[i] = 0.05 * i + 0.3 * noise(i);
	}
	assert_true(trend_chance(wave, 60) < 0.05); /* the Mann-Kendall test alone sees a trend */
	assert_true(trend_of(wave, 60).chance > 0.05);
	assert_true(trend_of(rise, 60).chance < 1e-6);
	assert_true(fabs(trend_of(rise, 60).slope - 0.05) < 0.005);
}

static const struct change *find(const struct change *c, size_t n, enum change_kind kind,
	const char *measure)
{
	for (size_t i = 0; i < n; i++)
		if (c[i].kind == kind && strcmp(c[i].measure, measure) == 0)
			return &c[i];
	return NULL;
}

/* Fills the runs, newest first. mib(i) returns the peak of run `i` in MiB. Run 0 is the oldest. */
static void fill(struct test_runs *t, unsigned n, double (*mib)(unsigned i))
{
	static char id[TEST_RUNS_MAX][16];

	for (unsigned i = n; i-- > 0;) {
		struct run *r = test_run_succeeded(t, 1, mib(i) * MIB);

		snprintf(id[i], sizeof id[i], "run-%u", i);
		r->run_id = id[i];
		test_run_column(r, "cpu_seconds", 8 + 0.02 * noise(i), 9);
	}
}

static double steady(unsigned i)
{
	return 1000 + 10 * noise(i);
}

static double shifted(unsigned i)
{
	return (i < 20 ? 1000 : 1500) + 10 * noise(i);
}

static double growing(unsigned i)
{
	return 1000 * exp(0.03 * i + 0.01 * noise(i));
}

static double outlier(unsigned i)
{
	return i == 24 ? 3000 : steady(i);
}

static void steady_runs_have_no_changes(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct change *c;

	fill(&t, 40, steady);
	assert_int_equal(changes_of_runs(&t.runs, 1200 * MIB, &arena, &c), 0);
}

static void a_shift_names_the_run_it_came_with(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct change *c;
	const struct change *shift;
	size_t n;

	fill(&t, 30, shifted);
	t.run[0].outcome = OUTCOME_FAILED; /* a failed run is left out */
	n = changes_of_runs(&t.runs, NAN, &arena, &c);
	shift = find(c, n, CHANGE_SHIFT, "memory_peak_bytes");
	assert_non_null(shift);
	assert_string_equal(shift->run_id, "run-20");
	assert_true(fabs(shift->before / MIB - 1000) < 10 && fabs(shift->after / MIB - 1500) < 10);
	assert_non_null(strstr(shift->words, "peak memory rose from "));
	assert_non_null(strstr(shift->words, "9 runs ago, with run run-20"));
}

static void a_trend_says_when_the_request_is_reached(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct change *c;
	size_t n;
	const struct change *trend;

	fill(&t, 9, growing);
	n = changes_of_runs(&t.runs, 1000 * exp(0.03 * 14) * MIB, &arena, &c);
	trend = find(c, n, CHANGE_TREND, "memory_peak_bytes");
	assert_non_null(trend);
	assert_true(fabs(trend->after / (1000 * exp(0.27) * MIB) - 1) < 0.02);
	assert_non_null(strstr(trend->words, "peak memory grows by 3."));
	assert_non_null(strstr(trend->words, "reached in about 6 runs"));
	n = changes_of_runs(&t.runs, NAN, &arena, &c);
	trend = find(c, n, CHANGE_TREND, "memory_peak_bytes");
	assert_null(strstr(trend->words, "reached"));
}

static void an_unusual_newest_run_is_named(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct change *c;
	size_t n;
	const struct change *odd;

	fill(&t, 25, outlier);
	n = changes_of_runs(&t.runs, NAN, &arena, &c);
	odd = find(c, n, CHANGE_ANOMALY, "memory_peak_bytes");
	assert_non_null(odd);
	assert_string_equal(odd->run_id, "run-24");
	assert_true(fabs(odd->after / MIB - 3000) < 1 && fabs(odd->before / MIB - 1000) < 10);
	assert_non_null(strstr(odd->words,
		"peak memory of the newest run was 2.93 GiB, 3 times the"));
	assert_non_null(find(c, n, CHANGE_NEW_PEAK, "memory_peak_bytes"));
	assert_null(find(c, n, CHANGE_ANOMALY, "duration_seconds"));
}

static void a_large_input_excuses_a_large_run(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct change *c;
	size_t n;

	for (unsigned i = 0; i < 20; i++) {
		double size = i ? 1 + (i * 7 % 5) * 0.5 : 3; /* the newest run is largest */

		test_run_succeeded(&t, 1, 1000 * size * (1 + 0.01 * noise(i)) * MIB)->input_bytes =
			1e9 * size;
	}
	n = changes_of_runs(&t.runs, NAN, &arena, &c);
	assert_null(find(c, n, CHANGE_ANOMALY, "memory_peak_bytes"));
	test_run_column(&t.run[0], "x", 0, 0); /* the peak is twice what its input explains */
	t.run[0].stats[1].d.max = t.run[0].stats[1].d.mean = 6000 * MIB;
	assert_string_equal(t.run[0].stats[1].column, "memory_peak_bytes");
	n = changes_of_runs(&t.runs, NAN, &arena, &c);
	assert_non_null(find(c, n, CHANGE_ANOMALY, "memory_peak_bytes"));
	assert_non_null(strstr(find(c, n, CHANGE_ANOMALY, "memory_peak_bytes")->words,
		"for its input"));
}

static void few_runs_say_nothing(void **state)
{
	for (unsigned n = 0; n < 6; n++) {
		struct test_runs *t = test_calloc(1, sizeof *t);
		AUTO(arena_done) struct arena arena = {0};
		struct change *c;

		fill(t, n, steady);
		if (n)
			test_run_add(t, OUTCOME_SUCCEEDED)->duration_seconds = NAN;
		assert_int_equal(changes_of_runs(&t->runs, NAN, &arena, &c), 0);
		test_free(t);
	}
	for (unsigned k = 0; k < CHANGE_KINDS; k++)
		assert_non_null(change_kind_name[k]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_are_found_where_the_level_shifts),
		cmocka_unit_test(noise_alone_is_not_cut),
		cmocka_unit_test(no_segment_is_shorter_than_asked),
		cmocka_unit_test(trend_agrees_with_hand_calculation),
		cmocka_unit_test(what_is_long_ago_is_no_part_of_a_trend),
		cmocka_unit_test(a_slow_wave_is_not_a_trend),
		cmocka_unit_test(steady_runs_have_no_changes),
		cmocka_unit_test(a_shift_names_the_run_it_came_with),
		cmocka_unit_test(a_trend_says_when_the_request_is_reached),
		cmocka_unit_test(an_unusual_newest_run_is_named),
		cmocka_unit_test(a_large_input_excuses_a_large_run),
		cmocka_unit_test(few_runs_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
