/* collectors/base/tree_guard.c: processes that do not answer delay no reader. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/tree_guard.h"
#include "tests/support/gated_tree.h"

/* Sleeps for longer than a tick of the clock. The guard then decides anew how it reads a file. */
static void nap(void)
{
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = 10000000}, NULL);
}

static size_t unanswered(const struct gated_world *w)
{
	return tree_waits(w->tree).unanswered;
}

static ssize_t get(const struct gated_world *w, const char *path)
{
	char text[256];

	return tree_read(w->tree, path, text, sizeof text);
}

static ssize_t get_of(const struct gated_world *w, int pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof path, "%d/%s", pid, file);
	return get(w, path);
}

/* ---- exec ---- */

static void one_that_hangs_in_exec_is_left_out_until_it_answers(void **state)
{
	static const char *const files[] = {"7/stat", "7/io"};

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);

		put_gated(w, 7, IN_EXEC, SLEEPER);
		gate_shut(files[i]);
		assert_int_equal(get(w, "7/stat"), -ETIMEDOUT);
		assert_int_equal(get(w, "7/io"), -ETIMEDOUT);
		assert_int_equal(get(w, "7/exe"), -ETIMEDOUT);
		assert_int_equal(tree_keep(w->tree, files[i]).fd, -1);
		assert_false(tree_answers(w->tree, files[i]));
		assert_true(tree_answers(w->tree, "8/stat"));
		assert_int_equal(unanswered(w), 1);
		/* Files that need no lock can still be read, and so can other processes. */
		assert_true(get(w, "7/status") > 0);
		assert_true(get(w, "8/stat") > 0);
		gate_open(w);
		assert_true(get(w, files[i]) > 0);
	}
}

/* The lock was free once, but it may be taken again. So a helper thread reads the file, and no
 * descriptor is kept. */
static void one_in_the_middle_of_an_exec_that_goes_on_is_read(void **state)
{
	AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);

	put_gated(w, 7, IN_EXEC, SLEEPER);
	assert_int_equal(get(w, "7/stat"), strlen("stat"));
	assert_int_equal(get(w, "7/cmdline"), strlen("cmdline"));
	assert_false(tree_answers(w->tree, "7/stat"));
	assert_int_equal(unanswered(w), 0);
	put_file(w, "7/statm", RUNNING);
	nap();
	assert_true(tree_answers(w->tree, "7/stat"));
}

/* ---- mapping ---- */

static void one_that_hangs_while_it_maps_a_file_is_left_out(void **state)
{
	static const char *const status[] = {MAPPING, THREADED};

	for (size_t i = 0; i < ARRAY_LEN(status); i++) {
		AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);

		put_gated(w, 7, RUNNING, status[i]);
		gate_shut("7/cmdline");
		assert_true(get(w, "7/stat") > 0);
		assert_int_equal(get(w, "7/cmdline"), -ETIMEDOUT);
		assert_int_equal(get(w, "7/environ"), -ETIMEDOUT);
		assert_true(get(w, "8/cmdline") > 0);
		gate_open(w);
		assert_true(get(w, "7/cmdline") > 0);
	}
}

/* The process may take its lock at any moment. So a helper thread reads its memory files, and the
 * caller does not wait. */
static void memory_of_threads_is_read_by_a_thread(void **state)
{
	static const char *const files[] = {"cmdline", "environ", "smaps_rollup"};
	AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);
	char text[64], path[32];

	put_gated(w, 7, RUNNING, THREADED);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		size_t len = strlen(files[i]);

		snprintf(path, sizeof path, "7/%s", files[i]);
		nap();
		gate_passed();
		assert_int_equal(tree_read(w->tree, path, text, sizeof text), len);
		assert_string_equal(text, files[i]);
		assert_int_equal(gate_passed(), 2); /* reads of statm and status */
		assert_int_equal(tree_read(w->tree, path, text, len), -EFBIG);
		assert_int_equal(tree_part(w->tree, path, 2, text, 3), 3);
		assert_memory_equal(text, files[i] + 2, 3);
		assert_int_equal(tree_part(w->tree, path, len, text, 3), 0);
	}
	gate_passed();
	nap();
	assert_true(get(w, "8/cmdline") > 0);
	assert_int_equal(gate_passed(), 3);
}

/* A busy machine may give a thread no CPU for TREE_GUARD_SECONDS, which then counts as hanging. */
#define TRIES 10

