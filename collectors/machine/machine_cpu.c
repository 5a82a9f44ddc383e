/* Reads idle time, stolen time and the number of created processes from /proc/stat. */
#include "collectors/machine/machine_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "collectors/base/mem.h"

/* Times from a line "cpu user nice system idle iowait irq softirq steal ...", which counts in
 * ticks. Old kernels write fewer columns. */
struct cpu_reading {
	double idle_seconds, stolen_seconds;
	bool counted; /* false = all times are 0, because the kernel counts none, as in gVisor */
};

static bool times_of(struct scan line, long ticks_per_second, struct cpu_reading *ret)
{
	enum { IDLE = 3, IOWAIT = 4, STEAL = 7, TIMES };
	uint64_t time[TIMES] = {0};
	size_t n = 0;

	ret->counted = false;
	while (n < TIMES && scan_u64(&line, &time[n]))
		ret->counted |= time[n++] > 0;
	ret->idle_seconds = (double)(time[IDLE] + time[IOWAIT]) / (double)ticks_per_second;
	ret->stolen_seconds = (double)time[STEAL] / (double)ticks_per_second;
	return n > IDLE;
}

bool machine_cpu_parse(struct scan text, struct mono at, long ticks_per_second,
	struct machine_cpu *ret)
{
	struct machine_cpu m = {.at = at};
	struct cpu_reading all;
	bool idle = false, births = false;
	struct scan line;

	while (scan_line(&text, &line)) {
		if (scan_literal(&line, "cpu ")) {
			idle = times_of(line, ticks_per_second, &all);
			m.idle_seconds = all.idle_seconds;
		} else if (scan_literal(&line, "cpu")) {
			m.cpus++;
		} else if (scan_literal(&line, "processes ")) {
			births = scan_u64(&line, &m.births);
			break; /* the lines after "processes" are not needed */
		}
	}
	if (!idle || !births || m.cpus == 0)
		return false;
	*ret = m;
	return true;
}

double machine_cpu_spent(const struct machine_cpu *earlier, const struct machine_cpu *later)
{
	unsigned cpus = earlier->cpus > later->cpus ? earlier->cpus : later->cpus;
	double all = mono_seconds_between(earlier->at, later->at) * cpus;
	double idle = later->idle_seconds - earlier->idle_seconds;

	/* `idle` may be negative, because the idle time of all CPUs falls when a CPU goes offline.
	 * In this case, count all time as spent. */
	return idle > 0 ? (idle < all ? all - idle : 0) : all;
}

/* ---- steal ---- */

#define STEAL_SECONDS 0.1

static double between(double v, double least, double most)
{
	return v > least ? (v < most ? v : most) : least;
}

static void add_cpu(struct machine_steal *s, const struct cpu_reading *before,
	const struct cpu_reading *now, double elapsed)
{
	double busy = between(elapsed - (now->idle_seconds - before->idle_seconds), 0, elapsed);
	double stolen = between(now->stolen_seconds - before->stolen_seconds, 0, busy);

	s->ran_seconds += busy - stolen;
	if (busy > 0)
		s->stolen_seconds += stolen * (1 - stolen / busy);
}

/* Reads the lines "cpuN ..." that count times. The n-th line is compared with the n-th line of the
 * last reading. If the number of CPUs changed, the time since the last reading is not counted. */
void machine_steal_look(struct machine_steal *s, struct scan text, struct mono at,
	long ticks_per_second)
{
	double elapsed = mono_seconds_between(s->at, at);
	double ran = s->ran_seconds, stolen = s->stolen_seconds;
	size_t n = 0, known = s->n;
	struct scan line;
	uint64_t number;

	if (s->at.ns && elapsed < STEAL_SECONDS)
		return;
	while (scan_line(&text, &line)) {
		struct cpu_reading now;

		if (scan_literal(&line, "cpu ") || !scan_literal(&line, "cpu"))
			continue;
		if (!scan_u64(&line, &number) || !times_of(line, ticks_per_second, &now) ||
			!now.counted)
			continue;
		if (n == s->n) {
			GROW(s->cpu, s->n, s->room);
			s->n++;
		} else if (n < known && s->at.ns) {
			add_cpu(s, &s->cpu[n], &now, elapsed);
		}
		s->cpu[n++] = now;
	}
	if (n != known) {
		s->ran_seconds = ran;
		s->stolen_seconds = stolen;
	}
	s->n = n;
	s->at = at;
}

void machine_steal_done(struct machine_steal *s)
{
	free(s->cpu);
	*s = (struct machine_steal){0};
}

double machine_cpu_stolen(const struct machine_cpu *earlier, const struct machine_cpu *later)
{
	double stolen = later->stolen_seconds - earlier->stolen_seconds;
	double all = later->ran_seconds - earlier->ran_seconds + stolen;

	return all > 0 ? stolen / all : (double)NAN;
}

double machine_cpu_own_seconds(void)
{
	uint64_t ns = 0;

	clock_read(CLOCK_PROCESS_CPUTIME_ID, &ns);
	return (double)ns / 1e9;
}
