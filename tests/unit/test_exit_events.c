/* Tests collectors/accounting/exit_events.c on the running kernel, if permitted. The results are
 * compared with those of wait4(2). */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/accounting/exit_events.h"

#define CHILDREN 40
#define BURN_NS  3000000
#define CODE     7

static int64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void burn(void)
{
	int64_t end = own_cpu_ns() + BURN_NS;

	while (own_cpu_ns() < end)
		;
}

/* The root of the run executes this function. Every grandchild becomes an orphan at once. */
static void fork_orphans(int go)
{
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (child == 0) {
			if (fork() == 0)
				burn();
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	_exit(CODE);
}

static struct exit_events *start_or_skip(void)
{
	struct exit_events *x = NULL;
	struct err e = {0};
	int code = exit_events_start(&x, false, &e);

	if (code) {
		assert_int_not_equal(e.text[0], 0);
		print_message("skipped: %s\n", e.text);
		skip();
	}
	return x;
}

static unsigned begin(struct exit_events *x, pid_t root)
{
	exit_events_lock(x);
	exit_events_update(x);
	unsigned run = lineage_begin(exit_events_book(x), root, 0);

	exit_events_unlock(x);
	return run;
}

static void settle(struct exit_events *x, unsigned run, struct lineage_tally *ret)
{
	exit_events_lock(x);
	exit_events_settle(x);
	lineage_tally(exit_events_book(x), run, ret);
	exit_events_unlock(x);
}

static double waited_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void check_orphans_and_exit_status(struct exit_events *x)
{
	struct lineage_tally t;
	int go[2], status = 0;
	double before = waited_seconds();

	assert_int_equal(pipe(go), 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	pid_t root = fork();

	assert_true(root >= 0);
	if (root == 0)
		fork_orphans(go[0]);
	unsigned run = begin(x, root);

	assert_int_equal(write(go[1], "g", 1), 1);
	for (pid_t pid; (pid = wait(&status)) > 0;)
		if (pid == root)
			assert_int_equal(WEXITSTATUS(status), CODE);
	settle(x, run, &t);
	double truth = waited_seconds() - before;

	assert_int_equal(t.born, CHILDREN * 2);
	assert_int_equal(t.ended, CHILDREN * 2 + 1);
	assert_true(t.whole);
	assert_true(!exit_events_recorded(x) || t.cpu_ns > (uint64_t)CHILDREN * BURN_NS);
	/* The CPU time of the records is never above the true value. With the upper bound for the
	 * cost of exits added, it is never below. */
	assert_true((double)t.cpu_ns / 1e9 < truth * 1.01);
	assert_true((double)(t.cpu_ns + t.ends_ns + t.unseen_ns) / 1e9 > truth * 0.99);
	assert_int_equal(t.peak_process_bytes > 0, exit_events_recorded(x));
	assert_true(t.status_heard);
	assert_int_equal(WEXITSTATUS(t.status), CODE);
	exit_events_stop(x);
	close(go[0]);
	close(go[1]);
}

static void orphans_and_exit_status_are_known(void **state)
{
	check_orphans_and_exit_status(start_or_skip());
	(void)state;
}

/* Without CAP_NET_ADMIN there are no records. Events need Linux 6.6. */
static void events_suffice_for_a_bound(void **state)
{
	uid_t before = geteuid();
	bool changed = before == 0 && seteuid(65534) == 0;
	struct exit_events *x = NULL;
	struct err e = {0};
	int code = exit_events_start(&x, true, &e);

	if (changed)
		assert_int_equal(seteuid(before), 0);
	if (code)
		skip();
	assert_false(exit_events_recorded(x));
	check_orphans_and_exit_status(x);
	(void)state;
}

static void signal_that_ended_the_root_is_known(void **state)
{
	struct exit_events *x = start_or_skip();
	struct lineage_tally t;
	pid_t root = fork();

	if (root == 0)
		for (;;)
			pause();
	unsigned run = begin(x, root);

	kill(root, SIGTERM);
	waitpid(root, NULL, 0);
	settle(x, run, &t);
	assert_true(t.status_heard);
	assert_true(WIFSIGNALED(t.status));
	assert_int_equal(WTERMSIG(t.status), SIGTERM);
	assert_int_equal(exit_events_health(x).lost, 0);
	assert_int_equal(exit_events_health(x).refused, 0);
	exit_events_stop(x);
}

/* Starts a process that burns CPU time, with the pid `number`. That pid must be free. 0 = any
 * pid. */
static pid_t burning_child(pid_t number)
{
	struct clone_args args = {.exit_signal = SIGCHLD,
		.set_tid = number ? (uintptr_t)&number : 0,
		.set_tid_size = number ? 1 : 0};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);

	if (pid == 0) {
		burn();
		_exit(0);
	}
	return pid;
}

/* Creates one process after the other, all with the same pid. Exits with the number of times that
 * the first process's pid was used again. */
static void use_a_number_again(int go)
{
	char byte;
	int again = 0;

	if (read(go, &byte, 1) != 1)
		_exit(0);
	pid_t number = burning_child(0);

	while (number > 0 && waitpid(number, NULL, 0) == number && again < CHILDREN &&
		burning_child(number) == number)
		again++;
	_exit(again);
}

/* Follows a root whose children have one pid, one after the other. Returns their number. */
static uint64_t follow_one_number(struct lineage_tally *ret)
{
	struct exit_events *x = start_or_skip();
	int go[2], status = 0;

	assert_int_equal(pipe(go), 0);
	pid_t root = fork();

	if (root == 0)
		use_a_number_again(go[0]);
	unsigned run = begin(x, root);

	assert_int_equal(write(go[1], "g", 1), 1);
	assert_int_equal(waitpid(root, &status, 0), root);
	settle(x, run, ret);
	close(go[0]);
	close(go[1]);
	exit_events_stop(x);
	return 1 + (uint64_t)WEXITSTATUS(status);
}

/* The accounting record of a process may still wait to be read when the next process with the same
 * pid is created. The record must then count for the process that ended. The kernel drops records
 * when the whole machine makes too many, so the test tries again. */
static void each_of_those_with_one_number_is_counted(void **state)
{
	struct lineage_tally t = {0};
	uint64_t children = 0;

	for (int tries = 0; tries < 3 && !t.whole; tries++)
		children = follow_one_number(&t);
	if (children < CHILDREN / 2)
		skip(); /* choosing a pid is not permitted, or another process took it */
	assert_int_equal(t.born, children);
	assert_int_equal(t.ended, children + 1);
	assert_true(t.whole);
	assert_true(t.cpu_ns > children * BURN_NS);
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* exit_events_stop(NULL) must not close any descriptor. */
static void stop_of_nothing_does_nothing(void **state)
{
	unsigned before = open_descriptors();

	errno = 0;
	exit_events_stop(NULL);
	assert_int_equal(errno, 0);
	assert_int_equal(open_descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orphans_and_exit_status_are_known),
		cmocka_unit_test(events_suffice_for_a_bound),
		cmocka_unit_test(signal_that_ended_the_root_is_known),
		cmocka_unit_test(each_of_those_with_one_number_is_counted),
		cmocka_unit_test(stop_of_nothing_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
