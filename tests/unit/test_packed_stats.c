/* The statistics of a run take few bytes, and are read back as they were. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/history/packed_stats.h"
#include "exporter/history/tables.h"
#include "tests/support/test_history.h"

/* ---- the blob ---- */

static const struct distribution odd[] = {
	{14, 0.138694522773129, 0.0689055352339501, 0.240468644682155, 0.100867432488048,
		0.240468644682155, 0.240468644682155, NAN},
	{14, 1.2e7, 0, 83910656, 0, 83910656, 83910656, 251731968},
	{1, 0, 0, 0, 0, 0, 0, 0},
	{9007199254740992, 1e300, 5e-324, DBL_MAX, 1e10, 1e11, 1e12, 1e301},
	{3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3},
	{7, 4294967296.5, 4294967297, 17592186044416, 4294967297, 4294967298, 17592186040320,
		9007199254740991},
	{2, NAN, NAN, 1, NAN, NAN, NAN, NAN},
	{255, 255, 256, 65535, 65536, 16777215, 16777216, 4294967295},
};
static const char *const names[] = {"a", "b_bytes", "c", "cpu_cores", "d", "e", "f", "g"};

static void fill(struct column_stats stats[ARRAY_LEN(odd)])
{
	for (size_t i = 0; i < ARRAY_LEN(odd); i++)
		stats[i] = (struct column_stats){names[i], odd[i]};
}

static void assert_same(double got, double want)
{
	if (!(isnan(got) && isnan(want)) && got != want)
		fail_msg("%.17g is not %.17g", got, want);
}

static void exact_numbers_are_read_as_they_were(void **state)
{
	struct test_place *f = *state;
	struct column_stats stats[ARRAY_LEN(odd)], *read;
	struct buf blob AUTO(buf_done) = BUF_MAX(PACKED_STATS_MAX);
	size_t n;

	fill(stats);
	struct stats_form form = stats_form_of_all(stats, ARRAY_LEN(stats), &f->arena);

	packed_stats_write(&blob, &form, stats, ARRAY_LEN(stats), true);
	assert_int_equal(packed_stats_read(&form, blob.data, blob.len, &f->arena, &read, &n), 0);
	assert_int_equal(n, ARRAY_LEN(stats));
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(read[i].column, names[i]);
		for (unsigned s = 0; s < STATISTIC_COUNT; s++)
			assert_same(statistic_get(&read[i].d, s), statistic_get(&odd[i], s));
	}
}

/* Each number is the true number, or less by at most 1.2e-7 of it. Totals and maxima are exact. */
static void short_numbers_stay_in_their_bound_and_in_their_order(void **state)
{
	struct test_place *f = *state;
	static const double exact[] = {STATISTIC_N, STATISTIC_SUM, STATISTIC_MAX};
	struct column_stats stats[1], *read;

	for (unsigned i = 0; i < 20000; i++) {
		double at = ldexp(1 + drand48(), (int)(lrand48() % 90) - 40);
		struct buf blob AUTO(buf_done) = BUF_MAX(PACKED_STATS_MAX);
		double step = at * (i % 2 ? 1e-9 : 0.3);
		size_t n;

		stats[0] = (struct column_stats){
			"cpu_cores", {i + 1, at + step, at, at + 4 * step, at + step, at + 2 * step,
					     at + 3 * step, 9 * at}};
		struct stats_form form = stats_form_of_all(stats, 1, &f->arena);

		packed_stats_write(&blob, &form, stats, 1, false);
		assert_int_equal(packed_stats_read(&form, blob.data, blob.len, &f->arena, &read,
					 &n),
			0);
		for (unsigned s = 0; s < STATISTIC_COUNT; s++) {
			double got = statistic_get(&read->d, s), want = statistic_get(&stats->d, s);

			assert_true(got <= want && got >= want * (1 - 1.2e-7));
			for (size_t k = 0; k < ARRAY_LEN(exact); k++)
				assert_true((double)s != exact[k] || got == want);
		}
		assert_true(read->d.min <= read->d.p50 && read->d.p50 <= read->d.p95 &&
			    read->d.p95 <= read->d.p99 && read->d.p99 <= read->d.max);
		assert_true(read->d.min <= read->d.mean && read->d.mean <= read->d.max);
		arena_reset(&f->arena);
	}
}

