/* exporter/wrapper/inherited.c: which descriptors a command inherits, and which children are not
 * the command's. */
#include "tests/unit/test_main.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporter/wrapper/inherited.h"

static void only_what_was_there_before_is_passed_on(void **state)
{
	AUTO(inherited_done) struct inherited i;
	int before = open("/dev/null",
		O_RDONLY); /* NOLINT(android-cloexec-open): the test needs an inheritable descriptor */
	int status;

	inherited_read(&i);
	int after = open("/dev/null", O_RDONLY); /* NOLINT(android-cloexec-open) */
	int far = fcntl(after, F_DUPFD, 200);
	pid_t child = fork();

	if (child == 0) {
		inherited_keep_only(&i);
		_exit((fcntl(before, F_GETFD) == 0) + 2 * (fcntl(after, F_GETFD) == FD_CLOEXEC) +
			4 * (fcntl(far, F_GETFD) == FD_CLOEXEC) + 8 * (fcntl(2, F_GETFD) == 0));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 15);
	close(before);
	close(after);
	close(far);
}

static void children_from_before_are_known(void **state)
{
	AUTO(inherited_done) struct inherited i;
	pid_t old = fork(), new;

	if (old == 0) {
		pause();
		_exit(0);
	}
	inherited_read(&i);
	if (i.n_children == 0)
		skip(); /* a kernel without CONFIG_PROC_CHILDREN */
	new = fork();
	if (new == 0) {
		pause();
		_exit(0);
	}
	assert_true(inherited_child(&i, old));
	assert_false(inherited_child(&i, new));
	pid_t *now;

	assert_int_equal(inherited_children(&now), i.n_children + 1);
	free(now);
	kill(old, SIGKILL);
	kill(new, SIGKILL);
	waitpid(old, NULL, 0);
	waitpid(new, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_was_there_before_is_passed_on),
		cmocka_unit_test(children_from_before_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