/* Returns true if the caller waited for a slow file, and false if it gave up. */
static bool waits_for_a_slow_one(void)
{
	AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);
	uint64_t before = tree_waits(w->tree).worked_ns;

	put_gated(w, 7, RUNNING, THREADED);
	gate_slow("7/smaps_rollup", 3 * TREE_GUARD_SECONDS);
	ssize_t n = get(w, "7/smaps_rollup");

	gate_slow(NULL, 0);
	if (n == -ETIMEDOUT)
		return false;
	assert_int_equal(n, strlen("smaps_rollup"));
	assert_true(tree_waits(w->tree).worked_ns - before >=
		    (uint64_t)(3 * TREE_GUARD_SECONDS * 1e9));
	return true;
}

/* Counting the pages of a large process takes long. The caller waits as long as the reading thread
 * uses CPU time. */
static void one_that_is_slow_is_waited_for(void **state)
{
	unsigned tries = 1;

	while (!waits_for_a_slow_one())
		assert_in_range(++tries, 1, TRIES);
}

/* ---- files of a process ---- */

static void a_program_that_does_not_come_says_nothing_of_its_process(void **state)
{
	AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);
	char head[8];

	put_gated(w, 7, RUNNING, SLEEPER);
	gate_shut("7/exe");
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(tree_waits(w->tree).left_out, i);
		assert_int_equal(tree_head(w->tree, "7/exe", head, sizeof head), -ETIMEDOUT);
	}
	assert_int_equal(unanswered(w), 1);
	assert_true(get(w, "7/stat") > 0);
	assert_int_equal(tree_head(w->tree, "8/exe", head, sizeof head), 3);
	assert_memory_equal(head, "exe", 3);
	assert_int_equal(tree_head(w->tree, "9/exe", head, sizeof head), -ENOENT);
	gate_open(w);
	assert_int_equal(tree_head(w->tree, "7/exe", head, sizeof head), 3);
	assert_int_equal(tree_waits(w->tree).left_out, 2);
}

static int first_name(void *context, const char *name)
{
	text_copy(name, context, 8);
	return 5;
}

static bool allows(void *context, uint64_t mount)
{
	assert_true(gate_is_owner());
	++*(unsigned *)context;
	return mount != 0;
}

/* Returns true if a read counted as hanging that may be tried again. */
static bool may_come(ssize_t code, unsigned *tries)
{
	if (code != -ETIMEDOUT || ++*tries > TRIES)
		return false;
	nap();
	return true;
}

static void check_below_root(const struct gated_world *w, bool comes)
{
	char text[16] = "", name[8] = "";
	struct tree_space space = {0};
	unsigned asked = 0, tries = comes ? 0 : TRIES;
	ssize_t foreign, list, size;
	int read_device, read_space;
	uint64_t device = 0;
	struct foreign f = {"7/root", "mnt/file", geteuid(), allows, &asked};
	/* The file is not in a control group, so the plain path is not read. */
	int not_read = comes ? -ENOENT : -ETIMEDOUT;

	while (may_come(get(w, "7/root/mnt/file"), &tries))
		continue;
	gate_passed();
	assert_int_equal(get(w, "7/root/mnt/file"), not_read);
	assert_int_equal(tree_head(w->tree, "7/root/mnt/file", text, 1), not_read);
	assert_int_equal(tree_keep(w->tree, "7/root/mnt/file").fd, -1);
	do
		foreign = tree_foreign(w->tree, &f, text, sizeof text);
	while (may_come(foreign, &tries));
	do
		list = tree_list(w->tree, "7/root/mnt", first_name, name);
	while (may_come(list, &tries));
	do
		read_device = tree_device(w->tree, "7/root/mnt", &device);
	while (may_come(read_device, &tries));
	do
		size = (ssize_t)tree_size(w->tree, "7/root/mnt/file");
	while (may_come(size, &tries));
	do
		read_space = tree_space(w->tree, "7/root/mnt", &space);
	while (may_come(read_space, &tries));
	assert_int_equal(foreign, comes ? (int)strlen("root/mnt/file") : -ETIMEDOUT);
	assert_int_equal(list, comes ? 5 : -ETIMEDOUT);
	assert_int_equal(read_device, comes ? 0 : -ETIMEDOUT);
	assert_int_equal(size, comes ? (int)strlen("root/mnt/file") : -ETIMEDOUT);
	assert_int_equal(read_space, comes ? 0 : -ETIMEDOUT);
	assert_int_equal(gate_passed(), 0);
	assert_string_equal(text, comes ? "root/mnt/file" : "");
	assert_string_equal(name, comes ? "file" : "");
	assert_int_equal(asked > 0, comes);
	assert_int_equal(device != 0, comes);
	assert_int_equal(space.size > 0, comes);
}

