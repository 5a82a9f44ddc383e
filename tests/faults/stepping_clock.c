/*
 * To be preloaded: CLOCK_REALTIME is as many seconds ahead as the file that $STEPPING_CLOCK names says, as after a
 * step of NTP. Time namespaces do not move that clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int clock_function(clockid_t, struct timespec *);

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static clock_function *real;
	const char *path = getenv("STEPPING_CLOCK");

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	int code = real(clock, ret);
	FILE *file = code == 0 && clock == CLOCK_REALTIME && path ? fopen(path, "re") : NULL;
	char text[32];

	if (!file)
		return code;
	if (fgets(text, sizeof text, file))
		ret->tv_sec += strtol(text, NULL, 10);
	fclose(file);
	return code;
}
