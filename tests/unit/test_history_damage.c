/* Damaged history files: the file is renamed unchanged, and a new one is created. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test_history.h"

static void damage_garbage(const char *path)
{
	char data[10000];

	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (char)(i * 7 + 3);
	test_write_file(path, data, sizeof data);
}

static void damage_text(const char *path)
{
	test_write_file(path, "hello\n", 6);
}

static void damage_truncate(const char *path)
{
	struct stat st;

	test_make_history(path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size / 2), 0);
}

static void damage_header(const char *path)
{
	int fd;

	test_make_history(path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "XXXXXXXX", 8, 16), 8);
	close(fd);
}

static void damage_dropped_table(const char *path)
{
	test_make_history(path);
	test_run_sql(path, "DROP TABLE run_stat");
}

static void damage_dropped_columns(const char *path)
{
	test_make_history(path);
	test_run_sql(path, "DROP TABLE metric_column");
}

static void damage_view(const char *path)
{
	test_make_history(path);
	test_run_sql(path,
		"ALTER TABLE sample RENAME TO s; CREATE VIEW sample AS WITH RECURSIVE r(n) AS "
		"(SELECT 0 UNION ALL SELECT n + 1 FROM r) SELECT s.* FROM r, s");
}

/* A wrong schema version is damage, because the version decides which migrations change the
 * tables. */
static void damage_version_below_zero(const char *path)
{
	test_make_history(path);
	test_run_sql(path, "PRAGMA user_version = -1");
}

static void damage_lowest_version(const char *path)
{
	test_make_history(path);
	test_run_sql(path, "PRAGMA user_version = -2147483648");
}

static void damage_version_of_an_empty_file(const char *path)
{
	test_make_history(path);
	test_run_sql(path, "PRAGMA user_version = 0");
}

static void a_damaged_file_is_set_aside_untouched(void **state)
{
	struct test_folder *f = *state;
	static char before[1 << 20], after[1 << 20];
	static const struct {
		const char *what;
		void (*damage)(const char *path);
	} table[] = {
		{"garbage", damage_garbage},
		{"a text", damage_text},
		{"truncated", damage_truncate},
		{"a broken header", damage_header},
		{"a dropped table", damage_dropped_table},
		{"another dropped table", damage_dropped_columns},
		{"a view without end", damage_view},
		{"a version below zero", damage_version_below_zero},
		{"the lowest version", damage_lowest_version},
		{"the version of an empty file", damage_version_of_an_empty_file},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct history *h = NULL;
		struct err notice = {0}, e = {0};
		char aside[600];

		print_message("%s\n", table[i].what);
		table[i].damage(f->file);
		size_t n = test_read_file(f->file, before, sizeof before);
		int code = history_open(&h, f->file, HISTORY_WRITE, &test_columns, &notice, &e);

		if (code)
			fail_msg("%s", e.text);
		assert_int_equal(notice.code, -EBADMSG);
		assert_int_equal(test_count_runs(h, NULL), 0);
		history_close(h);
		assert_int_equal(test_folder_aside(f, aside, sizeof aside), 1);
		assert_non_null(strstr(notice.text, aside));
		assert_int_equal(test_read_file(aside, after, sizeof after), n);
		assert_memory_equal(before, after, n);
		assert_int_equal(unlink(aside), 0);
		test_opens_empty(f->file);
		assert_int_equal(unlink(f->file), 0);
	}
}

/* A wrong --history.path must not rename a file such as /etc/passwd. */
static void a_file_that_was_never_a_history_stays(void **state)
{
	static const struct {
		const char *name, *wal;
		size_t bytes;
		bool stays;
	} table[] = {
		{"passwd", NULL, 6, true},
		{"dump.tar", NULL, 6, true},
		{"db", NULL, 6, true},
		{"flag", NULL, 1, true},
		{"word", NULL, 2, true},
		{"runs.db", NULL, 1, false},
		{"runs.sqlite", NULL, 6, false},
		{"runs.sqlite3", NULL, 6, false},
		{"runs", "runs-wal", 6, false},
	};
	struct test_folder *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct history *h = NULL;
		struct err e = {0};
		char path[600], wal[600], after[100];

		print_message("%s\n", table[i].name);
		snprintf(path, sizeof path, "%s/%s", f->path, table[i].name);
		test_write_file(path, "hello\n", table[i].bytes);
		if (table[i].wal) {
			snprintf(wal, sizeof wal, "%s/%s", f->path, table[i].wal);
			damage_text(wal);
		}
		int code = history_open(&h, path, HISTORY_WRITE, &test_columns, NULL, &e);

		assert_int_equal(code, table[i].stays ? -ENOTSUP : 0);
		if (table[i].stays) {
			assert_non_null(strstr(e.text, path));
			assert_int_equal(test_folder_count(f), 1);
			assert_int_equal(test_read_file(path, after, sizeof after), table[i].bytes);
			assert_memory_equal(after, "hello\n", table[i].bytes);
		} else {
			history_close(h);
		}
		test_folder_remove(f);
		test_folder_make(f);
	}
}

