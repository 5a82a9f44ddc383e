/* exporter/answers/series_view.c: from samples to the points of a chart. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "exporter/answers/series_view.h"

#define N 1000

static const double *column(const struct series *s, const char *name)
{
	for (size_t i = 0; i < s->n_columns; i++)
		if (strcmp(s->columns[i], name) == 0)
			return s->values[i];
	return NULL;
}

/* Two columns of n samples, each one second long. */
struct made {
	double at[N], duration[N], cpu[N], memory[N];
	double *values[2];
	struct series s;
};

static void make(struct made *m, size_t n)
{
	static const char *const names[] = {"cpu_seconds", "memory_bytes"};

	for (size_t i = 0; i < n; i++) {
		m->at[i] = 1000 + (double)i;
		m->duration[i] = 1;
		m->cpu[i] = 0.5;
		m->memory[i] = (double)i;
	}
	m->values[0] = m->cpu;
	m->values[1] = m->memory;
	m->s = (struct series){n, 2, names, m->at, m->duration, m->values};
}

static void growth_becomes_a_rate(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct made m;

	make(&m, 4);
	m.duration[2] = 2;
	m.cpu[1] = NAN;
	struct series v = series_view_of(&m.s, &arena);
	const double *cores = column(&v, "cpu_cores");

	assert_non_null(cores);
	assert_true(cores[0] == 0.5 && isnan(cores[1]) && cores[2] == 0.25 && cores[3] == 0.5);
	assert_true(column(&v, "memory_bytes")[3] == 3);
	assert_null(column(&v, "vram_bytes"));
}

/* The last reading may come after a few milliseconds. It must not look like a peak, so its growth
 * is added to the neighbouring interval. */
static void a_short_interval_is_joined_to_its_neighbour(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct made m;

	make(&m, 5);
	m.duration[1] = 0.01;
	m.duration[4] = 0;
	m.cpu[4] = 0.25;
	struct series v = series_view_of(&m.s, &arena);
	const double *cores = column(&v, "cpu_cores");

	assert_true(isnan(cores[1]) && isnan(cores[4]));
	assert_true(fabs(cores[2] - 1 / 1.01) < 1e-12);
	assert_true(cores[3] == 0.75);
	make(&m, 1);
	m.duration[0] = 0.01;
	v = series_view_of(&m.s, &arena);
	assert_true(fabs(column(&v, "cpu_cores")[0] - 50) < 1e-9);
	/* The only interval with known growth is a short one. */
	make(&m, 3);
	m.duration[1] = 0.01;
	m.cpu[0] = m.cpu[2] = NAN;
	v = series_view_of(&m.s, &arena);
	assert_true(fabs(column(&v, "cpu_cores")[2] - 50) < 1e-9);
	assert_true(isnan(column(&v, "cpu_cores")[0]) && isnan(column(&v, "cpu_cores")[1]));
}

static void thinning_keeps_the_lowest_and_the_highest(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct made m;

	make(&m, N);
	for (size_t i = 0; i < N; i++)
		m.memory[i] = 100;
	m.memory[617] = 9000;
	m.memory[618] = -5;
	m.cpu[3] = 7;
	for (size_t points = 2; points <= N; points += 37) {
		struct series t = series_view_thinned(&m.s, points, &arena);
		const double *memory = column(&t, "memory_bytes"), *cpu = column(&t, "cpu_seconds");
		double high = -INFINITY, low = INFINITY, cpu_high = -INFINITY, time = 0;

		assert_true(t.n <= points);
		for (size_t i = 0; i < t.n; i++) {
			high = fmax(high, memory[i]);
			low = fmin(low, memory[i]);
			cpu_high = fmax(cpu_high, cpu[i]);
			time += t.duration[i];
			assert_true(i == 0 || t.at[i] > t.at[i - 1]);
		}
		assert_true(high == 9000 && low == -5 && cpu_high == 7 && time == N);
		assert_true(t.at[t.n - 1] == m.at[N - 1]);
	}
	assert_ptr_equal(series_view_thinned(&m.s, N, &arena).at, m.at);
}

static void thinning_stands_gaps_and_steps_of_the_clock(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct made m;

	make(&m, N);
	for (size_t i = 0; i < N; i++)
		m.memory[i] = NAN;
	m.at[500] = 10;
	for (size_t i = 700; i < N; i++)
		m.at[i] += 1e6;
	struct series t = series_view_thinned(&m.s, 50, &arena);
	const double *cpu = column(&t, "cpu_seconds");
	double time = 0;

	assert_true(t.n > 0 && t.n <= 50);
	for (size_t i = 0; i < t.n; i++) {
		assert_true(isnan(column(&t, "memory_bytes")[i]) && cpu[i] == 0.5);
		time += t.duration[i];
	}
	assert_true(time == N);
}

static void a_part_is_cut_out_by_time(void **state)
{
	static const struct {
		double from, to;
		size_t n;
	} table[] = {{-INFINITY, INFINITY, 10}, {1000, 1009, 10}, {1003, 1005, 3},
		{1003.5, 1005, 2}, {2000, INFINITY, 0}, {-INFINITY, 0, 0}, {1005, 1003, 0}};
	AUTO(arena_done) struct arena arena = {0};
	struct made m;

	make(&m, 10);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct series v = series_view_between(&m.s, table[i].from, table[i].to, &arena);

		assert_int_equal(v.n, table[i].n);
		if (v.n)
			assert_true(column(&v, "memory_bytes")[0] == v.at[0] - 1000);
	}
}

static void unknown_is_null_in_json(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct buf b AUTO(buf_done) = BUF_MAX(4096);
	struct made m;

	make(&m, 2);
	m.cpu[0] = 1.0 / 3;
	m.memory[1] = NAN;
	struct series v = series_view_of(&m.s, &arena);

	series_view_json(&b, &v);
	assert_string_equal(buf_text(&b),
		"{\"n\": 2, \"at\": [1000.000,1001.000], \"columns\": {\"cpu_cores\": "
		"[0.333333,0.5], \"memory_bytes\": [0,null]}}");
}

static void nothing_gives_nothing(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct series none = {0};
	struct series v = series_view_of(&none, &arena);

	assert_int_equal(v.n, 0);
	assert_int_equal(series_view_thinned(&v, 10, &arena).n, 0);
	assert_int_equal(series_view_between(&v, 0, 1, &arena).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_becomes_a_rate),
		cmocka_unit_test(a_short_interval_is_joined_to_its_neighbour),
		cmocka_unit_test(thinning_keeps_the_lowest_and_the_highest),
		cmocka_unit_test(thinning_stands_gaps_and_steps_of_the_clock),
		cmocka_unit_test(a_part_is_cut_out_by_time),
		cmocka_unit_test(unknown_is_null_in_json),
		cmocka_unit_test(nothing_gives_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
