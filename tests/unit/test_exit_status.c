/* collectors/process/exit_watch.c: the exit status of children and of other processes. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/process/exit_watch.h"

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
		cmocka_unit_test(process_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
