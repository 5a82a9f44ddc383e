/* exporter/catalogue/cache.c: a saved catalogue is read back unchanged, and server answers are
 * cached like in an HTTP cache. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "exporter/catalogue/cache.h"
#include "recommender/catalogue/build.h"
#include "recommender/catalogue/reference_rates.h"
#include "tests/support/test_history.h"

static char directory[64], path[128];

static int new_path(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/test_cache_XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/state/deeper/catalogue.db", directory);
	return 0;
}

static int remove_path(void **state)
{
	struct test_folder folder;

	snprintf(folder.path, sizeof folder.path, "%s", directory);
	test_folder_remove(&folder);
	return 0;
}

static struct catalogue_cache *opened(void)
{
	struct catalogue_cache *k = NULL;
	struct err e = {0};

	if (catalogue_cache_open(&k, path, &e))
		fail_msg("%s", e.text);
	return k;
}

static void run_sql(const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static struct catalogue *rich(void)
{
	static const char text[] =
		"# rate: EUR 1.25\n# as_of: 2026-08-22\n# source: a test\n"
		"vendor_id,server_id,api_reference,vcpus,memory_amount,cpu_architecture,cpu_allocation,status,gpu_model,storage_type,region_id,zone_id,country_id,continent,aliases,allocation,price,currency,billing_increment_seconds,compliance,storage_price_gb_month,extras_currency,score1,display_name\n"
		"v,2,a.large,4,8192,arm64,Shared,,\"A \"\"10\"\"\",nvme "
		"ssd,r1,z1,DE,Europe,\"one|t'wo\",spot,0.25,EUR,3600,hipaa "
		"soc2t2,0.08,EUR,1000.5,Größe\n"
		"v,2,,,,,,,,,r1,z2,,,,spot,0.5,EUR,,,,,,\n"
		"v,2,,,,,,,,,,,,,,ondemand,1.5,USD,,,,,,\n"
		"w,1,,,,,,inactive,,,,,,,,any,0.75,USD,,,,,,\n";
	struct catalogue_builder *b = catalogue_builder_new();
	struct catalogue *c = NULL;
	struct err e = {0};

	if (catalogue_read_csv(b, text, sizeof text - 1, &e))
		fail_msg("%s", e.text);
	assert_int_equal(catalogue_add_benchmark(b,
				 &(struct benchmark){.benchmark_id = "latency",
					 .name = "L",
					 .category = "c",
					 .unit = "ns"},
				 &e),
		0);
	catalogue_add_score(b, "v", "2", "latency", 12.5);
	catalogue_add_single_score(b, "v", "2", "latency", 10.5);
	catalogue_add_single_score(b, "w", "1", "latency", 11.5);
	assert_int_equal(catalogue_add_region(b,
				 &(struct region){
					 "v", "empty", "", "", "", "", "", NAN, NAN, NAN, "", true},
				 &e),
		0);
	assert_int_equal(catalogue_add_region(b,
				 &(struct region){"v", "unread", "", "", "", "", "", NAN, NAN, NAN,
					 "", false},
				 &e),
		0);
	assert_int_equal(catalogue_add_vendor(b, &(struct vendor){"w", "", "", "", true, NAN, NAN},
				 &e),
		0);
	assert_int_equal(catalogue_add_vendor(b, &(struct vendor){"x", "", "", "", false, NAN, NAN},
				 &e),
		0);
	catalogue_finish(b, "rich.csv", &c);
	catalogue_builder_free(b);
	return c;
}

static void assert_same_fields(enum field_part part, const void *a, const void *b)
{
	for (const struct field *f = fields; f->name; f++) {
		if (f->part != part)
			continue;
		double x = field_number(f, a), y = field_number(f, b);

		if (!(x == y || (isnan(x) && isnan(y))) ||
			strcmp(field_text(f, a), field_text(f, b)) != 0)
			fail_msg("%s: %g and %g, \"%s\" and \"%s\"", f->name, x, y,
				field_text(f, a), field_text(f, b));
	}
}

static void assert_same(const struct catalogue *a, const struct catalogue *b)
{
	assert_string_equal(a->as_of, b->as_of);
	assert_string_equal(a->note, b->note);
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->n_prices, b->n_prices);
	assert_int_equal(a->n_vendors, b->n_vendors);
	assert_int_equal(a->n_regions, b->n_regions);
	assert_int_equal(a->n_benchmarks, b->n_benchmarks);
	for (size_t i = 0; i < a->n; i++) {
		assert_same_fields(PART_SERVER, &a->server[i], &b->server[i]);
		assert_same_fields(PART_VENDOR, &a->vendor[a->server[i].vendor],
			&b->vendor[b->server[i].vendor]);
		assert_int_equal(a->server[i].n_prices, b->server[i].n_prices);
		for (uint32_t k = 0; k < a->server[i].n_prices; k++) {
			const struct price *p = &a->price[a->server[i].first_price + k];
			bool found = false;

			for (uint32_t m = 0; m < b->server[i].n_prices; m++) {
				const struct price *q = &b->price[b->server[i].first_price + m];

				found = found ||
					(p->price == q->price && p->allocation == q->allocation &&
						p->estimated == q->estimated &&
						strcmp(a->zone[p->zone], b->zone[q->zone]) == 0 &&
						strcmp(a->region[p->region].region_id,
							b->region[q->region].region_id) == 0 &&
						strcmp(a->currency[p->currency].code,
							b->currency[q->currency].code) == 0);
			}
			assert_true(found);
		}
		for (size_t k = 0; k < a->n_benchmarks; k++) {
			float x = a->benchmark[k].score[i], y = b->benchmark[k].score[i];

			assert_true(x == y || (isnan(x) && isnan(y)));
			const float *one = a->benchmark[k].single_score,
				    *other = b->benchmark[k].single_score;

			assert_true((one == NULL) == (other == NULL));
			if (one)
				assert_true(one[i] == other[i] ||
					    (isnan(one[i]) && isnan(other[i])));
		}
	}
	for (size_t i = 0; i < a->n_regions; i++) {
		assert_same_fields(PART_REGION, &a->region[i], &b->region[i]);
		assert_int_equal(a->region[i].prices_known, b->region[i].prices_known);
	}
	for (size_t i = 0; i < a->n_vendors; i++) {
		assert_same_fields(PART_VENDOR, &a->vendor[i], &b->vendor[i]);
		assert_int_equal(a->vendor[i].compliance_known, b->vendor[i].compliance_known);
	}
	for (size_t i = 0; i < a->n_currencies; i++) {
		const struct currency *other = catalogue_currency(b, a->currency[i].code);

		assert_true(other && (other->usd == a->currency[i].usd ||
					     (isnan(other->usd) && isnan(a->currency[i].usd))));
		/* A rate that is compiled into the program keeps its own source. */
		if (currency_is_reference(&a->currency[i]))
			assert_string_equal(other->source, a->currency[i].source);
	}
}

