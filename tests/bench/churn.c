/* Simulates processes that come and go. Usage: bench_churn PROCESSES PER-SECOND. The program keeps
 * PROCESSES sleeping children, and replaces PER-SECOND of them each second, the oldest first. It
 * prints "ready" when all children exist. At the end of its input the program and all its children
 * end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

#define CHILDREN_MAX 20000
#define STEPS        20 /* number of steps per second */

static pid_t begin(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0) {
		perror("fork");
		exit(EXIT_FAILURE);
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent) /* the parent ended before prctl() */
			_exit(EXIT_FAILURE);
		for (;;)
			pause();
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static bool number(const char *text, uint64_t most, uint64_t *ret)
{
	struct scan s = SCAN(text, strlen(text));

	return scan_u64(&s, ret) && scan_end(&s) && *ret <= most;
}

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	uint64_t children, rate, oldest = 0, due = 0;
	char byte;

	if (argc != 3 || !number(argv[1], CHILDREN_MAX, &children) || children < 1 ||
		!number(argv[2], CHILDREN_MAX, &rate)) {
		fprintf(stderr, "usage: bench_churn PROCESSES PER-SECOND\n");
		return EXIT_FAILURE;
	}
	AUTO(freep) pid_t *child = xcalloc(children, sizeof *child);

	for (uint64_t i = 0; i < children; i++)
		child[i] = begin();
	puts("ready");
	fflush(stdout);
	for (;;) {
		int n = poll(&input, 1, 1000 / STEPS);

		if (n > 0 && read(STDIN_FILENO, &byte, 1) <= 0)
			return EXIT_SUCCESS;
		for (due += rate; due >= STEPS; due -= STEPS) {
			end(child[oldest]);
			child[oldest] = begin();
			oldest = (oldest + 1) % children;
		}
	}
}
