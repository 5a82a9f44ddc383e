/* collectors/process/tree.c: which processes are found, with real and simulated processes. */
#include "tests/unit/test_main.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/process/tree.h"
#include "tests/support/jobs_world.h"

/* ---- a job that adopts its orphans, and sleeps ---- */

/* Sleeps forever as a subreaper. Its child forks at the first byte, and ends when the grandchild
 * has written its pid. All three processes end with the test. */
static _Noreturn void adopt_and_sleep(int go, int say)
{
	pid_t pid;
	char byte;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fork() > 0)
		for (;;)
			pause();
	if (read(go, &byte, 1) == 1 && fork() > 0)
		_exit(0);
	pid = getpid();
	if (write(say, &pid, sizeof pid) == sizeof pid && read(go, &byte, 1) == 0)
		_exit(0);
	_exit(1);
}

/* Returns true if `parent` has ended and `root` is the parent of the orphan. A process keeps its
 * children until its last thread ends, and a sanitizer's thread may outlive the first thread of the
 * process. A zombie `parent` may therefore still be the parent of the orphan. */
static bool is_adopted(const struct host *h, pid_t orphan, pid_t parent, pid_t root)
{
	struct process_stat s, dead;

	assert_int_equal(process_read_stat(h, orphan, &s), 0);
	assert_int_equal(process_read_stat(h, parent, &dead), 0);
	return dead.state == 'Z' && s.ppid == root;
}

static pid_t only_child(const struct process_tree *t, pid_t root)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->member[i].ppid == root)
			return t->member[i].pid;
	return 0;
}

static void an_orphan_is_found_at_the_next_look_though_who_adopts_it_sleeps(void **state)
{
	struct process_tree t;
	struct tree_now now;
	AUTO(host_close) struct host h;
	int go[2], say[2];
	pid_t orphan;

	assert_int_equal(host_open(&h, &(struct host_paths){"/proc", "/sys", "/"}, NULL), 0);
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(say), 0);
	pid_t root = fork();

	if (root == 0) {
		close(go[1]);
		adopt_and_sleep(go[0], say[1]);
	}
	assert_int_equal(process_tree_begin(&t, &h, root, 0, 0), 0);
	/* Waits until both processes are found and the root sleeps. */
	do {
		h.now = now_read();
		process_tree_look(&t, &h, 0, &now);
	} while (t.n < 2 || t.member[0].ran);
	pid_t parent = only_child(&t, root);

	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(say[0], &orphan, sizeof orphan), sizeof orphan);
	while (!is_adopted(&h, orphan, parent, root))
		;
	process_tree_look(&t, &h, 0, &now);
	assert_true(process_tree_has(&t, orphan));
	process_tree_done(&t);
	kill(root, SIGKILL);
	kill(orphan, SIGKILL);
	assert_int_equal(waitpid(root, NULL, 0), root);
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(say[i]);
	}
}

/* ---- other processes of the machine ---- */

/* The number of other processes does not matter, because they are never read. */
static void strangers_are_never_read(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .children = "");
	PUT(w, .pid = 40, .ppid = 1, .start = 7);
	follow(w, 10, 0);
	for (int i = 0; i < 3 * SEARCH_LOOKS; i++)
		look(w);
	assert_int_equal(memory_tree_reads(w->proc, "40/stat"), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_orphan_is_found_at_the_next_look_though_who_adopts_it_sleeps),
		cmocka_unit_test(strangers_are_never_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