static void a_saved_catalogue_comes_back(void **state)
{
	struct catalogue *all[2] = {rich(), NULL};
	struct catalogue_cache *k = opened();
	struct err e = {0};

	assert_int_equal(catalogue_built_in(&all[1], &e), 0);
	for (size_t i = 0; i < 3; i++) { /* the third save must replace the second completely */
		struct catalogue *before = all[i % 2], *after = NULL;
		struct cache_origin o = {"https://keeper.example", "abc", "us-east-1",
					    {1787000000LL * NS_PER_S + (int64_t)i * NS_PER_S}},
				    back;

		if (catalogue_cache_save(k, before, &o, &e))
			fail_msg("%s", e.text);
		if (catalogue_cache_load(&after, &back, path, &e))
			fail_msg("%s", e.text);
		assert_string_equal(after->source, "https://keeper.example");
		assert_true(back.at.ns == o.at.ns);
		assert_string_equal(back.hash, "abc");
		assert_string_equal(back.source_text, "us-east-1");
		assert_same(before, after);
		catalogue_free(after);
		o.at.ns += NS_PER_S;
		assert_int_equal(catalogue_cache_confirm(k, o.at, &e), 0);
		assert_int_equal(catalogue_cache_load(&after, &back, path, &e), 0);
		assert_true(back.at.ns == o.at.ns);
		catalogue_free(after);
	}
	catalogue_cache_close(k);
	catalogue_free(all[0]);
	catalogue_free(all[1]);
}