static void what_is_below_a_root_is_read_by_a_thread(void **state)
{
	AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);
	struct tree_space space = {0};

	put_gated(w, 7, RUNNING, SLEEPER);
	check_below_root(w, true);
	gate_shut("7/root");
	check_below_root(w, false);
	assert_int_equal(unanswered(w), 1);
	assert_int_equal(tree_space(w->tree, "8/root/mnt", &space), 0);
	assert_int_equal(tree_space(w->tree, "8/root/opt", &space), -ENOENT);
	gate_open(w);
	check_below_root(w, true);
}

static bool allows_none(void *context, uint64_t mount)
{
	(void)context;
	(void)mount;
	return false;
}

static void a_mount_that_is_not_allowed_is_not_read(void **state)
{
	AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);
	struct foreign f = {"7/cwd", "file", geteuid(), allows_none, NULL};
	char text[16];

	put_gated(w, 7, RUNNING, SLEEPER);
	put_file(w, "7/cwd/file", "file");
	unsigned tries = 0;
	ssize_t code;

	do
		code = tree_foreign(w->tree, &f, text, sizeof text);
	while (may_come(code, &tries));
	assert_int_equal(code, -ENOENT);
}

static int count(void *context, const char *name)
{
	(void)name;
	++*(int *)context;
	return 0;
}

static int open_fds(void)
{
	struct tree *t = NULL;
	int n = 0;

	assert_int_equal(tree_open(&t, "/proc/self/fd", NULL), 0);
	assert_int_equal(tree_list(t, "", count, &n), 0);
	tree_free(t);
	return n;
}

static void what_comes_too_late_to_be_kept_is_closed(void **state)
{
	AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);
	int before = open_fds();

	put_gated(w, 7, RUNNING, THREADED);
	unsigned tries = 0;
	struct kept k = tree_keep(w->tree, "7/environ");

	while (k.fd < 0 && may_come(-ETIMEDOUT, &tries))
		k = tree_keep(w->tree, "7/environ");
	assert_true(k.fd >= 0);
	kept_done(&k);
	gate_shut("7/environ");
	assert_int_equal(tree_keep(w->tree, "7/environ").fd, -1);
	gate_open(w);
	assert_int_equal(open_fds(), before);
}

static void a_process_counts_once(void **state)
{
	AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);
	struct tree_space space;

	put_gated(w, 7, RUNNING, THREADED);
	gate_shut("7/cmdline");
	gate_shut("7/root");
	assert_int_equal(tree_space(w->tree, "7/root/mnt", &space), -ETIMEDOUT);
	assert_int_equal(get(w, "7/cmdline"), -ETIMEDOUT);
	assert_int_equal(unanswered(w), 1);
}

/* ---- many processes that hang ---- */

/* Reads until `expected` processes count as hanging. In each second the guard allows only
 * a limited time of waiting, so this takes many rounds. */
static void let_hang(const struct gated_world *w, int first, size_t n, size_t expected)
{
	for (int i = 0; i < 1000 && unanswered(w) < expected; i++) {
		for (int pid = first; pid < first + (int)n; pid++) {
			assert_int_equal(get_of(w, pid, "cmdline"), -ETIMEDOUT);
			assert_int_equal(get_of(w, pid + 1000, "root/mnt/file"), -ETIMEDOUT);
		}
		nap();
	}
	assert_int_equal(unanswered(w), expected);
}

/* If a process has several threads, the states of its threads show whether one waits. Such a
 * process is read even when all threads of the guard hang, unless one of its own threads waits.
 * Some processes hang without showing it: when TREE_GUARD_CALM of them hang, reads are given up. A
 * process that hangs in a file system does not count among these. */
