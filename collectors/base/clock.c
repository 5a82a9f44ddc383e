/* Reads the system's clocks. */
#include "collectors/base/clock.h"

#include <stdio.h>

bool clock_read(clockid_t id, uint64_t *ret_ns)
{
	struct timespec t = {0};

	if (clock_gettime(id, &t) < 0)
		return false;
	*ret_ns = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
	return true;
}

int64_t clock_read_ns(clockid_t id)
{
	uint64_t ns = 0;

	clock_read(id, &ns);
	return (int64_t)ns;
}

struct now now_read(void)
{
	return (struct now){{clock_read_ns(CLOCK_BOOTTIME)}, {clock_read_ns(CLOCK_REALTIME)}};
}

#define CENTURY 3155760000.0

struct timespec monotonic_after(double seconds)
{
	int64_t ns = clock_read_ns(CLOCK_MONOTONIC) +
		     (int64_t)((seconds < CENTURY ? seconds : CENTURY) * (double)NS_PER_S);

	return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

void wall_text(char out[WALL_TEXT_MAX], struct wall w)
{
	int64_t seconds = w.ns / NS_PER_S, rest = w.ns % NS_PER_S;

	if (rest < 0) {
		rest += NS_PER_S;
		seconds--;
	}
	time_t t = (time_t)seconds;
	struct tm tm = {0};

	gmtime_r(&t, &tm);
	snprintf(out, WALL_TEXT_MAX, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
		(tm.tm_year + 1900) % 10000, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
		tm.tm_sec, (int)(rest / 1000000));
}
