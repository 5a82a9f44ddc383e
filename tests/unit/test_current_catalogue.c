/* Tests exporter/catalogue/current.c: which catalogue is used, and which age is reported. A
 * catalogue that a reader holds must stay valid. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter/catalogue/cache.h"
#include "exporter/catalogue/current.h"

FREEP(catalogue)
FREEP(current_catalogue)

static char folder[64], file[96], cache[96];

static int fresh(void **state)
{
	snprintf(folder, sizeof folder, "/tmp/test_shelf_XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof file, "%s/own.csv", folder);
	snprintf(cache, sizeof cache, "%s/cache.db", folder);
	return 0;
}

static int done(void **state)
{
	unlink(file);
	unlink(cache);
	return rmdir(folder);
}

static void write_own(const char *as_of, const char *server)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	fprintf(f,
		"# as_of: %s\nvendor_id,server_id,vcpus,memory_amount,price,currency\n"
		"own,%s,2,1024,1,CHF\n",
		as_of, server);
	assert_int_equal(fclose(f), 0);
}

static void save_for(const char *source_text, const char *source, const char *hash, struct wall at,
	const char *server)
{
	struct cache_origin origin = {.at = at};
	struct catalogue_cache *k = NULL;
	AUTO(catalogue_freep) struct catalogue *c = NULL;
	char text[128];
	struct err e = {0};

	snprintf(origin.source, sizeof origin.source, "%s", source);
	snprintf(origin.hash, sizeof origin.hash, "%s", hash);
	snprintf(origin.source_text, sizeof origin.source_text, "%s", source_text);
	snprintf(text, sizeof text,
		"vendor_id,server_id,vcpus,memory_amount,price\naws,%s,2,1024,1\n", server);
	assert_int_equal(catalogue_from_csv(&c, text, strlen(text), source, &e), 0);
	assert_int_equal(catalogue_cache_open(&k, cache, &e), 0);
	assert_int_equal(catalogue_cache_save(k, c, &origin, &e), 0);
	catalogue_cache_close(k);
}

static void save(const char *source, const char *hash, struct wall at, const char *server)
{
	save_for("", source, hash, at, server);
}

static struct current_catalogue *current_catalogue_at(const char *path)
{
	return current_catalogue_new(&(struct current_catalogue_config){.path = path,
		.fetcher = {.source = {.url = "http://keeper.test", .cache_path = cache},
			.refresh_seconds = 3600}});
}

/* Returns the catalogue in use. The caller releases it. */
static struct catalogue *answer(struct current_catalogue *s, struct current_catalogue_state *state)
{
	struct catalogue *c = NULL;
	struct err e = {0};

	if (current_catalogue_hold(s, true, &c, state, &e))
		fail_msg("%s", e.text);
	return c;
}

static void the_first_source_that_there_is_answers(void **state)
{
	struct current_catalogue *s = current_catalogue_at(NULL);
	struct current_catalogue_state told;
	struct catalogue *built_in = answer(s, &told), *cached, *own;

	assert_string_equal(built_in->source, "built-in");
	assert_true(isnan(told.fetched_at) && told.age_seconds > 0);

	save("http://keeper.test", "h1", now_read().wall, "fetched");
	cached = answer(s, &told);
	assert_string_equal(cached->source, "http://keeper.test");
	assert_true(told.fetched_at > 0);
	assert_true(told.age_seconds < 60 && !told.stale);
	current_catalogue_free(s);

	write_own("2026-01-01", "mine");
	s = current_catalogue_at(file);
	own = answer(s, &told);
	assert_string_equal(own->server[0].server_id, "mine");
	current_catalogue_free(s);
	/* All three catalogues are still valid after their `struct current_catalogue` was freed. */
	assert_true(built_in->n > 100 && cached->n == 1 && own->n == 1);
	catalogue_free(built_in);
	catalogue_free(cached);
	catalogue_free(own);
}

static void what_changed_is_loaded_and_what_did_not_is_kept(void **state)
{
	AUTO(current_catalogue_freep) struct current_catalogue *s = current_catalogue_at(file);
	struct current_catalogue_state told;
	struct catalogue *first, *again, *changed;

	write_own("2026-01-01", "mine");
	first = answer(s, &told);
	again = answer(s, &told);
	assert_ptr_equal(first, again);
	write_own("2026-01-02", "another");
	changed = answer(s, &told);
	assert_string_equal(changed->server[0].server_id, "another");
	assert_string_equal(first->server[0].server_id, "mine");
	catalogue_free(first);
	catalogue_free(again);
	catalogue_free(changed);
}