static void any_number_of_them_holds_nobody_up(void **state)
{
	const int n = TREE_GUARD_THREADS + 1;
	AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);

	for (int i = 0; i < n; i++) {
		put_gated(w, 100 + i, i % 2 ? IN_EXEC : RUNNING, MAPPING);
		gate_shut_of(100 + i, i % 2 ? "stat" : "cmdline");
		put_gated(w, 1100 + i, RUNNING, SLEEPER);
		gate_shut_of(1100 + i, "root");
		put_gated(w, 200 + i, RUNNING, THREADED);
		gate_shut_of(200 + i, "cmdline");
	}
	put_gated(w, 7, RUNNING, THREADED);
	let_hang(w, 100, (size_t)n, 2 * TREE_GUARD_THREADS);
	assert_true(get(w, "8/stat") > 0);
	assert_int_equal(get(w, "8/exe"), -ETIMEDOUT);
	assert_true(get(w, "7/cmdline") > 0);
	put_file(w, "7/task/2/status", MAPPING);
	assert_int_equal(get(w, "7/cmdline"), -ETIMEDOUT);
	put_file(w, "7/task/2/status", SLEEPER);
	assert_true(get(w, "7/cmdline") > 0);
	let_hang(w, 200, TREE_GUARD_CALM + 1, 2 * TREE_GUARD_THREADS + TREE_GUARD_CALM);
	assert_int_equal(get(w, "7/cmdline"), -ETIMEDOUT);
	gate_open(w);
	assert_true(get(w, "7/cmdline") > 0);
}

/* A process can make its statm look like an exec for as long as it likes. Waiting for many such
 * processes must not use up the time of the reader. */
static void those_who_only_look_like_it_do_not_take_all_the_time(void **state)
{
	AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);
	int answered = 0, left_out = 0;

	for (int pid = 100; pid < 1100; pid++)
		put_locks(w, pid, IN_EXEC);
	for (int pid = 100; pid < 1100; pid++)
		*(get_of(w, pid, "stat") > 0 ? &answered : &left_out) += 1;
	assert_true(answered > 0);
	assert_true(left_out > 0);
	assert_true(get(w, "8/stat") > 0);
}

/* In some sandboxes `statm` never shows any code, even for our own process. Then a process without
 * code may not be in an exec. */
static void where_no_program_has_code_nobody_is_in_an_exec(void **state)
{
	AUTO(gated_world_freep) struct gated_world *w = gated_world_new(IN_EXEC);

	put_gated(w, 7, IN_EXEC, SLEEPER);
	assert_true(get(w, "7/stat") > 0);
	assert_true(tree_answers(w->tree, "7/stat"));
}

static void what_is_not_there_is_no_error_of_its_own(void **state)
{
	static const char *const odd[] = {"", "/", "7", "0/root/mnt", "0/stat",
		"99999999999999999999/exe", "4294967303/root/mnt", "-7/exe", "9/rooted", "9/exec",
		"9/task/9/stat", "9/root/", "9/cwd/../../8/stat/x"};
	AUTO(gated_world_freep) struct gated_world *w = gated_world_new(RUNNING);
	struct err e = {0};
	struct tree *t = NULL;

	assert_int_equal(get(w, "9/stat"), -ENOENT);
	assert_int_equal(get(w, "9/cmdline"), -ENOENT);
	assert_int_equal(get(w, "loadavg"), -ENOENT);
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		assert_true(get(w, odd[i]) < 0);
		tree_answers(w->tree, odd[i]);
	}
	assert_int_equal(unanswered(w), 0);
	assert_int_equal(tree_guard_open(&t, "/nowhere", &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nowhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_hangs_in_exec_is_left_out_until_it_answers),
		cmocka_unit_test(one_in_the_middle_of_an_exec_that_goes_on_is_read),
		cmocka_unit_test(one_that_hangs_while_it_maps_a_file_is_left_out),
		cmocka_unit_test(memory_of_threads_is_read_by_a_thread),
		cmocka_unit_test(one_that_is_slow_is_waited_for),
		cmocka_unit_test(a_program_that_does_not_come_says_nothing_of_its_process),
		cmocka_unit_test(what_is_below_a_root_is_read_by_a_thread),
		cmocka_unit_test(a_mount_that_is_not_allowed_is_not_read),
		cmocka_unit_test(what_comes_too_late_to_be_kept_is_closed),
		cmocka_unit_test(a_process_counts_once),
		cmocka_unit_test(any_number_of_them_holds_nobody_up),
		cmocka_unit_test(those_who_only_look_like_it_do_not_take_all_the_time),
		cmocka_unit_test(where_no_program_has_code_nobody_is_in_an_exec),
		cmocka_unit_test(what_is_not_there_is_no_error_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
