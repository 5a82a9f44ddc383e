/* collectors/process/exit_watch.c: the exit status of children and of other processes. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/process/exit_watch.h"
#include "collectors/process/process.h"

static void end_of_a_child_is_seen_before_and_after_it_is_waited_for(void **state)
{
	int status = 77, go[2];
	char byte;

	assert_int_equal(pipe(go), 0);
	pid_t child = fork();

	if (child == 0) {
		close(go[1]);
		_exit(read(go[0], &byte, 1) == 0 ? 5 : 6);
	}
	int fd = exit_watch_open(child);

	if (fd == -ENOSYS)
		skip();
	assert_true(fd >= 0);
	assert_false(exit_watch_ended(fd));
	assert_int_not_equal(exit_watch_status(fd, &status), EXIT_STATUS_KNOWN);
	close(go[0]);
	close(go[1]);
	struct pollfd ended = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&ended, 1, 10000), 1);
	assert_true(exit_watch_ended(fd));
	assert_int_equal(status, 77);
	waitpid(child, NULL, 0);
	enum exit_status known = exit_watch_status(fd, &status);

	close(fd);
	if (known == EXIT_STATUS_UNKNOWN)
		skip();
	assert_int_equal(known, EXIT_STATUS_KNOWN);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 5);
}

static void signal_that_ended_a_stranger_is_known(void **state)
{
	int numbers[2], status = 0;
	pid_t stranger;

	assert_int_equal(pipe(numbers), 0);
	pid_t child = fork();

	if (child == 0) {
		stranger = fork();
		if (stranger == 0)
			for (;;)
				pause();
		if (write(numbers[1], &stranger, sizeof stranger) > 0)
			waitpid(stranger, NULL, 0);
		_exit(0);
	}
	assert_int_equal(read(numbers[0], &stranger, sizeof stranger), sizeof stranger);
	int fd = exit_watch_open(stranger);

	if (fd == -ENOSYS)
		skip();
	assert_true(fd >= 0);
	assert_int_not_equal(exit_watch_status(fd, &status), EXIT_STATUS_KNOWN);
	kill(stranger, SIGKILL);
	waitpid(child, NULL, 0); /* when the child has ended, it has reaped the stranger */
	enum exit_status known = exit_watch_status(fd, &status);

	close(fd);
	close(numbers[0]);
	close(numbers[1]);
	if (known == EXIT_STATUS_UNKNOWN)
		skip();
	assert_int_equal(known, EXIT_STATUS_KNOWN);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* The parent does not wait. The status of a zombie that failed is known all the same; a status of 0
 * stays unknown, as the kernel shows 0 without the permission to read it. */
static void status_of_a_zombie_is_known_unless_it_is_0(void **state)
{
	const struct {
		int exit_code, signal;
	} ends[] = {{0, SIGKILL}, {7, 0}, {0, 0}};
	struct host h;

	assert_int_equal(host_open(&h, &(struct host_paths){"/proc", "/sys", "/"}, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct process_stat s;
		struct exit_watches all;
		struct exit_watch watch;
		int go[2];
		char byte;

		exit_watches_init(&all);
		assert_int_equal(pipe(go), 0);
		pid_t child = fork();

		if (child == 0) {
			close(go[1]);
			(void)!read(go[0], &byte, 1);
			if (ends[i].signal)
				raise(ends[i].signal);
			_exit(ends[i].exit_code);
		}
		assert_int_equal(process_read_stat(&h, child, &s), 0);
		exit_watch_begin(&watch, &all, &h, child, s.start_ticks);
		if (watch.pidfd < 0)
			skip();
		exit_watch_look(&watch, &all, &h);
		assert_int_equal(watch.known, EXIT_STATUS_LATER);
		close(go[0]);
		close(go[1]);
		struct pollfd ended = {.fd = watch.pidfd, .events = POLLIN};

		assert_int_equal(poll(&ended, 1, 10000), 1);
		exit_watch_look(&watch, &all, &h);
		if (ends[i].signal || ends[i].exit_code) {
			assert_int_equal(watch.known, EXIT_STATUS_KNOWN);
			assert_int_equal(watch.status, ends[i].signal | ends[i].exit_code << 8);
		} else {
			assert_int_not_equal(watch.known, EXIT_STATUS_KNOWN);
		}
		exit_watch_done(&watch);
		exit_watches_done(&all);
		waitpid(child, NULL, 0);
	}
	host_close(&h);
}

static void process_that_is_not_there_is_told(void **state)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	int fd = exit_watch_open(child);

	assert_true(fd == -ESRCH || fd == -ENOSYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end_of_a_child_is_seen_before_and_after_it_is_waited_for),
		cmocka_unit_test(signal_that_ended_a_stranger_is_known),
		cmocka_unit_test(status_of_a_zombie_is_known_unless_it_is_0),
		cmocka_unit_test(process_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