static void nothing_saved_is_absence(void **state)
{
	struct catalogue *c = NULL;
	struct cache_origin at;
	struct err e = {0};

	assert_int_equal(catalogue_cache_load(&c, &at, path, &e), -ENOENT);
	assert_int_equal(access(path, F_OK), -1);
	catalogue_cache_close(opened());
	assert_int_equal(catalogue_cache_load(&c, &at, path, &e), -ENOENT);
	assert_null(c);
}

static void one_that_was_saved_at_no_time_was_not_saved(void **state)
{
	static const char *const times[] = {"1e300", "-1e300", "-1", "9.3e9"};
	struct cache_origin origin = {.source = "http://k", .at = {NS_PER_S}}, at;
	struct catalogue_cache *k = opened();
	struct catalogue *c = rich();
	struct err e = {0};
	char sql[100];

	assert_int_equal(catalogue_cache_save(k, c, &origin, &e), 0);
	catalogue_free(c);
	catalogue_cache_close(k);
	assert_int_equal(catalogue_cache_origin(&at, path, &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		snprintf(sql, sizeof sql, "UPDATE _metadata SET value = %s WHERE key = 'saved_at'",
			times[i]);
		run_sql(sql);
		assert_int_equal(catalogue_cache_origin(&at, path, &e), -ENOENT);
		c = NULL;
		assert_int_equal(catalogue_cache_load(&c, &at, path, &e), -ENOENT);
		assert_null(c);
	}
}

/* A view in place of a table may give rows without end. It counts as damage, so that the program
 * does not read forever. */
static void a_view_is_damage(void **state)
{
	struct cache_origin at = {0};
	struct catalogue_cache *k = opened();
	struct err e = {0};

	catalogue_cache_close(k);
	run_sql("DROP TABLE IF EXISTS _metadata; CREATE VIEW _metadata AS WITH RECURSIVE r(n) AS"
		" (SELECT 0 UNION ALL SELECT n + 1 FROM r) SELECT n AS key, n AS value FROM r");
	assert_true(catalogue_cache_origin(&at, path, &e) < 0);
	assert_non_null(strstr(e.text, path));
}

static void pages_are_kept_confirmed_and_forgotten(void **state)
{
	struct catalogue_cache *k = opened();
	struct cached_page page = {.etag = "\"abc\"", .fetched_at.ns = 5, .max_age_seconds = 3600},
			   found;
	struct buf body = BUF_MAX(CATALOGUE_PAGE_MAX), got = BUF_MAX(CATALOGUE_PAGE_MAX);
	struct err e = {0};

	for (int i = 0; i < 100000; i++)
		buf_addf(&body, "line %d\n", i);
	assert_int_equal(catalogue_cache_page(k, "u", &found, &got, &e), -ENOENT);
	assert_int_equal(catalogue_cache_keep_page(k, "u", &page, &body, &e), 0);
	assert_int_equal(catalogue_cache_page(k, "u", &found, &got, &e), 0);
	assert_string_equal(found.etag, "\"abc\"");
	assert_true(found.fetched_at.ns == 5 && found.max_age_seconds == 3600);
	assert_string_equal(buf_text(&got), buf_text(&body));

	page.fetched_at.ns = 9;
	assert_int_equal(catalogue_cache_keep_page(k, "u", &page, NULL, &e), 0);
	assert_int_equal(catalogue_cache_forget_pages(k, (struct wall){9}, &e), 0);
	assert_int_equal(catalogue_cache_page(k, "u", &found, &got, &e), 0);
	assert_true(found.fetched_at.ns == 9);
	assert_string_equal(buf_text(&got), buf_text(&body));
	assert_int_equal(catalogue_cache_forget_pages(k, (struct wall){10}, &e), 0);
	assert_int_equal(catalogue_cache_page(k, "u", &found, NULL, &e), -ENOENT);

	buf_reset(&body);
	page.etag[0] = '\0';
	assert_int_equal(catalogue_cache_keep_page(k, "empty", &page, &body, &e), 0);
	assert_int_equal(catalogue_cache_page(k, "empty", &found, &got, &e), 0);
	assert_int_equal(got.len, 0);
	assert_string_equal(found.etag, "");
	run_sql("UPDATE page SET fetched_at = -9223372036854775807");
	assert_int_equal(catalogue_cache_page(k, "empty", &found, NULL, &e), -ENOENT);
	buf_done(&body);
	buf_done(&got);
	catalogue_cache_close(k);
}

static void overwrite(long at, const char *with, size_t n)
{
	FILE *f = fopen(path, "r+");

	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fwrite(with, 1, n, f), n);
	fclose(f);
}