static void two_in_one_second_have_two_names(void **state)
{
	struct test_folder *f = *state;

	for (int i = 0; i < 3; i++) {
		damage_garbage(f->file);
		history_close(test_history(f->file));
	}
	assert_int_equal(test_folder_aside(f, NULL, 0), 3);
}

static void a_damaged_file_is_an_error_to_readers(void **state)
{
	struct test_folder *f = *state;
	struct history *h;
	struct err e = {0};

	damage_garbage(f->file);
	assert_int_equal(history_open(&h, f->file, HISTORY_READ, NULL, NULL, &e), -EBADMSG);
	assert_non_null(strstr(e.text, f->file));
	assert_int_equal(test_folder_count(f), 1);
	assert_int_equal(unlink(f->file), 0);
	damage_version_below_zero(f->file);
	assert_int_equal(history_open(&h, f->file, HISTORY_READ, NULL, NULL, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "schema -1"));
}

static void rows_without_end_are_not_read(void **state)
{
	struct test_folder *f = *state;
	AUTO(arena_done) struct arena arena = {0};
	struct history *h;
	struct series s;
	struct err e = {0};

	damage_view(f->file);
	assert_int_equal(history_open(&h, f->file, HISTORY_READ, NULL, NULL, &e), 0);
	assert_int_equal(history_series(h, "r1", NULL, &arena, &s, &e), -EPROTO);
	assert_non_null(strstr(e.text, f->file));
	history_close(h);
}

/* A damaged page may contain a NULL although its column is declared NOT NULL. */
static void a_name_that_is_missing_is_damage(void **state)
{
	static const char *const lacks[] = {
		"UPDATE job SET name = NULL", "UPDATE run SET run_id = NULL"};
	struct test_folder *f = *state;
	AUTO(arena_done) struct arena arena = {0};

	for (size_t i = 0; i < ARRAY_LEN(lacks); i++) {
		struct history *h;
		struct job_row *jobs;
		struct job_brief *briefs;
		struct runs runs;
		struct err e = {0};
		size_t n;

		test_make_history(f->file);
		test_run_sql(f->file, "PRAGMA writable_schema = 1;"
				      "UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '');"
				      "PRAGMA writable_schema = RESET");
		test_run_sql(f->file, lacks[i]);
		assert_int_equal(history_open(&h, f->file, HISTORY_READ, NULL, NULL, &e), 0);
		assert_int_equal(history_runs(h, &(struct run_query){0}, &arena, &runs, &e),
			-EBADMSG);
		assert_non_null(strstr(e.text, f->file));
		const struct job_head head = {.id = 1, .job_name = "job"};
		struct job_head *heads;

		assert_int_equal(history_job_heads(h, HEAD_NOTHING, &arena, &heads, &n, &e),
			i == 0 ? -EBADMSG : 0);
		assert_int_equal(history_overview(h, &head, 1, 3, &arena, &briefs, &e),
			i == 1 ? -EBADMSG : 0);
		assert_int_equal(history_jobs(h, 0, &arena, &jobs, &n, &e), i == 0 ? -EBADMSG : 0);
		history_close(h);
		unlink(f->file);
	}
}

static void damage_found_in_use_sets_the_file_aside(void **state)
{
	struct test_folder *f = *state;
	struct run_begin b = test_begin("new", "new", 1);
	struct err e = {0}, notice = {0};
	struct history *h;

	test_make_history(f->file);
	h = test_history(f->file);
	test_damage(f->file);
	int code = history_transaction(h, &e);

	if (code == 0)
		code = history_run_begin(h, &b, &e);
	assert_int_equal(code, -EBADMSG);
	history_rollback(h);
	assert_int_equal(history_check(h, NULL), -EBADMSG);
	assert_int_equal(history_set_aside(h, e.text, &notice, &e), 0);
	assert_int_equal(notice.code, -EBADMSG);
	assert_int_equal(test_folder_aside(f, NULL, 0), 1);
	test_opens_empty(f->file);
}

