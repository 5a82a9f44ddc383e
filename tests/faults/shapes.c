/*
 * Jobs of an odd shape for the tests: "shapes threads N", one process with N threads, and "shapes deep N", N generations
 * of one process each. Says "ready" when all are there, works a little in the last of them, and ends when its standard
 * input does. It needs nothing of the exporter.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORK_NS 300000000L

static void work(void)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec == 0 && now.tv_nsec < WORK_NS);
}

static void until_told(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	poll(&input, 1, -1);
}

static int ready(void)
{
	work();
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

/* Without guard pages a thread is one mapping, of which a process may have 65,530. */
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

/* Each becomes the program anew: what a process keeps of its memory's ancestors would grow with each generation. */
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

int main(int argc, char **argv)
{
	long n = 0;

	for (const char *digit = argc == 3 ? argv[2] : ""; *digit >= '0' && *digit <= '9'; digit++)
		n = n * 10 + (*digit - '0');
	if (n > 0 && n < 1000000 && strcmp(argv[1], "threads") == 0)
		return threads(n);
	if (n > 0 && n < 1000000 && strcmp(argv[1], "deep") == 0)
		return deep(n);
	fputs("usage: shapes threads|deep NUMBER\n", stderr);
	return 2;
}
