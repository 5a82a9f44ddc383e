/* Two types of time that cannot be mixed: mono measures durations, wall gives the date and time of
 * day. Each round of readings (tick) of the sampler reads both once. */
#ifndef COLLECTORS_BASE_CLOCK_H
#define COLLECTORS_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct mono {
	int64_t ns; /* CLOCK_BOOTTIME: continues while the machine sleeps, never steps */
};

struct wall {
	int64_t ns; /* CLOCK_REALTIME, nanoseconds since 1970 UTC; may step */
};

struct now {
	struct mono mono;
	struct wall wall;
};

#define NS_PER_S 1000000000LL

struct now now_read(void);

/* clock_read and clock_read_ns read any clock in nanoseconds. If the process or thread of the clock
 * has ended, clock_read returns false and clock_read_ns returns 0. */
bool clock_read(clockid_t id, uint64_t *ret_ns);
int64_t clock_read_ns(clockid_t id);

/* Returns the id of the clock that measures the CPU time of a process. Makes no system call: unlike
 * clock_getcpuclockid(3), does not check the pid. */
static inline clockid_t clock_of_process(pid_t pid)
{
	return (clockid_t)((~(unsigned)pid << 3) | 2);
}

static inline double mono_seconds_between(struct mono earlier, struct mono later)
{
	return (double)(later.ns - earlier.ns) / 1e9;
}

static inline double wall_seconds(struct wall w)
{
	return (double)w.ns / 1e9;
}

/* Converts seconds since 1970. A time that cannot be represented becomes the nearest time that can
 * (years 1677 to 2262). NaN becomes 1970. */
static inline struct wall wall_from_seconds(double seconds)
{
	/* minus 1, because INT64_MAX as a double is rounded up to 2^63, which does not fit into
	 * int64_t */
	const double most = (double)INT64_MAX / 1e9 - 1;
	double near = seconds > most ? most : seconds < -most ? -most : seconds;

	return (struct wall){.ns = near == near ? (int64_t)(near * 1e9) : 0};
}

/* Returns a deadline for condition variables: CLOCK_MONOTONIC plus `seconds`. A wait of more than a
 * century becomes a century. */
struct timespec monotonic_after(double seconds);

/* Writes RFC 3339 in UTC: "2026-11-21T08:45:12.123Z". */
#define WALL_TEXT_MAX 80
void wall_text(char out[WALL_TEXT_MAX], struct wall w);

#endif
