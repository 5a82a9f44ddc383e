/* The history on failing disks: each call to the disk fails in turn. Another test fills a disk
 * completely. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/failing_vfs.h"
#include "tests/support/test_history.h"

#define SAMPLES 30

static int tear_down(void **state)
{
	failing_vfs_heal();
	test_folder_remove(*state);
	return 0;
}

static int write_some(struct history *h, const char *run_id, size_t first, size_t n, struct err *e)
{
	int code = history_transaction(h, e);

	if (code)
		return code;
	for (size_t i = first; i < first + n && code == 0; i++) {
		double value[TEST_COLUMNS];
		struct sample s;

		test_sample(&s, value, run_id, 0, i);
		code = history_samples(h, &s, 1, e);
	}
	return history_end(h, code, e);
}

static int begin(struct history *h, const char *run_id, struct err *e)
{
	const struct run_begin b = test_begin(run_id, "job", 0);
	int code = history_transaction(h, e);

	if (code)
		return code;
	return history_end(h, history_run_begin(h, &b, e), e);
}

static int finish(struct history *h, const char *run_id, struct err *e)
{
	const struct run_finish f = test_finish(run_id, SAMPLES, OUTCOME_SUCCEEDED);
	int code = history_transaction(h, e);

	if (code)
		return code;
	return history_end(h, history_run_finish(h, &f, e), e);
}

static int prune(struct history *h, struct err *e)
{
	const struct history_limits l = {
		.runs_per_job = 1, .full_rate_seconds = 60, .max_bytes = 1 << 16};
	int code;

	while ((code = history_prune(h, &l, 1e6, e)) > 0)
		;
	return code;
}

static int read_back(const char *path, const char *run_id, struct err *e)
{
	AUTO(history_closep) struct history *h = NULL;
	AUTO(arena_done) struct arena arena = {0};
	const struct run_query q = {.open_stats = true};
	struct job_row *job;
	struct series s;
	struct runs runs;
	size_t n;
	int code = history_open(&h, path, HISTORY_READ, NULL, NULL, e);

	if (code == 0)
		code = history_runs(h, &q, &arena, &runs, e);
	if (code == 0)
		code = history_jobs(h, 0, &arena, &job, &n, e);
	if (code == 0)
		code = history_series(h, run_id, NULL, &arena, &s, e);
	return code;
}

/* Makes every kind of call to a history. Stops at the first failure, as a caller would. */
static int whole_life(const char *path, const char *run_id, struct err *e)
{
	AUTO(history_closep) struct history *h = NULL;
	struct err notice = {0};
	int code = history_open(&h, path, HISTORY_WRITE, &test_columns, &notice, e);

	assert_int_equal(notice.code, 0);
	if (code == 0)
		code = begin(h, run_id, e);
	for (size_t i = 0; i < SAMPLES && code == 0; i += 10)
		code = write_some(h, run_id, i, 10, e);
	if (code == 0)
		code = read_back(path, run_id, e);
	if (code == 0)
		code = finish(h, run_id, e);
	return code ? code : prune(h, e);
}

static void assert_sound(const char *path)
{
	sqlite3 *db;
	sqlite3_stmt *q;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(q, 0), "ok");
	sqlite3_finalize(q);
	sqlite3_close(db);
}

/* One of so many calls is tested. The build with AddressSanitizer tests each of them. */
#ifdef __SANITIZE_ADDRESS__
#define ONE_OF_CALLS 1
#else
#define ONE_OF_CALLS 3
#endif

