/* collectors/followed/jobs.c: jobs with extreme numbers of threads or generations, in a /proc that
 * is computed when it is read. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/followed/jobs.h"
#include "tests/support/jobs_world.h"

#define ROOT       100
#define THREADS    32768
#define GENERATION 10000

/* A job below ROOT. `threads`: one process, whose last thread has a child. Otherwise each
 * generation has one child. `falling`: a child's pid is below its parent's, as after the pids
 * wrapped around. */
struct shape {
	struct tree tree;
	bool threads, falling, no_children_file, in_time_namespace;
	int gone; /* number of the last generations that have ended */
	size_t n_reads;
};

static struct shape *shape_of(struct tree *t)
{
	return (struct shape *)(void *)t;
}

static int members(const struct shape *s)
{
	return s->threads ? 2 : GENERATION - s->gone;
}

static int nth_pid(const struct shape *s, int n)
{
	return s->threads && n ? ROOT + THREADS :
	       s->falling && n ? ROOT + GENERATION - n :
				 ROOT + n;
}

/* Returns the process's number in the job; -1 = not in the job. */
static int number_of(const struct shape *s, uint64_t pid)
{
	for (int n = 0; n < 2; n++)
		if (pid == (uint64_t)nth_pid(s, n))
			return n;
	if (s->threads || pid < ROOT || pid >= ROOT + GENERATION)
		return -1;
	return s->falling ? ROOT + GENERATION - (int)pid : (int)pid - ROOT;
}

/* The start time is 0 in a time namespace, where the kernel does not show the clock's offset. */
static int stat_text(const struct shape *s, int n, char *buf, size_t size)
{
	return snprintf(buf, size,
		"%d (odd) S %d 1 1 0 -1 0 0 0 0 0 10 5 0 0 20 0 %d 0 %d 1000000 256 0 0 0 0\n",
		nth_pid(s, n), n ? nth_pid(s, n - 1) : 1, s->threads && n == 0 ? THREADS : 1,
		s->in_time_namespace ? 0 : 50);
}

static ssize_t shape_read(struct tree *t, const char *path, char *buf, size_t size)
{
	struct shape *s = shape_of(t);
	struct scan p = SCAN(path, strlen(path));
	uint64_t pid, thread;
	int n = scan_u64(&p, &pid) ? number_of(s, pid) : -1;

	s->n_reads++;
	if (n < 0 || n >= members(s))
		return -ENOENT;
	if (scan_literal(&p, "/stat") && scan_end(&p))
		return stat_text(s, n, buf, size);
	if (s->no_children_file || !scan_literal(&p, "/task/") || !scan_u64(&p, &thread))
		return -ENOENT;
	bool has = n + 1 < members(s) && (!s->threads || thread == ROOT + THREADS - 1);

	return has ? snprintf(buf, size, "%d ", nth_pid(s, n + 1)) : 0;
}

static int shape_list(struct tree *t, const char *path,
	int (*each)(void *context, const char *name), void *context)
{
	const struct shape *s = shape_of(t);
	bool tasks = strcmp(path, "100/task") == 0 && s->threads;
	int n = tasks ? THREADS : *path ? 0 : members(s), code = n ? 0 : -ENOENT;
	char name[16];

	for (int i = 0; i < n && code == 0; i++) {
		snprintf(name, sizeof name, "%d", tasks ? ROOT + i : nth_pid(s, i));
		code = each(context, name);
	}
	return code;
}

static int64_t shape_get(struct tree *t, const struct tree_request *r)
{
	if (r->call == TREE_READ || r->call == TREE_READ_RECORDS)
		return shape_read(t, r->path, r->out, r->size);
	if (r->call == TREE_LIST)
		return shape_list(t, r->path, r->each, r->context);
	return r->call == TREE_KEEP ? -EMFILE : -ENOENT;
}

static const struct tree_ops shape_ops = {.get = shape_get};

static void followed_whole(struct shape s)
{
	AUTO(world_freep) struct world *w = world_new();

	s.tree.ops = &shape_ops;
	w->host.proc = &s.tree;
	follow(w, ROOT, 0);
	for (int looks = 0; looks < 2; looks++) {
		s.n_reads = 0;
		const double *value = look(w)->value;

		assert_double_equal(value[RUN_PROCESSES], members(&s), 0);
		assert_double_equal(value[RUN_CPU_SECONDS], 0.15 * members(&s), 1e-6);
		assert_double_equal(value[RUN_THREADS], s.threads ? THREADS + 1 : GENERATION, 0);
		/* Only a few files are read per process and per thread, so the number of reads is
		 * not quadratic. */
		assert_true(s.n_reads < 20 * (size_t)(s.threads ? THREADS : GENERATION));
	}
}

static void child_of_one_of_32768_threads_is_found(void **state)
{
	followed_whole((struct shape){.threads = true});
}

static void ten_thousand_generations_are_followed_whole(void **state)
{
	followed_whole((struct shape){0});
	followed_whole((struct shape){.falling = true});
	followed_whole((struct shape){.no_children_file = true});
	followed_whole((struct shape){.falling = true, .no_children_file = true});
}

/* The last half of the generations ends. The tree above them is climbed once, not once for each
 * ended process. */
static void half_of_ten_thousand_generations_end(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	struct shape s = {.tree.ops = &shape_ops};

	w->host.proc = &s.tree;
	follow(w, ROOT, 0);
	look(w);
	s.gone = GENERATION / 2;

	const double *value = look(w)->value;

	assert_double_equal(value[RUN_PROCESSES], GENERATION - s.gone, 0);
	assert_double_equal(value[RUN_CPU_SECONDS], 0.15 * GENERATION, 1e-6);
}

static void started_at_0_is_a_time_like_any_other(void **state)
{
	followed_whole((struct shape){.threads = true, .in_time_namespace = true});
}

/* Starts a process whose CPU clock stands still. It ends with the test. */
static pid_t sleeper(void)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	/* The child closes its end just before it sleeps. */
	assert_int_equal(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return pid;
}

/* A process had forked before it was added to the run, and has slept since. It was found in the
 * run's group, because its parent is not a member. Its child must be found nevertheless. */
static void who_sleeps_when_it_is_taken_in_is_asked_for_its_children(void **state)
{
	struct world *w = world_new();
	pid_t pid[3];
	char list[16];

	w->host.own_pid_namespace = true;
	for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
		pid[i] = sleeper();
		PUT(w, .pid = pid[i], .ppid = i == 2 ? pid[1] : 1, .start = 5);
		children(w, pid[i], "");
	}
	snprintf(list, sizeof list, "%d ", pid[2]);
	children(w, pid[1], list);
	follow(w, pid[0], 0);
	jobs_adopt(w->host.jobs, &w->host, "r1", pid[1]);
	assert_double_equal(look(w)->value[RUN_PROCESSES], 3, 0);
	world_freep(&w);
	for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(child_of_one_of_32768_threads_is_found),
		cmocka_unit_test(ten_thousand_generations_are_followed_whole),
		cmocka_unit_test(half_of_ten_thousand_generations_end),
		cmocka_unit_test(started_at_0_is_a_time_like_any_other),
		cmocka_unit_test(who_sleeps_when_it_is_taken_in_is_asked_for_its_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
