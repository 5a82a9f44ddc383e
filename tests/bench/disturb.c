/* Does work in units of equal size, and records the end of each unit, to measure how much a monitor
 * disturbs the work. Usage: bench_disturb KIND FILE [CPU]
 *
 * Kinds: "calls" walks through memory larger than the caches and makes system calls, a fixed amount
 * of both. "maps" is a process with 2 GiB that maps and unmaps memory. "switch" is two processes
 * that send one byte to and fro by pipes. "fork" starts a child, which ends at once, and waits for
 * it.
 *
 * A unit takes about a thousandth of a second. FILE contains 64-bit numbers. The first number is
 * the process's pid. Two numbers follow for each unit: the clock and the CPU time at its end, in
 * nanoseconds. The CPU time includes the second process and the children. The numbers are stored in
 * a mapping, without a system call, so that recording does not disturb the work. CPU pins the
 * process to that CPU. The program ends on a signal, or when FILE is full after an hour or more. */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

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

static struct {
	int to, from;
	clockid_t clock;
} partner;

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void *mapped(size_t size, int flags, int fd)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

static void *memory(size_t size)
{
	return mapped(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void unit_of_calls(char *held)
{
	volatile uint64_t *walked = (volatile uint64_t *)(void *)held;
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

static void unit_of_maps(char *held)
{
	(void)held;
	for (int i = 0; i < 10; i++) {
		char *p = memory(MAPPED);

		for (size_t k = 0; k < MAPPED; k += PAGE)
			p[k] = 1;
		munmap(p, MAPPED);
	}
}

static void begin_switch(void)
{
	int to[2], from[2];
	char byte;

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		fail("pipe");
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid == 0) {
		close(to[1]);
		while (read(to[0], &byte, 1) == 1)
			if (write(from[1], &byte, 1) != 1)
				break;
		_exit(EXIT_SUCCESS);
	}
	close(to[0]);
	close(from[1]);
	partner.to = to[1];
	partner.from = from[0];
	if (clock_getcpuclockid(pid, &partner.clock) != 0)
		fail("clock_getcpuclockid");
}

static void unit_of_switch(char *held)
{
	for (int i = 0; i < 100; i++)
		if (write(partner.to, held, 1) != 1 || read(partner.from, held, 1) != 1)
			fail("pipe");
}

static void unit_of_fork(char *held)
{
	(void)held;
	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(EXIT_SUCCESS);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			fail("fork");
	}
}

static const struct kind {
	const char *name;
	size_t held;
	void (*begin)(void);
	void (*unit)(char *held);
} kinds[] = {
	{"calls", WALKED, NULL, unit_of_calls},
	{"maps", RESIDENT, NULL, unit_of_maps},
	{"switch", PAGE, begin_switch, unit_of_switch},
	{"fork", PAGE, NULL, unit_of_fork},
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (uint64_t)(t.tv_sec * NS_PER_S + t.tv_nsec);
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)(t.tv_sec * NS_PER_S + t.tv_usec * 1000);
}

static uint64_t cpu_time(void)
{
	struct rusage children = {0};

	getrusage(RUSAGE_CHILDREN, &children);
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) + (partner.clock ? clock_ns(partner.clock) : 0) +
	       timeval_ns(children.ru_utime) + timeval_ns(children.ru_stime);
}

static struct told *told_in(const char *path)
{
	AUTO(closep) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(struct told)) < 0)
		fail(path);
	return mapped(sizeof(struct told), MAP_SHARED, fd);
}

static void stay_on(const char *text)
{
	struct scan s = SCAN(text, strlen(text));
	uint64_t number;
	cpu_set_t set;

	CPU_ZERO(&set);
	if (!scan_u64(&s, &number) || !scan_end(&s) || number >= CPU_SETSIZE) {
		fprintf(stderr, "bench_disturb: %s is no CPU\n", text);
		exit(EXIT_FAILURE);
	}
	CPU_SET(number, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		fail("sched_setaffinity");
}

int main(int argc, char **argv)
{
	const struct kind *kind = NULL;

	for (size_t i = 0; i < ARRAY_LEN(kinds) && argc >= 3; i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			kind = &kinds[i];
	if (!kind || argc > 4) {
		fprintf(stderr, "usage: bench_disturb calls|maps|switch|fork FILE [CPU]\n");
		return EXIT_FAILURE;
	}
	if (argc == 4)
		stay_on(argv[3]);
	char *held = memory(kind->held);

	for (size_t i = 0; i < kind->held; i += PAGE)
		held[i] = 1;
	struct told *told = told_in(argv[2]);

	if (kind->begin)
		kind->begin();
	told->pid = (uint64_t)getpid();
	for (size_t i = 0; i < UNITS_MAX; i++) {
		kind->unit(held);
		told->unit[i].cpu = cpu_time();
		told->unit[i].at = (uint64_t)now_read().mono.ns;
	}
	return EXIT_SUCCESS;
}
