/*
 * collectors/base/tree_guard: processes that do not answer hold nobody up. Here a FIFO without a writer is what never answers:
 * whoever opens it, as the tree's threads do, waits for one.
 */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/tree_guard.h"

#define IN_EXEC  "1 1 0 0 0 1 0\n"
#define RUNNING  "900 300 200 40 0 90 0\n"
#define SLEEPER  "Name:\tx\nState:\tS (sleeping)\nThreads:\t1\n"
#define MAPPING  "Name:\tx\nState:\tD (disk sleep)\nThreads:\t1\n"
#define THREADED "Name:\tx\nState:\tS (sleeping)\nThreads:\t2\n"

struct world {
	char path[64];
	int top;
	struct tree *tree;
};

static void put(const struct world *w, const char *path, const char *text)
{
	int fd = openat(w->top, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void put_process(const struct world *w, int pid, const char *statm, const char *status,
	const char *fifo)
{
	static const char *const files[] = {"stat", "io", "cmdline", "environ"};
	char path[64];

	snprintf(path, sizeof path, "%d", pid);
	assert_int_equal(mkdirat(w->top, path, 0700), 0);
	snprintf(path, sizeof path, "%d/statm", pid);
	put(w, path, statm);
	snprintf(path, sizeof path, "%d/status", pid);
	put(w, path, status);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof path, "%d/%s", pid, files[i]);
		if (fifo && strcmp(fifo, files[i]) == 0)
			assert_int_equal(mkfifoat(w->top, path, 0600), 0);
		else
			put(w, path, files[i]);
	}
}

