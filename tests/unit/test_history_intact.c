/* Another program changes the files of an open history. Each write transaction notices the
 * change. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test_history.h"

static const char *name(const struct test_folder *f, const char *suffix)
{
	static char path[700];

	snprintf(path, sizeof path, "%s%s", f->file, suffix);
	return path;
}

static off_t size_of(const char *file)
{
	struct stat st;

	assert_int_equal(stat(file, &st), 0);
	return st.st_size;
}

static void empty(const char *file)
{
	assert_int_equal(truncate(file, 0), 0);
}

/* Removes only the last byte, so the last frame is incomplete. */
static void shorten(const char *file)
{
	assert_int_equal(truncate(file, size_of(file) - 1), 0);
}

static void overwrite(const char *file)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "XXXXXXXX", 8, 16), 8);
	assert_int_equal(pwrite(fd, "X", 1, 0), 1);
	close(fd);
}

static void delete (const char *file)
{
	assert_int_equal(unlink(file), 0);
}

static void replace(const char *file)
{
	delete (file);
	test_write_file(file, "x", 1);
}

static void leave(const char *file)
{
	(void)file;
}

/* Does what another exporter may do at any time. */
static void checkpoint(const char *file)
{
	test_run_sql(file, "PRAGMA wal_checkpoint(TRUNCATE)");
}

static void write_too(const char *file)
{
	test_run_sql(file, "CREATE TABLE other(x); DROP TABLE other");
}

static int begin(struct history *h, struct err *e)
{
	int code = history_transaction(h, e);

	return code ? code : history_commit(h, e);
}

static void each_write_notices_what_others_did(void **state)
{
	static const struct {
		const char *suffix;
		void (*act)(const char *file);
		int code;
		const char *says;
	} table[] = {
		{"", leave, 0, ""},
		{"", checkpoint, 0, ""},
		{"", write_too, 0, ""},
		{"", empty, -EBADMSG, "the file was truncated"},
		{"", overwrite, -EBADMSG, "the file was overwritten"},
		{"", delete, -ESTALE, "the file was deleted or replaced"},
		{"", replace, -ESTALE, "the file was deleted or replaced"},
		{"-wal", empty, -EBADMSG, "its -wal file was truncated"},
		{"-wal", shorten, -EBADMSG, "its -wal file was truncated"},
		{"-wal", overwrite, -EBADMSG, "its -wal file was overwritten"},
		{"-wal", delete, -ESTALE, "its -wal file was deleted or replaced"},
		{"-wal", replace, -ESTALE, "its -wal file was deleted or replaced"},
		{"-shm", empty, -EBADMSG, "its -shm file was truncated"},
	};

	(void)state;
	/* cmocka installs its own handler of SIGBUS when each test begins, so the handler of the
	 * history is installed again. */
	history_setup();
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct test_folder f;
		struct err e = {0};

		test_folder_make(&f);
		struct history *h = test_history(f.file);

		print_message("%s %s\n", table[i].suffix, table[i].says);
		assert_int_equal(begin(h, &e), 0);
		table[i].act(name(&f, table[i].suffix));
		assert_int_equal(begin(h, &e), table[i].code);
		assert_non_null(strstr(e.text, table[i].says));
		/* The second attempt gives the same result, because the first attempt changed
		 * nothing. */
		assert_int_equal(begin(h, &e), table[i].code);
		history_close(h);
		test_folder_remove(&f);
	}
}

static void closing_writes_nothing_into_a_broken_file(void **state)
{
	struct test_folder *f = *state;
	struct history *h = test_history(f->file);

	assert_int_equal(begin(h, NULL), 0);
	empty(f->file);
	history_close(h);
	assert_int_equal(size_of(f->file), 0);
	assert_true(size_of(name(f, "-wal")) > 0);
	/* The next exporter renames the -wal file. SQLite would delete it. */
	history_close(test_history(f->file));
	assert_int_equal(test_folder_aside(f, NULL, 0), 1);
}

static void a_deleted_wal_file_is_copied_first(void **state)
{
	struct test_folder *f = *state;
	struct history *h = test_history(f->file);
	const struct run_begin b = test_begin("r1", "job", 0);

	assert_int_equal(history_transaction(h, NULL), 0);
	assert_int_equal(history_end(h, history_run_begin(h, &b, NULL), NULL), 0);
	delete (name(f, "-wal"));
	history_checkpoint(h);
	/* `history_close` would also copy the -wal into the file, but not while another program has
	 * the file open. So the test restores the file as it was before the closing. */
	static char copy[1 << 20];
	size_t n = test_read_file(f->file, copy, sizeof copy);

	history_close(h);
	test_write_file(f->file, copy, n);
	h = test_history(f->file);
	assert_int_equal(test_count_runs(h, NULL), 1);
	history_close(h);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_folder_set_up, test_folder_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(each_write_notices_what_others_did),
		TEST(closing_writes_nothing_into_a_broken_file),
		TEST(a_deleted_wal_file_is_copied_first),
	};

	history_setup();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