/* Returns the number of quarantined files of the cache. Fails the test if the newest file does not
 * have this size. */
static size_t n_aside(long size)
{
	glob_t found = {0};
	char pattern[160];
	struct stat st;

	snprintf(pattern, sizeof pattern, "%s.corrupt-*Z*", path);
	size_t n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;

	if (n) {
		assert_int_equal(stat(found.gl_pathv[n - 1], &st), 0);
		assert_int_equal(st.st_size, size);
	}
	globfree(&found);
	return n;
}

static void a_corrupt_file_is_begun_anew(void **state)
{
	struct catalogue *c = rich(), *after = NULL;
	struct catalogue_cache *k = opened();
	static char junk[4096];
	struct cache_origin o = {"s", "", "", {1}}, at;
	struct err e = {0};
	struct stat st;

	memset(junk, 0x5a, sizeof junk);
	assert_int_equal(catalogue_cache_save(k, c, &o, &e), 0);
	catalogue_cache_close(k);

	/* Damage in the header is noticed when the file is opened. */
	assert_int_equal(n_aside(0), 0);
	assert_int_equal(stat(path, &st), 0);
	overwrite(16, junk, sizeof junk - 16);
	assert_true(catalogue_cache_load(&after, &at, path, &e) < 0);
	k = opened();
	assert_int_equal(n_aside(st.st_size), 1);
	assert_int_equal(catalogue_cache_save(k, c, &o, &e), 0);
	catalogue_cache_close(k);

	/* Damage in the middle is noticed when the file is written. */
	for (long page = 1; page < 10; page++)
		overwrite(page * 4096, junk, sizeof junk);
	assert_true(catalogue_cache_load(&after, &at, path, &e) < 0);
	k = opened();
	if (catalogue_cache_save(k, c, &o, &e))
		fail_msg("%s", e.text);
	assert_int_equal(n_aside(st.st_size), 2);
	catalogue_cache_close(k);
	assert_int_equal(catalogue_cache_load(&after, &at, path, &e), 0);
	catalogue_free(after);
	catalogue_free(c);
}

static void one_of_another_version_is_set_aside(void **state)
{
	struct cache_origin at;
	struct err e = {0};
	struct stat st;

	struct cache_origin origin = {.source = "http://k", .hash = "h", .at = {NS_PER_S}};
	struct catalogue_cache *k = opened();
	struct catalogue *c = rich();

	assert_int_equal(catalogue_cache_save(k, c, &origin, &e), 0);
	catalogue_cache_close(k);
	catalogue_free(c);
	assert_int_equal(catalogue_cache_origin(&at, path, &e), 0);
	run_sql("PRAGMA user_version = 1");
	/* If the hash of this unusable file were returned, the Keeper's client would not fetch. */
	assert_int_equal(catalogue_cache_origin(&at, path, &e), -ENOENT);
	assert_int_equal(stat(path, &st), 0);
	catalogue_cache_close(opened());
	assert_int_equal(n_aside(st.st_size), 1);
	assert_int_equal(catalogue_cache_origin(&at, path, &e), -ENOENT);
}

static pthread_barrier_t together;

static void *open_together(void *context)
{
	struct catalogue_cache *k = NULL;
	struct err *e = context;

	pthread_barrier_wait(&together);
	catalogue_cache_open(&k, path, e);
	catalogue_cache_close(k);
	return NULL;
}

