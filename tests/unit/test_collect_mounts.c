/* Tests the filesystem collector on the running kernel, which reports changes of mounts. The tests
 * with simulated mounts are in test_collect_filesystem.c. */
#include "tests/unit/test_main.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test_host.h"

extern const struct collector collector_filesystem;

#define SIZE "rightsize_filesystem_size_bytes"
/* Exit code of the child when it is not allowed to mount. */
#define REFUSED 77

/* Mounts a tmpfs of 8 MiB, and an overlay whose layers are in the tmpfs. The test checks the size
 * of the overlay. */
static bool mount_overlay(const char *folder)
{
	char path[4096], layers[4096];

	if (mount("none", folder, "tmpfs", 0, "size=8m") < 0)
		return false;
	for (const char *const *name = (const char *const[]){"low", "up", "work", "all", NULL};
		*name; name++) {
		snprintf(path, sizeof path, "%s/%s", folder, *name);
		if (mkdir(path, 0700) < 0)
			return false;
	}
	snprintf(layers, sizeof layers, "lowerdir=%s/low,upperdir=%s/up,workdir=%s/work", folder,
		folder, folder);
	snprintf(path, sizeof path, "%s/all", folder);
	return mount("none", path, "overlay", 0, layers) == 0;
}

/* Runs in a child process. Returns the number of the step that failed; 0 = none. */
static int watch_mounts(const char *folder)
{
	struct test_host t;
	struct test_run r;
	char labels[4096];

	test_host_init(&t);
	snprintf(labels, sizeof labels, "none|overlay|%s/all", folder);
	if (tree_open(&t.host.proc, "/proc", NULL) || tree_open(&t.host.root, "/", NULL) ||
		test_run_start(&r, &collector_filesystem, &t.host))
		return 1;
	for (int tick = 0; tick < 3; tick++)
		if (test_run_collect(&r, &t.host) || !isnan(test_run_value(&r, SIZE, labels)))
			return 2;
	if (!mount_overlay(folder))
		return REFUSED;
	/* The collector reads a long mount table again after more than 4.9 s, or at once when the
	 * kernel reports a change. If it sees the overlay now, the kernel has reported the
	 * change. */
	test_host_advance(&t, 4.9);
	for (int tick = 0; tick < 2; tick++)
		if (test_run_collect(&r, &t.host) || test_run_value(&r, SIZE, labels) != 8 << 20)
			return 3;
	if (umount2(folder, MNT_DETACH) < 0 || test_run_collect(&r, &t.host) ||
		test_run_collect(&r, &t.host))
		return 4;
	return isnan(test_run_value(&r, SIZE, labels)) ? 0 : 5;
}

static void the_kernel_says_at_once_that_there_is_a_new_mount(void **state)
{
	char folder[] = "/tmp/test_mounts.XXXXXX";
	int status = 0;

	assert_non_null(mkdtemp(folder));
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		if (unshare(CLONE_NEWNS) < 0 ||
			mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
			_exit(REFUSED);
		_exit(watch_mounts(folder));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	rmdir(folder);
	if (WIFEXITED(status) && WEXITSTATUS(status) == REFUSED)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_says_at_once_that_there_is_a_new_mount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