static void a_cache_that_cannot_be_read_now_leaves_what_is_there(void **state)
{
	AUTO(current_catalogue_freep) struct current_catalogue *s = current_catalogue_at(NULL);
	struct current_catalogue_state told;
	struct catalogue *cached, *still, *built_in;

	save("http://keeper.test", "h1", now_read().wall, "fetched");
	cached = answer(s, &told);
	FILE *f = fopen(cache, "w");

	assert_non_null(f);
	assert_true(fputs("no database", f) >= 0);
	assert_int_equal(fclose(f), 0);
	still = answer(s, &told);
	assert_ptr_equal(cached, still);
	assert_true(told.fetched_at > 0);
	assert_int_equal(unlink(cache), 0);
	built_in = answer(s, &told);
	assert_string_equal(built_in->source, "built-in");
	catalogue_free(cached);
	catalogue_free(still);
	catalogue_free(built_in);
}

static unsigned n_warned;
static char warned[256];

static void count_warning(const char *text)
{
	n_warned++;
	snprintf(warned, sizeof warned, "%s", text);
}

static void write_cache(const char *text)
{
	FILE *f = fopen(cache, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* A cache that is no database is reported once. An empty file is not reported, because it is a
 * cache that was just begun. */
static void a_cache_that_is_garbage_is_told_of_once(void **state)
{
	AUTO(current_catalogue_freep)
	struct current_catalogue *s =
		current_catalogue_new(&(struct current_catalogue_config){.warn = count_warning,
			.fetcher = {.source = {.url = "http://keeper.test", .cache_path = cache}}});
	struct current_catalogue_state told;

	n_warned = 0;
	catalogue_free(answer(s, &told));
	write_cache("");
	catalogue_free(answer(s, &told));
	assert_int_equal(n_warned, 0);
	write_cache("no database");
	for (int i = 0; i < 3; i++) {
		AUTO(catalogue_freep) struct catalogue *c = answer(s, &told);

		assert_string_equal(c->source, "built-in");
		assert_int_equal(n_warned, 1);
	}
	assert_non_null(strstr(warned, cache));
	write_cache("no database again");
	catalogue_free(answer(s, &told));
	assert_int_equal(n_warned, 2);
}

/* A day later the Keeper confirms that its database is unchanged. The catalogue stays, but its age
 * becomes small. */
static void a_confirmed_cache_is_young_again(void **state)
{
	struct wall now = now_read().wall, old = {now.ns - 86400 * NS_PER_S};
	AUTO(current_catalogue_freep) struct current_catalogue *s = current_catalogue_at(NULL);
	struct catalogue_cache *k = NULL;
	struct current_catalogue_state told;
	struct err e = {0};

	save("http://keeper.test", "h1", old, "fetched");
	AUTO(catalogue_freep) struct catalogue *first = answer(s, &told);

	assert_true(told.stale && told.age_seconds > 86000);
	assert_int_equal(catalogue_cache_open(&k, cache, &e), 0);
	assert_int_equal(catalogue_cache_confirm(k, now, &e), 0);
	catalogue_cache_close(k);
	AUTO(catalogue_freep) struct catalogue *again = answer(s, &told);

	assert_ptr_equal(first, again);
	assert_true(!told.stale && told.age_seconds < 60);
}

/* The Keeper's database is the same, but prices of more regions were fetched. The new catalogue
 * must be used. */
static void what_was_fetched_for_other_regions_is_taken_up(void **state)
{
	struct wall now = now_read().wall, before = {now.ns - 60 * NS_PER_S};
	AUTO(current_catalogue_freep) struct current_catalogue *s = current_catalogue_at(NULL);
	struct current_catalogue_state told;

	save_for("", "http://keeper.test", "h1", before, "of-all");
	AUTO(catalogue_freep) struct catalogue *first = answer(s, &told);

	save_for("aws~r1", "http://keeper.test", "h1", now, "of-r1");
	AUTO(catalogue_freep) struct catalogue *next = answer(s, &told);

	assert_string_equal(first->server[0].server_id, "of-all");
	assert_string_equal(next->server[0].server_id, "of-r1");
}

static void age_is_that_of_the_data(void **state)
{
	static const struct {
		const char *as_of;
		double day; /* days since 1970 */
	} table[] = {{"2026-01-01", 20454}, {"2024-03-01", 19783}, {"2024-02-29", 19782},
		{"2026-08", 20666}, {"2026", 20454}, {"yesterday", NAN}, {"2026-13-01", NAN}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(current_catalogue_freep)
		struct current_catalogue *s = current_catalogue_at(file);
		struct current_catalogue_state told;

		write_own(table[i].as_of, "mine");
		catalogue_free(answer(s, &told));
		double now = wall_seconds(now_read().wall);

		if (isnan(table[i].day))
			assert_true(isnan(told.age_seconds) && !told.stale);
		else
			assert_true(fabs(now - told.age_seconds - table[i].day * 86400) < 60);
	}
}

static double age_of_date(time_t at)
{
	AUTO(current_catalogue_freep) struct current_catalogue *s = current_catalogue_at(file);
	struct current_catalogue_state told;
	char date[16];
	struct tm day;

	assert_int_equal(strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&at, &day)), 10);
	write_own(date, "mine");
	catalogue_free(answer(s, &told));
	assert_false(told.stale);
	return told.age_seconds;
}

