/*
 * Work to be disturbed, and how much it took. Usage: bench_disturb calls|maps SECONDS-OF-WORK
 *
 * calls: walks through memory larger than the caches, and makes system calls, a fixed amount of both. maps: a process
 * with 2 GiB that maps and unmaps memory. Prints user and system CPU seconds, and wall seconds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/scan.h"

#define WALKED   ((size_t)32 << 20)
#define RESIDENT ((size_t)2 << 30)
#define LINE     64
#define PAGE     4096
#define MAPPED   (64 * (size_t)PAGE)

static void *memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(EXIT_FAILURE);
	}
	return p;
}

/* About a hundredth of a second each. */
static void one_of_calls(volatile uint64_t *walked)
{
	size_t at = 0, n = WALKED / sizeof *walked;
	char byte;

	for (int i = 0; i < 100000; i++) {
		at = (at + 7919 * LINE) % n;
		walked[at]++;
	}
	int zero = 0;

	for (int i = 0; i < 8000; i++)
		zero += (int)(getppid() > 0) + (read(-1, &byte, 1) < 0);
	walked[0] += (uint64_t)zero;
}

static void one_of_maps(void)
{
	for (int i = 0; i < 100; i++) {
		char *p = memory(MAPPED);

		for (size_t k = 0; k < MAPPED; k += PAGE)
			p[k] = 1;
		munmap(p, MAPPED);
	}
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	bool maps = argc == 3 && strcmp(argv[1], "maps") == 0;
	uint64_t seconds = 0;
	struct rusage before, after;

	if (argc == 3)
		scan_u64(&SCAN(argv[2], strlen(argv[2])), &seconds);
	if (!seconds || !(maps || strcmp(argv[1], "calls") == 0)) {
		fprintf(stderr, "usage: bench_disturb calls|maps SECONDS-OF-WORK\n");
		return EXIT_FAILURE;
	}
	char *held = memory(maps ? RESIDENT : WALKED);

	for (size_t i = 0; i < (maps ? RESIDENT : WALKED); i += PAGE)
		held[i] = 1;
	getrusage(RUSAGE_SELF, &before);
	struct mono start = now_read().mono;

	for (uint64_t i = 0; i < seconds * 100; i++)
		if (maps)
			one_of_maps();
		else
			one_of_calls((volatile uint64_t *)(void *)held);
	double wall = mono_seconds_between(start, now_read().mono);

	getrusage(RUSAGE_SELF, &after);
	printf("%.6f %.6f %.6f\n", seconds_of(after.ru_utime) - seconds_of(before.ru_utime),
		seconds_of(after.ru_stime) - seconds_of(before.ru_stime), wall);
	return EXIT_SUCCESS;
}