/* The recommender takes a column as steady if its percentiles equal its maximum. */
static void a_steady_column_stays_steady(void **state)
{
	struct test_place *f = *state;
	const double v = 0.51493476427434248;
	const struct kept_column kept[] = {{"cpu_cores", STATISTICS_LEVEL_AND_MIN}};
	const struct stats_form form = {1, kept};
	const struct column_stats steady = {"cpu_cores", {3, v, v, v, v, v, v, NAN}};
	struct buf blob AUTO(buf_done) = BUF_MAX(PACKED_STATS_MAX);
	struct column_stats *got;
	size_t n;

	packed_stats_write(&blob, &form, &steady, 1, false);
	assert_int_equal(packed_stats_read(&form, blob.data, blob.len, &f->arena, &got, &n), 0);
	assert_int_equal(n, 1);
	for (unsigned s = STATISTIC_MAX; s < STATISTIC_COUNT; s++)
		assert_true(statistic_get(&got->d, s) >= v && statistic_get(&got->d, s) <= v);
}

static void a_forwarded_run_keeps_what_is_read(void **state)
{
	struct test_place *f = *state;
	struct column_stats stats[ARRAY_LEN(odd)], *read;
	struct buf blob AUTO(buf_done) = BUF_MAX(PACKED_STATS_MAX);
	struct stats_form form = stats_form_of_kept();
	size_t n;

	fill(stats);
	packed_stats_write(&blob, &form, stats, ARRAY_LEN(stats), false);
	assert_int_equal(packed_stats_read(&form, blob.data, blob.len, &f->arena, &read, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(read[0].column, "cpu_cores");
	assert_same(read[0].d.max, DBL_MAX);
	assert_same(read[0].d.sum, NAN);
	for (size_t i = 1; i < kept_columns_n; i++)
		assert_true(strcmp(kept_columns[i - 1].column, kept_columns[i].column) < 0);
}

static void a_damaged_blob_is_told(void **state)
{
	struct test_place *f = *state;
	struct column_stats stats[ARRAY_LEN(odd)], *read;
	struct buf blob AUTO(buf_done) = BUF_MAX(PACKED_STATS_MAX);
	size_t n;

	fill(stats);
	struct stats_form form = stats_form_of_all(stats, ARRAY_LEN(stats), &f->arena);

	packed_stats_write(&blob, &form, stats, ARRAY_LEN(stats), true);
	for (size_t len = 0; len < blob.len; len++)
		assert_int_equal(packed_stats_read(&form, blob.data, len, &f->arena, &read, &n),
			-EBADMSG);
	buf_addc(&blob, 'x');
	assert_int_equal(packed_stats_read(&form, blob.data, blob.len, &f->arena, &read, &n),
		-EBADMSG);
}

static void a_run_without_statistics_has_an_empty_blob(void **state)
{
	struct test_place *f = *state;
	struct buf blob AUTO(buf_done) = BUF_MAX(PACKED_STATS_MAX);
	struct stats_form form = stats_form_of_all(NULL, 0, &f->arena), kept = stats_form_of_kept();
	struct column_stats *read;
	size_t n = 1;

	packed_stats_write(&blob, &form, NULL, 0, true);
	assert_int_equal(blob.len, 0);
	assert_int_equal(packed_stats_read(&form, NULL, 0, &f->arena, &read, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(packed_stats_read(&kept, NULL, 0, &f->arena, &read, &n), -EBADMSG);
	packed_stats_write(&blob, &kept, NULL, 0, false);
	assert_int_equal(packed_stats_read(&kept, blob.data, blob.len, &f->arena, &read, &n), 0);
	assert_int_equal(n, 0);
}

static void forms_are_read_as_written(void **state)
{
	struct test_place *f = *state;
	static const char *const wrong[] = {
		"a", "a:", ":1", "a:0", "a:256", "a:x", "b:1;a:1", "a:1;a:1", "a:1;;b:1", "a:1 "};
	struct buf text AUTO(buf_done) = BUF_MAX(PACKED_FORM_MAX);
	struct stats_form form = stats_form_of_kept(), read;

	stats_form_write(&text, &form);
	assert_int_equal(stats_form_read(&read, buf_text(&text), &f->arena), 0);
	assert_int_equal(read.n, kept_columns_n);
	for (size_t i = 0; i < read.n; i++) {
		assert_string_equal(read.column[i].column, kept_columns[i].column);
		assert_int_equal(read.column[i].statistics, kept_columns[i].statistics);
	}
	assert_int_equal(stats_form_read(&read, "", &f->arena), 0);
	assert_int_equal(read.n, 0);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(stats_form_read(&read, wrong[i], &f->arena), -EBADMSG);
}

/* ---- a file of schema 13, written by a program of that version ---- */

static void read_all(struct test_place *f, struct runs *ret)
{
	const struct run_query all = {0};

	assert_int_equal(history_runs(f->h, &all, &f->arena, ret, NULL), 0);
	assert_int_equal(ret->n, 3);
}

static void assert_same_run(const struct run *a, const struct run *b)
{
	assert_string_equal(a->run_id, b->run_id);
	assert_string_equal(a->host, b->host);
	assert_int_equal(a->architecture, b->architecture);
	assert_int_equal(a->vendor_id != NULL, b->vendor_id != NULL);
	assert_string_equal(a->cpu_source, b->cpu_source);
	assert_int_equal(a->n_stats, b->n_stats);
	for (size_t i = 0; i < a->n_stats; i++) {
		assert_string_equal(a->stats[i].column, b->stats[i].column);
		for (unsigned s = 0; s < STATISTIC_COUNT; s++)
			assert_same(statistic_get(&a->stats[i].d, s),
				statistic_get(&b->stats[i].d, s));
	}
}

static void runs_of_an_older_file_are_read_and_rewritten(void **state)
{
	struct test_place *f = *state;
	static char sql[1 << 17];
	struct runs before, after;
	const struct history_limits none = {0};

	history_close(TAKE(f->h));
	remove(f->folder.file);
	assert_in_range(test_read_file(TEST_FIXTURES "/history_schema_13.sql", sql, sizeof sql),
		1000, sizeof sql - 1);
	test_run_sql(f->folder.file, sql);
	f->h = test_history(f->folder.file);
	assert_int_equal(test_count_rows(&f->folder, "run_stat"), 154);
	assert_int_equal(test_count_rows(&f->folder, "job WHERE kept = 2"), 1);
	read_all(f, &before);
	assert_string_equal(before.run[1].vendor_id, "aws");
	assert_true(run_peak(&before.run[1], "memory_peak_bytes") > 1e6);

	test_prune(f->h, &none, 1795709800);
	assert_int_equal(test_count_rows(&f->folder, "run_stat"), 0);
	assert_int_equal(test_count_rows(&f->folder, "run WHERE cpu_source IS NOT NULL"), 0);
	assert_int_equal(test_count_rows(&f->folder, "circumstances WHERE runs = 2"), 1);
	read_all(f, &after);
	for (size_t i = 0; i < after.n; i++)
		assert_same_run(&before.run[i], &after.run[i]);
}

/* ---- texts that runs share ---- */

static void shared_texts_go_with_their_last_run(void **state)
{
	struct test_place *f = *state;
	const struct history_limits one = {.runs_per_job = 1};

	for (char c = 'a'; c <= 'c'; c++) {
		struct run_begin b = test_begin((char[]){c, '\0'}, "job", c);
		struct run_finish end = test_finish((char[]){c, '\0'}, c + 1, OUTCOME_SUCCEEDED);

		b.labels = c == 'c' ? "{\"x\": 2}" : "{\"x\": 1}";
		assert_int_equal(history_transaction(f->h, NULL), 0);
		assert_int_equal(history_run_begin(f->h, &b, NULL), 0);
		assert_int_equal(history_run_finish(f->h, &end, NULL), 0);
		assert_int_equal(history_commit(f->h, NULL), 0);
	}
	assert_int_equal(test_count_rows(&f->folder, "circumstances WHERE runs = 2"), 1);
	assert_int_equal(test_count_rows(&f->folder, "circumstances"), 2);
	test_prune(f->h, &one, 1000);
	assert_int_equal(test_count_rows(&f->folder, "circumstances"), 1);
	assert_string_equal(test_read_run(f->h, "c", &f->arena).labels, "{\"x\": 2}");
	assert_int_equal(test_count_rows(&f->folder, "job WHERE kept = 1"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(exact_numbers_are_read_as_they_were,
			test_place_make, test_place_remove),
		cmocka_unit_test_setup_teardown(
			short_numbers_stay_in_their_bound_and_in_their_order, test_place_make,
			test_place_remove),
		cmocka_unit_test_setup_teardown(a_steady_column_stays_steady, test_place_make,
			test_place_remove),
		cmocka_unit_test_setup_teardown(a_forwarded_run_keeps_what_is_read, test_place_make,
			test_place_remove),
		cmocka_unit_test_setup_teardown(a_damaged_blob_is_told, test_place_make,
			test_place_remove),
		cmocka_unit_test_setup_teardown(a_run_without_statistics_has_an_empty_blob,
			test_place_make, test_place_remove),
		cmocka_unit_test_setup_teardown(forms_are_read_as_written, test_place_make,
			test_place_remove),
		cmocka_unit_test_setup_teardown(runs_of_an_older_file_are_read_and_rewritten,
			test_place_make, test_place_remove),
		cmocka_unit_test_setup_teardown(shared_texts_go_with_their_last_run,
			test_place_make, test_place_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
