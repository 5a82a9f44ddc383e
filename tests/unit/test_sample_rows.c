/* exporter/history/sample_rows.c: which readings become a row, and the numbers in it. */
#include "tests/unit/test_main.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/collector.h"
#include "exporter/history/sample_rows.h"

enum { CPU, MEMORY, PEAK, N_COLUMNS };

static const struct metric *const column_metrics[] = {
	[CPU] = &run_metrics[RUN_CPU_SECONDS],
	[MEMORY] = &run_metrics[RUN_MEMORY_BYTES],
	[PEAK] = &run_metrics[RUN_MEMORY_PEAK_BYTES],
};

struct world {
	const struct metric *metric[N_COLUMNS];
	struct columns columns;
	struct sample_rows *fold;
	struct run_reading reading;
	struct snapshot snapshot;
};

static struct world *world_new(void)
{
	struct world *w = xcalloc(1, sizeof *w);

	for (size_t i = 0; i < N_COLUMNS; i++)
		w->metric[i] = column_metrics[i];
	w->columns = (struct columns){.n = N_COLUMNS, .metric = w->metric};
	w->fold = sample_rows_new(&w->columns);
	text_copy("r1", w->reading.run_id, sizeof w->reading.run_id);
	w->snapshot.runs = &w->reading;
	w->snapshot.n_runs = 1;
	w->snapshot.at.wall.ns = 1000 * NS_PER_S;
	return w;
}

static void world_freep(struct world **owner)
{
	struct world *w = *owner;

	sample_rows_free(w->fold);
	free(w);
}

static void at(struct world *w, double seconds, double cpu, double memory)
{
	w->snapshot.at.mono.ns = (int64_t)(seconds * 1e9);
	w->reading.value[RUN_CPU_SECONDS] = cpu;
	w->reading.value[RUN_MEMORY_BYTES] = memory;
	w->reading.value[RUN_MEMORY_PEAK_BYTES] = memory * 2;
}

static void growth_starts_from_zero_and_adds_up(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	const struct sample *row;

	at(w, 0, 0.5, 10);
	sample_rows_begin(w->fold, "r1", &w->snapshot);
	at(w, 2, 3, 20);
	assert_int_equal(sample_rows_read(w->fold, &w->snapshot, NULL, &row), 1);
	assert_string_equal(row[0].run_id, "r1");
	assert_double_equal(row[0].at, 1000, 1e-9);
	assert_double_equal(row[0].duration, 2, 1e-9);
	assert_double_equal(row[0].value[CPU], 3,
		1e-9); /* includes the use before the first reading */
	assert_double_equal(row[0].value[MEMORY], 20, 0);
	assert_double_equal(row[0].value[PEAK], 40, 0);
	at(w, 3, 3.25, 5);
	assert_int_equal(sample_rows_read(w->fold, &w->snapshot, NULL, &row), 1);
	assert_double_equal(row[0].value[CPU], 0.25, 1e-9);
	assert_double_equal(row[0].duration, 1, 1e-9);
}

/* A job of 0.1 cores that is found after an hour did not use 360 cores in one second. */
static void the_first_row_covers_the_run_from_its_start(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	const struct sample *row;

	w->reading.value[RUN_DURATION_SECONDS] = 3600;
	at(w, 5000, 360, 10);
	sample_rows_begin(w->fold, "r1", &w->snapshot);
	w->reading.value[RUN_DURATION_SECONDS] = 3601;
	at(w, 5001, 360.1, 10);
	assert_int_equal(sample_rows_read(w->fold, &w->snapshot, NULL, &row), 1);
	assert_double_equal(row[0].duration, 3601, 1e-6);
	assert_double_equal(row[0].value[CPU], 360.1, 1e-9);
	at(w, 5002, 360.2, 10);
	assert_int_equal(sample_rows_read(w->fold, &w->snapshot, NULL, &row), 1);
	assert_double_equal(row[0].duration, 1, 1e-6);
}

static void unknown_and_fallen_counters_are_unknown(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	const struct sample *row;

	at(w, 0, 0, 1);
	sample_rows_begin(w->fold, "r1", &w->snapshot);
	at(w, 1, 5, NAN);
	sample_rows_read(w->fold, &w->snapshot, NULL, &row);
	assert_true(isnan(row[0].value[MEMORY]));
	at(w, 2, 4, 1);
	sample_rows_read(w->fold, &w->snapshot, NULL, &row);
	assert_true(isnan(row[0].value[CPU]));
	at(w, 3, NAN, 1);
	sample_rows_read(w->fold, &w->snapshot, NULL, &row);
	assert_true(isnan(row[0].value[CPU]));
	/* The growth during the gap is not lost: it counts from the last known value. */
	at(w, 4, 6, 1);
	sample_rows_read(w->fold, &w->snapshot, NULL, &row);
	assert_double_equal(row[0].value[CPU], 2, 1e-9);
}

static void an_instant_gives_a_row_only_at_the_end(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	const struct sample *row;

	at(w, 0, 0, 1);
	sample_rows_begin(w->fold, "r1", &w->snapshot);
	at(w, 0.0001, 1, 1);
	assert_int_equal(sample_rows_read(w->fold, &w->snapshot, NULL, &row), 0);
	w->reading.ended = true;
	assert_int_equal(sample_rows_read(w->fold, &w->snapshot, NULL, &row), 1);
	assert_double_equal(row[0].value[CPU], 1, 1e-9);
}

static void a_correction_has_no_length(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	const struct sample *row;

	at(w, 0, 0, 1);
	sample_rows_begin(w->fold, "r1", &w->snapshot);
	at(w, 1, 1, 1);
	sample_rows_read(w->fold, &w->snapshot, "r1", &row);
	at(w, 1.002, 1.5, NAN);
	w->reading.ended = true;
	assert_int_equal(sample_rows_correction(w->fold, &w->snapshot, "r1", &row), 1);
	assert_double_equal(row[0].duration, 0, 0);
	assert_double_equal(row[0].value[CPU], 0.5, 1e-9);
}

static void only_recorded_runs_have_rows(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	const struct sample *row;

	at(w, 1, 1, 1);
	assert_int_equal(sample_rows_read(w->fold, &w->snapshot, NULL, &row), 0);
	sample_rows_begin(w->fold, "r1", &w->snapshot);
	assert_true(sample_rows_records(w->fold, "r1"));
	at(w, 2, 1, 1);
	assert_int_equal(sample_rows_read(w->fold, &w->snapshot, "other", &row), 0);
	assert_int_equal(sample_rows_read(w->fold, &w->snapshot, "r1", &row), 1);
	sample_rows_end(w->fold, "r1");
	assert_false(sample_rows_records(w->fold, "r1"));
	at(w, 3, 1, 1);
	assert_int_equal(sample_rows_read(w->fold, &w->snapshot, NULL, &row), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_starts_from_zero_and_adds_up),
		cmocka_unit_test(the_first_row_covers_the_run_from_its_start),
		cmocka_unit_test(unknown_and_fallen_counters_are_unknown),
		cmocka_unit_test(an_instant_gives_a_row_only_at_the_end),
		cmocka_unit_test(a_correction_has_no_length),
		cmocka_unit_test(only_recorded_runs_have_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
