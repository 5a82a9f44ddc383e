/* Tests collectors/process/delays.c: waiting times read from files, and from the running kernel if
 * the kernel counts them. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/process/delays.h"
#include "tests/support/test_tree.h"

static struct host host_over(struct tree *proc)
{
	return (struct host){.proc = proc,
		.scratch = xmalloc(HOST_SCRATCH_SIZE),
		.scratch_size = HOST_SCRATCH_SIZE};
}

static void waits_of_all_threads_are_added_up(void **state)
{
	AUTO(tree_freep) struct tree *proc = memory_tree();
	struct host h = host_over(proc);
	struct delay_reader *r = delay_reader_new(&h);
	struct delays d = {0};

	memory_tree_text(proc, "10/schedstat", "5 70 1\n");
	memory_tree_text(proc, "10/task/10/schedstat", "5 70 1\n");
	memory_tree_text(proc, "10/task/11/schedstat", "6 800 2\n");
	memory_tree_text(proc, "10/status",
		"Pid:\t10\nvoluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t1\n");
	memory_tree_text(proc, "11/status",
		"Pid:\t11\nvoluntary_ctxt_switches:\t16000\nnonvoluntary_ctxt_switches:\t20\n");
	assert_int_equal(delays_read(r, &h, 10, 1, &d), 0);
	assert_int_equal(d.cpu_ns, 70);
	assert_false(d.switches_known);
	assert_int_equal(delays_read(r, &h, 10, 2, &d), 0);
	assert_int_equal(d.cpu_ns, 870);
	assert_true(d.switches_known);
	assert_int_equal(d.voluntary, 16004);
	assert_int_equal(d.involuntary, 21);
	memory_tree_refuse(proc, "11/status", -ETIMEDOUT);
	assert_int_equal(delays_read(r, &h, 10, 2, &d), -ETIMEDOUT);
	memory_tree_refuse(proc, "11/status", 0);
	memory_tree_refuse(proc, "10/task/11/schedstat", -ESRCH); /* the thread ended */
	assert_int_equal(delays_read(r, &h, 10, 2, &d), 0);
	assert_int_equal(d.cpu_ns, 70);
	assert_false(delay_reader_counts_all(r));
	delay_reader_free(r);
	free(h.scratch);
}

static void what_cannot_be_read_is_told(void **state)
{
	AUTO(tree_freep) struct tree *proc = memory_tree();
	struct host h = host_over(proc);
	struct delay_reader *r = delay_reader_new(&h);
	struct delays d = {.cpu_ns = 42};

	memory_tree_text(proc, "10/schedstat", "nonsense\n");
	assert_int_equal(delays_read(r, &h, 10, 1, &d), -EBADMSG);
	assert_int_equal(delays_read(r, &h, 11, 1, &d), -ENOENT);
	assert_int_equal(delays_read(r, &h, 10, DELAYS_THREADS_MAX + 1, &d), -E2BIG);
	assert_int_equal(d.cpu_ns, 42);
	delay_reader_free(r);
	delay_reader_free(NULL);
	free(h.scratch);
}

static int64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Two processes share one CPU, so each waits about as long as it runs. */
static void wait_for_a_shared_cpu_is_seen(void **state)
{
	struct tree *proc = NULL;
	struct delays before, after;
	cpu_set_t one;

	assert_int_equal(tree_open(&proc, "/proc", NULL), 0);
	struct host h = host_over(proc);

	h.own_pid_namespace = true;
	struct delay_reader *r = delay_reader_new(&h);

	if (delays_read(r, &h, getpid(), 1, &before) < 0) {
		delay_reader_free(r);
		free(h.scratch);
		tree_free(proc);
		skip();
	}
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	pid_t child = fork();
	int64_t end = own_cpu_ns() + 60000000;

	while (own_cpu_ns() < end)
		;
	if (child == 0)
		_exit(0);
	assert_int_equal(delays_read(r, &h, getpid(), 1, &after), 0);
	waitpid(child, NULL, 0);
	assert_true(after.cpu_ns > before.cpu_ns + 20000000);
	delay_reader_free(r);
	free(h.scratch);
	tree_free(proc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_of_all_threads_are_added_up),
		cmocka_unit_test(what_cannot_be_read_is_told),
		cmocka_unit_test(wait_for_a_shared_cpu_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
