/* The jobs whose accounting is checked: accuracy_job CASE [SIZE]. Each uses CPU time or memory in a
 * way that is hard to follow. SIZE scales the work: 1 is the full case, less is for a quick
 * test. */
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

#define CHILD_NS       30000000LL
#define STORM_NS       300000LL
#define SHORT_NS       200000000LL
#define BUSY_NS        2000000000LL
#define SPIKE_BYTES    (500UL << 20)
#define SPIKE_MS       300
#define REST_MS        1300 /* longer than the sampling interval */
#define NEIGHBOUR_NS   1000000LL
#define LITTER_REST_MS 200
#define NOBODY         65534

static const char *self; /* path of this program, for exec */
static double size = 1;

static int64_t cpu_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Uses CPU time in the calling thread. */
static void burn(int64_t ns)
{
	int64_t end = cpu_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (cpu_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static int scaled(int n)
{
	int m = (int)(n * size);

	return m > 0 ? m : 1;
}

static void rest(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	return pid;
}

static void children_one_by_one(int n, int64_t ns)
{
	for (int i = 0; i < n; i++) {
		pid_t child = start();

		if (child == 0) {
			burn(ns);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* ---- cases ---- */

static void waited(void)
{
	children_one_by_one(scaled(200), CHILD_NS);
}

/* The kernel reaps the children of a process that ignores SIGCHLD. waitpid() therefore waits until
 * all children have ended, and then fails. */
static void ignored(void)
{
	signal(SIGCHLD, SIG_IGN);
	children_one_by_one(scaled(200), CHILD_NS);
}

static void daemons(void)
{
	int alive[2];
	char byte;

	if (pipe(alive) < 0)
		exit(1);
	for (int i = 0; i < scaled(200); i++) {
		pid_t child = start();

		if (child == 0) {
			setsid();
			if (start() == 0) {
				burn(CHILD_NS);
				_exit(0);
			}
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	/* read() returns 0 when the last daemon has ended, because each daemon has the pipe open
	 * for writing. */
	close(alive[1]);
	while (read(alive[0], &byte, 1) > 0)
		;
}

static void sessions(void)
{
	for (int i = 0; i < scaled(50); i++) {
		pid_t child = start();

		if (child == 0) {
			setsid();
			burn(CHILD_NS);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void *forking_thread(void *context)
{
	(void)context;
	children_one_by_one(scaled(12), CHILD_NS);
	burn(CHILD_NS);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[4];

	for (size_t i = 0; i < ARRAY_LEN(thread); i++)
		pthread_create(&thread[i], NULL, forking_thread, NULL);
	for (size_t i = 0; i < ARRAY_LEN(thread); i++)
		pthread_join(thread[i], NULL);
}

static void storm(void)
{
	children_one_by_one(scaled(5000), STORM_NS);
}

static void storm_ignored(void)
{
	signal(SIGCHLD, SIG_IGN);
	children_one_by_one(scaled(5000), STORM_NS);
}

static void exec_chain(void)
{
	char left[32];
	const char *n = getenv("ACCURACY_LINKS");
	struct scan s = SCAN(n, n ? strlen(n) : 0);
	uint64_t links = (uint64_t)scaled(50);

	if (n)
		scan_u64(&s, &links);
	burn(CHILD_NS);
	if (links == 0)
		return;
	snprintf(left, sizeof left, "%llu", (unsigned long long)links - 1);
	setenv("ACCURACY_LINKS", left, 1);
	execl(self, self, "exec_chain", (char *)NULL);
	exit(1);
}

static void leave_children(void)
{
	for (int i = 0; i < 4; i++)
		if (start() == 0) {
			burn((int64_t)((double)BUSY_NS / 4 * size));
			_exit(0);
		}
	burn(CHILD_NS);
}

/* The children go on as orphans after the job's root process has ended. */
static void root_first(void)
{
	leave_children();
}

/* The grandchildren go on after their parent has ended. The root cannot wait() for grandchildren,
 * so it waits until they have closed a pipe. */
static void parent_first(void)
{
	int alive[2];
	char byte;

	if (pipe(alive) < 0)
		exit(1);
	if (start() == 0) {
		leave_children();
		_exit(0);
	}
	close(alive[1]);
	while (read(alive[0], &byte, 1) > 0)
		;
	wait(NULL);
}

static void other_user(void)
{
	for (int i = 0; i < scaled(50); i++) {
		pid_t child = start();

		if (child == 0) {
			if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
				_exit(1);
			burn(CHILD_NS);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* All children have the same pid, one after the other. */
static void pid_reuse(void)
{
	pid_t pid = 0;

	for (int i = 0; i < scaled(100); i++) {
		struct clone_args a = {
			.exit_signal = SIGCHLD,
			.set_tid = pid ? (uint64_t)(uintptr_t)&pid : 0,
			.set_tid_size = pid ? 1 : 0,
		};
		long child = syscall(SYS_clone3, &a, sizeof a);

		if (child < 0) {
			perror("clone3");
			exit(1);
		}
		if (child == 0) {
			burn(CHILD_NS);
			_exit(0);
		}
		pid = (pid_t)child;
		waitpid(pid, NULL, 0);
	}
}

static void brief(void)
{
	burn(SHORT_NS);
}

static void *burning_thread(void *context)
{
	(void)context;
	burn((int64_t)((double)BUSY_NS / 2 * size));
	return NULL;
}

/* Two threads keep two CPUs busy. The tests run this case in a control group with a CPU quota. */
static void busy(void)
{
	pthread_t thread[2];

	for (size_t i = 0; i < ARRAY_LEN(thread); i++)
		pthread_create(&thread[i], NULL, burning_thread, NULL);
	for (size_t i = 0; i < ARRAY_LEN(thread); i++)
		pthread_join(thread[i], NULL);
}

static volatile sig_atomic_t ends;

static void end(int number)
{
	(void)number;
	ends = 1;
}

/* This case is a neighbour of the measured job. It ignores SIGCHLD, so the kernel reports the CPU
 * time of its children to no process. Each child adds its own CPU time to a sum, which the
 * neighbour prints at the end. The sum lacks the cost of the children's exits, so there are only a
 * few children. */
static void litter(void)
{
	_Atomic int64_t *used =
		mmap(NULL, sizeof *used, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (used == MAP_FAILED)
		exit(1);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGTERM, end);
	while (!ends) {
		if (start() == 0) {
			burn(NEIGHBOUR_NS * 5);
			*used += cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
			_exit(0);
		}
		rest(LITTER_REST_MS);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	printf("%.9f\n", (double)*used / 1e9);
}

/* ---- memory ---- */

static void spike(void)
{
	char *m =
		mmap(NULL, SPIKE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	memset(m, 1, SPIKE_BYTES);
	rest(SPIKE_MS);
	munmap(m, SPIKE_BYTES);
}

static void spike_root(void)
{
	rest(REST_MS);
	spike();
	rest(REST_MS);
}

static void spike_after(long before_ms, long after_ms)
{
	if (start())
		return;
	rest(before_ms);
	spike();
	rest(after_ms);
	_exit(0);
}

static void wait_for_all(void)
{
	while (wait(NULL) > 0)
		;
}

static void spike_child(void)
{
	spike_after(REST_MS, REST_MS);
	wait_for_all();
}

/* The second spike begins one second after the first spike has freed its memory. Both processes
 * live until the end of the case. */
static void spike_two(void)
{
	int over[2];
	char byte;

	if (pipe(over) < 0)
		exit(1);
	if (start() == 0) {
		rest(REST_MS);
		spike();
		close(over[0]);
		close(over[1]);
		rest(REST_MS * 2 + SPIKE_MS);
		_exit(0);
	}
	close(over[1]);
	if (start() == 0) {
		while (read(over[0], &byte, 1) > 0)
			;
		rest(1000);
		spike();
		rest(REST_MS);
		_exit(0);
	}
	wait_for_all();
}

/* The process starts, reaches its peak and ends between two samples. */
static void spike_brief(void)
{
	rest(REST_MS);
	spike_after(0, 0);
	wait_for_all();
	rest(REST_MS);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"waited", waited},
	{"ignored", ignored},
	{"daemons", daemons},
	{"sessions", sessions},
	{"threads", threads},
	{"storm", storm},
	{"storm_ignored", storm_ignored},
	{"exec_chain", exec_chain},
	{"root_first", root_first},
	{"parent_first", parent_first},
	{"other_user", other_user},
	{"pid_reuse", pid_reuse},
	{"brief", brief},
	{"busy", busy},
	{"litter", litter},
	{"spike_root", spike_root},
	{"spike_child", spike_child},
	{"spike_two", spike_two},
	{"spike_brief", spike_brief},
};

int main(int argc, char **argv)
{
	self = "/proc/self/exe";
	if (argc > 2) {
		struct scan s = SCAN(argv[2], strlen(argv[2]));

		if (!scan_double(&s, &size) || !(size > 0))
			return 2;
	}
	for (size_t i = 0; argc > 1 && i < ARRAY_LEN(cases); i++)
		if (strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run();
			return 0;
		}
	fprintf(stderr, "usage: accuracy_job CASE [SIZE]\n");
	return 2;
}