static void each_call_may_fail_once_or_for_good(void **state)
{
	struct test_folder *f = *state;
	static const struct {
		const char *what;
		unsigned calls;
		int code;
		bool for_good;
	} table[] = {
		{"full for a moment", VFS_WRITE | VFS_SYNC | VFS_TRUNCATE, SQLITE_FULL, false},
		{"full", VFS_WRITE, SQLITE_FULL, true},
		{"a failed write", VFS_WRITE | VFS_SYNC | VFS_TRUNCATE | VFS_DELETE, SQLITE_IOERR,
			false},
		{"a dead disk", VFS_WRITE | VFS_SYNC | VFS_TRUNCATE | VFS_DELETE | VFS_READ,
			SQLITE_IOERR, true},
		{"a failed read", VFS_READ, SQLITE_IOERR, false},
		{"no descriptors", VFS_OPEN, SQLITE_CANTOPEN, false},
		{"no shared memory", VFS_SHARED_MEMORY, SQLITE_IOERR, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		long n = 1, failed;

		for (;; n += ONE_OF_CALLS) {
			struct err e = {0};
			struct test_folder place;

			test_folder_make(&place);
			failing_vfs_fail(table[i].calls, n, table[i].code, table[i].for_good);
			int code = whole_life(place.file, "first", &e);

			failed = failing_vfs_failed();
			failing_vfs_heal();
			if (code) {
				assert_true(code < 0);
				assert_int_equal(e.code, code);
				assert_non_null(strstr(e.text, place.file));
				assert_true(strlen(e.text) > strlen(place.file) + 12);
			}
			assert_sound(place.file);
			e = (struct err){0};
			code = whole_life(place.file, "second", &e);
			if (code)
				fail_msg("%s, call %ld: afterwards: %s", table[i].what, n, e.text);
			assert_sound(place.file);
			assert_int_equal(test_folder_aside(&place, NULL, 0), 0);
			test_folder_remove(&place);
			if (!failed)
				break;
		}
		print_message("%s: %ld calls\n", table[i].what, n - 1);
		assert_true(n > 3);
	}
	(void)f;
}

static void a_handle_works_again_after_a_full_disk(void **state)
{
	struct test_folder *f = *state;
	AUTO(arena_done) struct arena arena = {0};
	struct history *h = test_history(f->file);
	struct err e = {0};

	assert_int_equal(begin(h, "r", &e), 0);
	failing_vfs_fail(VFS_WRITE, 1, SQLITE_FULL, true);
	assert_int_equal(write_some(h, "r", 0, 10, &e), -ENOSPC);
	assert_non_null(strstr(e.text, "full"));
	assert_int_equal(write_some(h, "r", 0, 10, &e), -ENOSPC);
	failing_vfs_heal();
	assert_int_equal(write_some(h, "r", 0, 10, &e), 0);
	assert_int_equal(test_read_run(h, "r", &arena).samples, 10);
	history_close(h);
	assert_sound(f->file);
}

/* ---- a disk that is really full: a tmpfs of 1 MiB ---- */

#define CANNOT_MOUNT 77

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return written;
}

/* Becomes root of a new user namespace if that is permitted and the test is not run by root. */
static bool become_root(void)
{
	char uid_map[40], gid_map[40];

	if (geteuid() == 0)
		return true;
	snprintf(uid_map, sizeof uid_map, "0 %u 1", (unsigned)geteuid());
	snprintf(gid_map, sizeof gid_map, "0 %u 1", (unsigned)getegid());
	return unshare(CLONE_NEWUSER) == 0 && write_text("/proc/self/setgroups", "deny") &&
	       write_text("/proc/self/gid_map", gid_map) &&
	       write_text("/proc/self/uid_map", uid_map);
}

static bool mount_small_disk(const char *path)
{
	if (!become_root())
		return false;
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", path, "tmpfs", 0, "size=1m") == 0;
}

static bool fill_up(const char *path)
{
	static const char block[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return false;
	while (write(fd, block, sizeof block) > 0)
		;
	bool full = errno == ENOSPC;

	close(fd);
	return full;
}

/* The assertions of cmocka do not work in the child process. Instead, the child exits with the
 * number of the failed line. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__ % 256 ? __LINE__ % 256 : 1;                                \
	} while (0)

static int on_a_full_disk(const struct test_folder *f)
{
	AUTO(arena_done) struct arena arena = {0};
	AUTO(history_closep) struct history *h = NULL;
	struct err e = {0};
	char filler[300];
	struct series s;
	size_t written = 0;
	int code;

	if (!mount_small_disk(f->path))
		return CANNOT_MOUNT;
	snprintf(filler, sizeof filler, "%s/filler", f->path);
	CHECK(history_open(&h, f->file, HISTORY_WRITE, &test_columns, NULL, &e) == 0);
	CHECK(begin(h, "r", &e) == 0);
	CHECK(fill_up(filler));
	while ((code = write_some(h, "r", written, 10, &e)) == 0)
		written += 10;
	CHECK(code == -ENOSPC || code == -EIO);
	CHECK(history_check(h, &e) == 0);
	CHECK(history_series(h, "r", NULL, &arena, &s, &e) == 0 && s.n == written);
	CHECK(unlink(filler) == 0);
	CHECK(write_some(h, "r", written, 10, &e) == 0);
	CHECK(history_series(h, "r", NULL, &arena, &s, &e) == 0 && s.n == written + 10);
	CHECK(finish(h, "r", &e) == 0);
	return 0;
}

static void a_full_disk_loses_nothing_that_was_committed(void **state)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(on_a_full_disk(*state));
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT_MOUNT)
		skip();
	if (WEXITSTATUS(status))
		fail_msg("ended at line %d", WEXITSTATUS(status));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_folder_set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_full_disk_loses_nothing_that_was_committed),
		TEST(a_handle_works_again_after_a_full_disk),
		TEST(each_call_may_fail_once_or_for_good),
	};

	failing_vfs_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