/* A day begins up to 24 hours earlier at another place, so the date of tomorrow may be right. */
static void a_date_in_the_future_gives_no_age(void **state)
{
	time_t now = (time_t)wall_seconds(now_read().wall);

	assert_true(age_of_date(now) >= 0 && age_of_date(now) < 86400 + 60);
	assert_true(age_of_date(now + 86400) == 0);
	assert_true(isnan(age_of_date(now + 3 * 86400)));
}

static void a_fetch_in_the_future_gives_no_age(void **state)
{
	static const struct {
		double ahead, age;
	} table[] = {{3600, 0}, {3 * 86400, NAN}};
	struct current_catalogue_state told;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct wall at = {now_read().wall.ns + (int64_t)table[i].ahead * NS_PER_S};
		AUTO(current_catalogue_freep)
		struct current_catalogue *s = current_catalogue_at(NULL);

		save("http://keeper.test", "h1", at, "fetched");
		catalogue_free(answer(s, &told));
		assert_true(isnan(table[i].age) ? isnan(told.age_seconds) :
						  told.age_seconds >= 0 && told.age_seconds <= 0);
	}
}

static void a_file_that_cannot_be_read_is_an_error_until_it_can(void **state)
{
	AUTO(current_catalogue_freep) struct current_catalogue *s = current_catalogue_at(file);
	struct catalogue *c = NULL;
	struct current_catalogue_state told;
	struct err e = {0};

	assert_true(current_catalogue_hold(s, true, &c, &told, &e) < 0);
	assert_non_null(strstr(e.text, file));
	assert_null(c);
	write_own("2026-01-01", "mine");
	catalogue_free(answer(s, &told));
}

static void one_look_keeps_nothing(void **state)
{
	AUTO(current_catalogue_freep) struct current_catalogue *s = current_catalogue_at(NULL);
	struct catalogue *once = NULL, *again = NULL, *kept;
	struct current_catalogue_state told;

	assert_int_equal(current_catalogue_hold(s, false, &once, &told, NULL), 0);
	/* The test is the last holder, so releasing the catalogue frees it. AddressSanitizer would
	 * report a leak. */
	assert_int_equal(atomic_load(&once->shared.holders), 1);
	catalogue_free(once);
	kept = answer(s, &told);
	assert_int_equal(current_catalogue_hold(s, false, &again, &told, NULL), 0);
	assert_ptr_equal(again, kept);
	catalogue_free(again);
	assert_int_equal(atomic_load(&kept->shared.holders), 2);
	current_catalogue_tidy(s, 3600);
	assert_int_equal(atomic_load(&kept->shared.holders), 2);
	current_catalogue_tidy(s, -1);
	assert_int_equal(atomic_load(&kept->shared.holders), 1);
	catalogue_free(kept);
}

/* The first request waits some seconds for data in the pipe. Later requests do not wait. */
static void an_idle_pipe_holds_up_nobody_for_long(void **state)
{
	struct current_catalogue_state told;
	struct catalogue *c = NULL;
	struct err e = {0};
	char name[32];
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
	AUTO(current_catalogue_freep) struct current_catalogue *s = current_catalogue_at(name);

	assert_int_equal(current_catalogue_hold(s, true, &c, &told, &e), -ETIMEDOUT);
	assert_int_equal(current_catalogue_hold(s, true, &c, &told, &e), -ENODATA);
	assert_non_null(strstr(e.text, "no catalogue came out of it"));
	close(ends[0]);
	close(ends[1]);
}

static void what_came_out_of_a_pipe_is_kept(void **state)
{
	struct catalogue *c = NULL;
	struct current_catalogue_state told;
	char name[32];
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(dprintf(ends[1],
			    "vendor_id,server_id,vcpus,memory_amount,price\nown,a,2,1024,1\n") > 0);
	close(ends[1]);
	snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
	AUTO(current_catalogue_freep) struct current_catalogue *s = current_catalogue_at(name);

	assert_int_equal(current_catalogue_hold(s, false, &c, &told, NULL), 0);
	catalogue_free(c);
	current_catalogue_tidy(s, -1);
	catalogue_free(answer(s, &told));
	catalogue_free(answer(s, &told));
	close(ends[0]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_source_that_there_is_answers),
		TEST(what_changed_is_loaded_and_what_did_not_is_kept),
		TEST(a_cache_that_cannot_be_read_now_leaves_what_is_there),
		TEST(a_cache_that_is_garbage_is_told_of_once),
		TEST(a_confirmed_cache_is_young_again),
		TEST(what_was_fetched_for_other_regions_is_taken_up),
		TEST(age_is_that_of_the_data),
		TEST(a_date_in_the_future_gives_no_age),
		TEST(a_fetch_in_the_future_gives_no_age),
		TEST(a_file_that_cannot_be_read_is_an_error_until_it_can),
		TEST(one_look_keeps_nothing),
		TEST(an_idle_pipe_holds_up_nobody_for_long),
		TEST(what_came_out_of_a_pipe_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
