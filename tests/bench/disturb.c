/*
 * Work to be disturbed, in units of equal size, and when each was done. Usage: bench_disturb calls|maps FILE
 *
 * calls: walks through memory larger than the caches, and makes system calls, a fixed amount of both. maps: a process
 * with 2 GiB that maps and unmaps memory. A unit takes about a thousandth of a second. FILE holds numbers of 64 bits, of which
 * the first is the process's number, and then, for each unit, the clock and the CPU time of the process at its end, both in
 * nanoseconds. They are stored in a mapping, without a system call, so that telling does not disturb. Ends when told to, or
 * when FILE is full, after an hour or more.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"

#define WALKED    ((size_t)32 << 20)
#define RESIDENT  ((size_t)2 << 30)
#define LINE      64
#define PAGE      4096
#define MAPPED    (64 * (size_t)PAGE)
#define UNITS_MAX ((size_t)1 << 22)

struct told {
	uint64_t pid;
	struct {
		uint64_t at, cpu;
	} unit[UNITS_MAX];
};

static void *mapped(size_t size, int flags, int fd)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(EXIT_FAILURE);
	}
	return p;
}

static void *memory(size_t size)
{
	return mapped(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void unit_of_calls(volatile uint64_t *walked)
{
	size_t at = 0, n = WALKED / sizeof *walked;
	char byte;

	for (int i = 0; i < 10000; i++) {
		at = (at + 7919 * LINE) % n;
		walked[at]++;
	}
	int zero = 0;

	for (int i = 0; i < 800; i++)
		zero += (int)(getppid() > 0) + (read(-1, &byte, 1) < 0);
	walked[0] += (uint64_t)zero;
}

static void unit_of_maps(void)
{
	for (int i = 0; i < 10; i++) {
		char *p = memory(MAPPED);

		for (size_t k = 0; k < MAPPED; k += PAGE)
			p[k] = 1;
		munmap(p, MAPPED);
	}
}

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)(t.tv_sec * NS_PER_S + t.tv_nsec);
}

static struct told *told_in(const char *path)
{
	AUTO(closep) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(struct told)) < 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	return mapped(sizeof(struct told), MAP_SHARED, fd);
}

int main(int argc, char **argv)
{
	bool maps = argc == 3 && strcmp(argv[1], "maps") == 0;

	if (argc != 3 || !(maps || strcmp(argv[1], "calls") == 0)) {
		fprintf(stderr, "usage: bench_disturb calls|maps FILE\n");
		return EXIT_FAILURE;
	}
	size_t size = maps ? RESIDENT : WALKED;
	char *held = memory(size);

	for (size_t i = 0; i < size; i += PAGE)
		held[i] = 1;
	struct told *told = told_in(argv[2]);

	told->pid = (uint64_t)getpid();
	for (size_t i = 0; i < UNITS_MAX; i++) {
		if (maps)
			unit_of_maps();
		else
			unit_of_calls((volatile uint64_t *)(void *)held);
		told->unit[i].cpu = cpu_time();
		told->unit[i].at = (uint64_t)now_read().mono.ns;
	}
	return EXIT_SUCCESS;
}