static void the_second_who_finds_the_damage_leaves_the_fresh_file(void **state)
{
	struct test_folder *f = *state;
	struct err notice = {0};
	struct history *one, *two, *fresh;

	test_make_history(f->file);
	one = test_history(f->file);
	two = test_history(f->file);
	assert_int_equal(history_set_aside(one, "why", &notice, NULL), 0);
	assert_int_equal(notice.code, -EBADMSG);
	fresh = test_history(f->file);
	test_write_run(fresh, "fresh", "job", 1, 1, OUTCOME_SUCCEEDED);
	notice = (struct err){0};
	assert_int_equal(history_set_aside(two, "why", &notice, NULL), 0);
	assert_int_equal(notice.code, 0);
	assert_int_equal(test_folder_aside(f, NULL, 0), 1);
	assert_int_equal(test_count_runs(fresh, NULL), 1);
	history_close(fresh);
	fresh = test_history(f->file);
	assert_int_equal(test_count_runs(fresh, NULL), 1);
	history_close(fresh);
}

/* Makes a file that is in use and has a -wal. Some samples are damaged. Opening the file does not
 * check samples. */
static struct history *make_damaged_in_use(const struct test_folder *f)
{
	struct history *h;
	struct stat st;
	char wal[320], damage[4096];

	test_make_history(f->file);
	h = test_history(f->file);
	test_write_run(h, "long", "job", 1, 2000, OUTCOME_RUNNING);
	history_close(h);
	assert_int_equal(stat(f->file, &st), 0);
	h = test_history(f->file);
	test_write_run(h, "r", "job", 1, 1, OUTCOME_RUNNING);
	snprintf(wal, sizeof wal, "%s-wal", f->file);

	int fd = open(f->file, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	memset(damage, 0xff, sizeof damage);
	assert_int_equal(pwrite(fd, damage, sizeof damage, st.st_size / 8192 * 4096),
		sizeof damage);
	close(fd);
	assert_int_equal(stat(wal, &st), 0);
	assert_true(st.st_size > 0);
	return h;
}

/* Copies the file and its -wal as they are after a kill of the writer. */
static void copy_as_after_a_kill(const struct test_folder *f, char *path, size_t size)
{
	static const char *const suffixes[] = {"", "-wal"};
	static char data[1 << 20];

	snprintf(path, size, "%s.killed", f->file);
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		char from[320], to[340];

		snprintf(from, sizeof from, "%s%s", f->file, suffixes[i]);
		snprintf(to, sizeof to, "%s%s", path, suffixes[i]);
		size_t n = test_read_file(from, data, sizeof data);

		assert_in_range(n, 1, sizeof data - 1);
		test_write_file(to, data, n);
	}
}

static void an_unclean_end_is_checked_at_the_next_start(void **state)
{
	struct test_folder *f = *state;
	struct err notice = {0};
	struct history *h = make_damaged_in_use(f), *again = NULL;
	char killed[320];

	copy_as_after_a_kill(f, killed, sizeof killed);
	assert_int_equal(history_open(&again, killed, HISTORY_WRITE, &test_columns, &notice, NULL),
		0);
	assert_int_equal(notice.code, -EBADMSG);
	assert_int_equal(test_count_runs(again, NULL), 0);
	history_close(again);
	history_close(h);
	test_opens_empty(killed);
}

/* A file in use is not checked, because the check would delay each start of a job by about 100 ms.
 * Damage is noticed when the data is read. */
static void a_file_that_another_uses_is_not_checked(void **state)
{
	struct test_folder *f = *state;
	struct err notice = {0};
	struct history *h = make_damaged_in_use(f), *other = NULL;

	assert_int_equal(history_open(&other, f->file, HISTORY_WRITE, &test_columns, &notice, NULL),
		0);
	assert_string_equal(notice.text, "");
	assert_int_equal(test_folder_aside(f, NULL, 0), 0);
	assert_int_equal(history_check(other, NULL), -EBADMSG);
	history_close(other);
	history_close(h);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_folder_set_up, test_folder_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_damaged_file_is_set_aside_untouched),
		TEST(a_file_that_was_never_a_history_stays),
		TEST(two_in_one_second_have_two_names),
		TEST(a_damaged_file_is_an_error_to_readers),
		TEST(rows_without_end_are_not_read),
		TEST(a_name_that_is_missing_is_damage),
		TEST(damage_found_in_use_sets_the_file_aside),
		TEST(the_second_who_finds_the_damage_leaves_the_fresh_file),
		TEST(an_unclean_end_is_checked_at_the_next_start),
		TEST(a_file_that_another_uses_is_not_checked),
	};

	history_setup();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
