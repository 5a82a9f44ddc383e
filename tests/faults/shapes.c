/* Jobs of unusual shapes for the tests. This program uses no code of the exporter.
 *
 * "shapes threads N" is one process with N threads. "shapes deep N" is N generations of one process
 * each. When all of them exist, the main thread or the last process works a little and prints
 * "ready". The program ends when its standard input ends.
 *
 * "shapes wide N" has N children, which work a little before and after a byte of input, and end.
 * Then the program prints how many CPU seconds it and its children used, from getrusage(2).
 *
 * "shapes churn N" starts N children a second, a twentieth of them at a time. They work a little,
 * wait for a moment, end and are waited for. The program prints "round" after each N children, even
 * if they took longer than a second. After a byte of input it prints the same as "wide". */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORK_NS       300000000L
#define WORK_SHORT_NS 1000000L
#define WORK_BRIEF_NS 500000L
#define BATCHES       20 /* per second */

/* Works until the thread has used this much CPU time in total. */
static void work(long ns)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec == 0 && now.tv_nsec < ns);
}

static bool told_within(int ms)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, ms) > 0;
}

static void until_told(void)
{
	told_within(-1);
}

static int ready(void)
{
	work(WORK_NS);
	puts("ready");
	fflush(stdout);
	until_told();
	return 0;
}

static void *wait_for_the_end(void *unused)
{
	pause();
	return unused;
}

/* A process may have 65,530 mappings. A guard page would be a second mapping for each thread, so
 * the threads have none. */
static int threads(long n)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setguardsize(&small, 0);
	pthread_attr_setstacksize(&small, 16384);
	for (long i = 1; i < n; i++)
		if (pthread_create(&thread, &small, wait_for_the_end, NULL)) {
			fprintf(stderr, "no more than %ld threads\n", i);
			return 77;
		}
	return ready();
}

/* Each generation executes the program again. Otherwise the kernel's memory for copied mappings
 * would grow with each generation. */
static int deep(long n)
{
	char left[24];
	int status;

	if (n == 1)
		return ready();
	pid_t child = fork();

	if (child == 0) {
		snprintf(left, sizeof left, "%ld", n - 1);
		execl("/proc/self/exe", "shapes", "deep", left, (char *)NULL);
		_exit(77);
	}
	if (child < 0) {
		fprintf(stderr, "%ld generations are missing\n", n - 1);
		return 77;
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Each child closes `there` when it is ready. The parent's read() of that pipe returns when all
 * children have done so. The children go on when the parent closes `go`. */
static _Noreturn void child(int there, int go)
{
	char byte;

	work(WORK_SHORT_NS);
	close(there);
	(void)!read(go, &byte, 1);
	work(2 * WORK_SHORT_NS);
	_exit(0);
}

static double cpu_seconds(int whose)
{
	struct rusage used;

	getrusage(whose, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static int all_waited_for(void)
{
	while (wait(NULL) > 0)
		;
	printf("%.6f\n", cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN));
	fflush(stdout);
	until_told();
	return 0;
}

static int wide(long n)
{
	int there[2], go[2];
	char byte;

	if (pipe(there) || pipe(go))
		return 77;
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			close(go[1]);
			close(there[0]);
			child(there[1], go[0]);
		}
		if (pid < 0) {
			fprintf(stderr, "no more than %ld children\n", i);
			return 77;
		}
	}
	close(there[1]);
	(void)!read(there[0], &byte, 1);
	puts("ready");
	fflush(stdout);
	(void)!read(STDIN_FILENO, &byte, 1);
	close(go[1]);
	return all_waited_for();
}

static long milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Starts children that live until the time `until`, or until there is input. Returns 1 if there was
 * input, 0 if not, and -1 if the children cannot be created. */
static int batch(long n, long until)
{
	int go[2];
	char byte;

	if (pipe(go))
		return -1;
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return -1;
		if (pid == 0) {
			close(go[1]);
			work(WORK_BRIEF_NS);
			(void)!read(go[0], &byte, 1);
			_exit(0);
		}
	}
	long left = until - milliseconds();
	bool told = told_within(left > 0 ? (int)left : 0);

	close(go[1]);
	while (wait(NULL) > 0)
		;
	close(go[0]);
	return told;
}

static int churn(long n)
{
	char byte;

	puts("ready");
	fflush(stdout);
	(void)!read(STDIN_FILENO, &byte, 1);
	for (long i = 1, due = milliseconds();; i++) {
		int told = batch(n / BATCHES, due += 1000 / BATCHES);

		if (told < 0) {
			fprintf(stderr, "no more children\n");
			return 1;
		}
		if (told)
			break;
		if (i % BATCHES == 0) {
			puts("round");
			fflush(stdout);
		}
	}
	(void)!read(STDIN_FILENO, &byte, 1);
	return all_waited_for();
}

int main(int argc, char **argv)
{
	long n = 0;

	for (const char *digit = argc == 3 ? argv[2] : ""; *digit >= '0' && *digit <= '9'; digit++)
		n = n * 10 + (*digit - '0');
	if (n > 0 && n < 1000000 && strcmp(argv[1], "threads") == 0)
		return threads(n);
	if (n > 0 && n < 1000000 && strcmp(argv[1], "deep") == 0)
		return deep(n);
	if (n > 0 && n < 1000000 && strcmp(argv[1], "wide") == 0)
		return wide(n);
	if (n > 0 && n < 1000000 && strcmp(argv[1], "churn") == 0)
		return churn(n);
	fputs("usage: shapes threads|deep|wide|churn NUMBER\n", stderr);
	return 2;
}
