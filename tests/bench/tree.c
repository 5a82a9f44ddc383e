/* A tree of processes to watch. Usage: bench_tree PROCESSES. The processes come in groups of ten: a
 * leader and nine sleeping children. The leader wakes up ten times a second and works for a moment.
 * The program prints "ready" when all processes exist. At the end of its input the program and all
 * its processes end. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/scan.h"

#define GROUP       10
#define WAKE_UP_NS  100000000L
#define WORK_ROUNDS 20000

/* Forks a child that does not outlive its parent. Returns true in the child. */
static bool in_child(void)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("fork");
		exit(EXIT_FAILURE);
	}
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid == 0;
}

static void live(bool active, int ready)
{
	struct timespec pause = {.tv_sec = active ? 0 : 3600, .tv_nsec = active ? WAKE_UP_NS : 0};
	volatile uint64_t work = 1;

	if (write(ready, "", 1) != 1)
		_exit(EXIT_FAILURE);
	for (;;) {
		nanosleep(&pause, NULL);
		for (int i = 0; active && i < WORK_ROUNDS; i++)
			work = work * 6364136223846793005u + 1;
	}
}

static void lead(uint64_t members, int ready)
{
	for (uint64_t i = 1; i < members; i++)
		if (in_child())
			live(false, ready);
	live(true, ready);
}

int main(int argc, char **argv)
{
	const char *text = argc == 2 ? argv[1] : "";
	struct scan s = SCAN(text, strlen(text));
	uint64_t processes;
	int ready[2];
	char byte;

	if (!scan_u64(&s, &processes) || !scan_end(&s) || processes < 1 || pipe(ready) < 0) {
		fprintf(stderr, "usage: bench_tree PROCESSES\n");
		return EXIT_FAILURE;
	}
	for (uint64_t left = processes - 1; left;) {
		uint64_t members = left < GROUP ? left : GROUP;

		if (in_child())
			lead(members, ready[1]);
		left -= members;
	}
	for (uint64_t i = 1; i < processes; i++)
		if (read(ready[0], &byte, 1) != 1)
			return EXIT_FAILURE;
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return EXIT_SUCCESS;
}
