/* The machine's idle and stolen time and births from /proc/stat. */
#include "collectors/machine_cpu.h"

/* "cpu  user nice system idle iowait irq softirq steal ...", in ticks; old kernels end earlier. */
static bool times_of(struct scan line, long ticks_per_second, struct machine_cpu *m)
{
	enum { IDLE = 3, IOWAIT = 4, STEAL = 7, TIMES };
	uint64_t time[TIMES] = {0};
	size_t n = 0;

	while (n < TIMES && scan_u64(&line, &time[n]))
		n++;
	m->idle_seconds = (double)(time[IDLE] + time[IOWAIT]) / (double)ticks_per_second;
	m->stolen_seconds = (double)time[STEAL] / (double)ticks_per_second;
	return n > IDLE;
}

bool machine_cpu_parse(struct scan text, struct mono at, long ticks_per_second,
	struct machine_cpu *ret)
{
	struct machine_cpu m = {.at = at};
	bool idle = false, births = false;
	struct scan line;

	while (scan_line(&text, &line)) {
		if (scan_literal(&line, "cpu ")) {
			idle = times_of(line, ticks_per_second, &m);
		} else if (scan_literal(&line, "cpu")) {
			m.cpus++;
		} else if (scan_literal(&line, "processes ")) {
			births = scan_u64(&line, &m.births);
			break; /* nothing of use follows */
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

	/* Idle time falls when a CPU goes offline. */
	return idle > 0 ? (idle < all ? all - idle : 0) : all;
}

double machine_cpu_stolen(const struct machine_cpu *earlier, const struct machine_cpu *later)
{
	double spent = machine_cpu_spent(earlier, later);
	double stolen = later->stolen_seconds - earlier->stolen_seconds;

	if (!(stolen > 0) || !(spent > 0))
		return 0;
	return stolen < spent ? stolen / spent : 1;
}