/* Several threads, each with its own handle, create the file at the same time. */
static void all_who_begin_it_together_have_it(void **state)
{
	pthread_t thread[6];
	struct err e[ARRAY_LEN(thread)];

	for (int round = 0; round < 30; round++) {
		unlink(path);
		memset(e, 0, sizeof e);
		assert_int_equal(pthread_barrier_init(&together, NULL, ARRAY_LEN(thread)), 0);
		for (size_t i = 0; i < ARRAY_LEN(thread); i++)
			assert_int_equal(pthread_create(&thread[i], NULL, open_together, &e[i]), 0);
		for (size_t i = 0; i < ARRAY_LEN(thread); i++)
			assert_int_equal(pthread_join(thread[i], NULL), 0);
		pthread_barrier_destroy(&together);
		for (size_t i = 0; i < ARRAY_LEN(thread); i++)
			assert_string_equal(e[i].text, "");
	}
	assert_int_equal(n_aside(0), 0);
}

static void a_place_that_cannot_be_written_is_named(void **state)
{
	struct catalogue_cache *k = NULL;
	struct err e = {0};

	assert_true(catalogue_cache_open(&k, "/dev/null/catalogue.db", &e) < 0);
	assert_non_null(strstr(e.text, "/dev/null/catalogue.db"));
	assert_null(k);
}

/* The user may name a wrong file as the cache, for example the history. The cache must not change
 * such a file. */
static void what_is_of_others_is_left_as_it_is(void **state)
{
	static const struct {
		const char *make, *read;
	} databases[] = {
		{"CREATE TABLE run (id); PRAGMA user_version = 7", "SELECT id FROM run"},
		{"CREATE TABLE server (id)", "SELECT id FROM server"},
		{"CREATE TABLE page (page_id); PRAGMA user_version = 7",
			"SELECT page_id FROM page"},
	};
	struct catalogue_cache *k = NULL;
	static char found[20000];
	struct err e = {0};
	sqlite3 *db;

	catalogue_cache_close(opened());
	for (size_t i = 0; i < ARRAY_LEN(databases); i++) {
		assert_int_equal(unlink(path), 0);
		assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, databases[i].make, NULL, NULL, NULL), SQLITE_OK);
		assert_int_equal(catalogue_cache_open(&k, path, &e), -EEXIST);
		assert_non_null(strstr(e.text, "stays as it is"));
		assert_int_equal(sqlite3_exec(db, databases[i].read, NULL, NULL, NULL), SQLITE_OK);
		assert_int_equal(sqlite3_close(db), SQLITE_OK);
	}

	/* The four texts are a CSV list, a tar archive (whose size is a multiple of the page size),
	 * a zeroed disk, and a word. */
	static const char text[4][10240] = {
		"vendor_id,server_id,vcpus,memory_amount\n", "etc/passwd", "", "no"};
	static const size_t sizes[] = {40, 10240, 512, 2};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		assert_int_equal(unlink(path), 0);
		test_write_file(path, text[i], sizes[i]);
		assert_int_equal(catalogue_cache_open(&k, path, &e), -EEXIST);
		assert_int_equal(test_read_file(path, found, sizeof found), sizes[i]);
		assert_memory_equal(found, text[i], sizes[i]);
	}
	assert_null(k);
	assert_int_equal(n_aside(0), 0);
}

static void a_pipe_in_its_place_is_told_and_left_there(void **state)
{
	struct catalogue_cache *k = NULL;
	struct cache_origin o;
	struct err e = {0};
	struct stat st;

	catalogue_cache_close(opened());
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(catalogue_cache_origin(&o, path, &e), -EINVAL);
	assert_non_null(strstr(e.text, "not a regular file"));
	assert_int_equal(catalogue_cache_open(&k, path, &e), -EINVAL);
	assert_null(k);
	assert_true(stat(path, &st) == 0 && S_ISFIFO(st.st_mode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_saved_catalogue_comes_back, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(nothing_saved_is_absence, new_path, remove_path),
		cmocka_unit_test_setup_teardown(one_that_was_saved_at_no_time_was_not_saved,
			new_path, remove_path),
		cmocka_unit_test_setup_teardown(a_view_is_damage, new_path, remove_path),
		cmocka_unit_test_setup_teardown(pages_are_kept_confirmed_and_forgotten, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(a_corrupt_file_is_begun_anew, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(one_of_another_version_is_set_aside, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(all_who_begin_it_together_have_it, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(what_is_of_others_is_left_as_it_is, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(a_pipe_in_its_place_is_told_and_left_there,
			new_path, remove_path),
		cmocka_unit_test(a_place_that_cannot_be_written_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
