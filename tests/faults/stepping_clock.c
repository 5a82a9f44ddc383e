/* A preloaded library that changes the clocks. Each variable names a file with a number.
 *
 * $STEPPING_CLOCK: CLOCK_REALTIME is this many seconds ahead, like after an NTP step. Time
 * namespaces do not change that clock.
 *
 * $SUSPENDED_CLOCK: CLOCK_REALTIME and CLOCK_BOOTTIME are this many seconds ahead, like after a
 * suspend, which CLOCK_MONOTONIC does not count.
 *
 * $SLOW_CLOCKS: reading a process's CPU clock takes this many seconds. $BUSY_CLOCKS: it takes this
 * many milliseconds of CPU time, like reading thousands of clocks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef int clock_function(clockid_t, struct timespec *);

static long number_in(const char *variable)
{
	const char *path = getenv(variable);
	FILE *file = path ? fopen(path, "re") : NULL;
	char text[32] = "";

	if (!file)
		return 0;
	if (!fgets(text, sizeof text, file))
		text[0] = '\0';
	fclose(file);
	return strtol(text, NULL, 10);
}

static void burn(clock_function *real, long milliseconds)
{
	struct timespec t;
	long end = -1, now;

	do {
		real(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * 1000 + t.tv_nsec / 1000000;
		end = end < 0 ? now + milliseconds : end;
	} while (now < end);
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static clock_function *real;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	int code = real(clock, ret);

	/* A negative clock id is the CPU clock of a process (clock_getcpuclockid(3)). */
	if (clock < 0) {
		sleep((unsigned)number_in("SLOW_CLOCKS"));
		burn(real, number_in("BUSY_CLOCKS"));
	}
	if (code == 0 && clock == CLOCK_REALTIME)
		ret->tv_sec += number_in("STEPPING_CLOCK");
	if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME))
		ret->tv_sec += number_in("SUSPENDED_CLOCK");
	return code;
}