static void nap(void)
{
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* Those who wait for the FIFO find it empty; afterwards nobody waits for it. */
static void answer(const struct world *w, const char *path)
{
	int fd = openat(w->top, path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(unlinkat(w->top, path, 0), 0);
	put(w, path, "answer");
	close(fd);
	for (int i = 0; i < 1000 && tree_unanswered(w->tree); i++)
		nap();
}

static ssize_t get(const struct world *w, const char *path)
{
	char text[256];

	return tree_read(w->tree, path, text, sizeof text);
}

static struct world *world_of(const char *self)
{
	struct world *w = xcalloc(1, sizeof *w);

	snprintf(w->path, sizeof w->path, "/tmp/rightsize-test-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->top = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(w->top, "self", 0700), 0);
	put(w, "self/statm", self);
	put_process(w, 8, RUNNING, SLEEPER, NULL);
	assert_int_equal(tree_guard_open(&w->tree, w->path, NULL), 0);
	return w;
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static void world_free(struct world *w)
{
	tree_free(w->tree);
	close(w->top);
	nftw(w->path, drop, 8, FTW_DEPTH | FTW_PHYS);
	free(w);
}

static void one_that_hangs_in_exec_is_left_out_until_it_answers(void **state)
{
	static const char *const files[] = {"stat", "io"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		struct world *w = world_of(RUNNING);
		char path[64];

		snprintf(path, sizeof path, "7/%s", files[i]);
		put_process(w, 7, IN_EXEC, SLEEPER, files[i]);
		assert_int_equal(get(w, "7/stat"), -ETIMEDOUT);
		assert_int_equal(get(w, "7/io"), -ETIMEDOUT);
		assert_int_equal(tree_keep(w->tree, path).fd, -1);
		assert_false(tree_answers(w->tree, path));
		assert_true(tree_answers(w->tree, "8/stat"));
		assert_int_equal(tree_unanswered(w->tree), 1);
		/* What waits for nothing can be read all the same, and so can others. */
		assert_true(get(w, "7/status") > 0);
		assert_true(get(w, "8/stat") > 0);
		answer(w, path);
		assert_int_equal(tree_unanswered(w->tree), 0);
		assert_true(get(w, path) > 0);
		world_free(w);
	}
}

static void one_in_the_middle_of_an_exec_that_goes_on_is_read(void **state)
{
	struct world *w = world_of(RUNNING);

	(void)state;
	put_process(w, 7, IN_EXEC, SLEEPER, NULL);
	assert_true(get(w, "7/stat") > 0);
	assert_true(get(w, "7/cmdline") > 0);
	assert_int_equal(tree_unanswered(w->tree), 0);
	world_free(w);
}

static void one_that_hangs_while_it_maps_a_file_is_left_out(void **state)
{
	static const char *const status[] = {MAPPING, THREADED};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(status); i++) {
		struct world *w = world_of(RUNNING);

		put_process(w, 7, RUNNING, status[i], "cmdline");
		assert_true(get(w, "7/stat") > 0);
		assert_int_equal(get(w, "7/cmdline"), -ETIMEDOUT);
		assert_int_equal(get(w, "7/environ"), -ETIMEDOUT);
		assert_true(get(w, "8/cmdline") > 0);
		answer(w, "7/cmdline");
		assert_true(get(w, "7/cmdline") > 0);
		world_free(w);
	}
}

static void a_program_that_does_not_come_says_nothing_of_its_process(void **state)
{
	struct world *w = world_of(RUNNING);
	char head[8];

	(void)state;
	put_process(w, 7, RUNNING, SLEEPER, NULL);
	put(w, "8/exe", "program");
	assert_int_equal(mkfifoat(w->top, "7/exe", 0600), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(tree_head(w->tree, "7/exe", head, sizeof head), -ETIMEDOUT);
	assert_int_equal(tree_unanswered(w->tree), 0);
	assert_true(get(w, "7/stat") > 0);
	assert_int_equal(tree_head(w->tree, "8/exe", head, sizeof head), 7);
	assert_memory_equal(head, "program", 7);
	assert_int_equal(tree_head(w->tree, "9/exe", head, sizeof head), -ENOENT);
	/* Whoever waits for the FIFO has it answered, or else would wait when the world is gone. */
	answer(w, "7/exe");
	for (int i = 0; i < 1000 && tree_head(w->tree, "7/exe", head, sizeof head) < 0; i++)
		nap();
	assert_int_equal(tree_head(w->tree, "7/exe", head, sizeof head), 6);
	world_free(w);
}

static void space_below_a_root_is_told(void **state)
{
	struct world *w = world_of(RUNNING);
	struct tree_space space = {0};

	(void)state;
	assert_int_equal(mkdirat(w->top, "8/root", 0700), 0);
	assert_int_equal(mkdirat(w->top, "8/root/mnt", 0700), 0);
	assert_int_equal(tree_space(w->tree, "8/root/mnt", &space), 0);
	assert_true(space.size > 0);
	assert_int_equal(tree_space(w->tree, "8/root/opt", &space), -ENOENT);
	world_free(w);
}

/* Also once the threads are all used up, and also when the tree goes first. */
static void any_number_of_them_holds_nobody_up(void **state)
{
	struct world *w = world_of(RUNNING);
	char path[64];

	(void)state;
	for (int pid = 100; pid < 100 + 3 * TREE_GUARD_THREADS; pid++)
		put_process(w, pid, IN_EXEC, SLEEPER, "stat");
	/* Some in each second. */
	for (int i = 0; i < 1000 && tree_unanswered(w->tree) < TREE_GUARD_THREADS; i++) {
		for (int pid = 100; pid < 100 + 3 * TREE_GUARD_THREADS; pid++) {
			snprintf(path, sizeof path, "%d/stat", pid);
			assert_int_equal(get(w, path), -ETIMEDOUT);
		}
		nap();
	}
	assert_int_equal(tree_unanswered(w->tree), TREE_GUARD_THREADS);
	assert_true(get(w, "8/stat") > 0);
	tree_free(w->tree);
	assert_int_equal(tree_open(&w->tree, w->path, NULL), 0);
	for (int pid = 100; pid < 100 + TREE_GUARD_THREADS; pid++) {
		snprintf(path, sizeof path, "%d/stat", pid);
		answer(w, path);
	}
	world_free(w);
}

/* A process can make its statm say so for as long as it likes. */
static void those_who_only_look_like_it_do_not_take_all_the_time(void **state)
{
	struct world *w = world_of(RUNNING);
	int answered = 0, unanswered = 0;
	char path[64];

	(void)state;
	for (int pid = 100; pid < 2100; pid++)
		put_process(w, pid, IN_EXEC, SLEEPER, NULL);
	for (int pid = 100; pid < 2100; pid++) {
		snprintf(path, sizeof path, "%d/stat", pid);
		*(get(w, path) > 0 ? &answered : &unanswered) += 1;
	}
	assert_true(answered > 0);
	assert_true(unanswered > 0);
	assert_true(get(w, "8/stat") > 0);
	world_free(w);
}

/* As in a sandbox whose statm knows no code: what is told of nobody says nothing of one. */
static void where_no_program_has_code_nobody_is_in_an_exec(void **state)
{
	struct world *w = world_of(IN_EXEC);

	(void)state;
	put_process(w, 7, IN_EXEC, SLEEPER, NULL);
	assert_true(get(w, "7/stat") > 0);
	world_free(w);
}

static void what_is_not_there_is_no_error_of_its_own(void **state)
{
	struct world *w = world_of(RUNNING);
	struct err e = {0};
	struct tree *t = NULL;

	(void)state;
	assert_int_equal(get(w, "9/stat"), -ENOENT);
	assert_int_equal(get(w, "9/cmdline"), -ENOENT);
	assert_int_equal(get(w, "loadavg"), -ENOENT);
	assert_int_equal(tree_guard_open(&t, "/nowhere", &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nowhere"));
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_hangs_in_exec_is_left_out_until_it_answers),
		cmocka_unit_test(one_in_the_middle_of_an_exec_that_goes_on_is_read),
		cmocka_unit_test(one_that_hangs_while_it_maps_a_file_is_left_out),
		cmocka_unit_test(a_program_that_does_not_come_says_nothing_of_its_process),
		cmocka_unit_test(space_below_a_root_is_told),
		cmocka_unit_test(any_number_of_them_holds_nobody_up),
		cmocka_unit_test(those_who_only_look_like_it_do_not_take_all_the_time),
		cmocka_unit_test(where_no_program_has_code_nobody_is_in_an_exec),
		cmocka_unit_test(what_is_not_there_is_no_error_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
