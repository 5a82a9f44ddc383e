/* The machine's idle time and births from /proc/stat. */
#include "collectors/machine_cpu.h"

/* "cpu  user nice system idle iowait ...", in ticks. */
static bool idle_of(struct scan line, long ticks_per_second, double *ret)
{
	uint64_t user, nice, system, idle, iowait = 0;

	if (!scan_u64(&line, &user) || !scan_u64(&line, &nice) || !scan_u64(&line, &system) ||
		!scan_u64(&line, &idle))
		return false;
	scan_u64(&line, &iowait);
	*ret = ((double)idle + (double)iowait) / (double)ticks_per_second;
	return true;
}

bool machine_cpu_parse(struct scan text, struct mono at, long ticks_per_second,
	struct machine_cpu *ret)
{
	struct machine_cpu m = {.at = at};
	bool idle = false, births = false;
	struct scan line;

	while (scan_line(&text, &line)) {
		if (scan_literal(&line, "cpu ")) {
			idle = idle_of(line, ticks_per_second, &m.idle_seconds);
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

void missed_cpu_add(struct missed_cpu *m, double spent, double known, bool changes)
{
	double missed = spent - known;

	if (missed > 0 && !changes)
		return;
	m->seconds += missed;
	if (!(m->seconds > 0))
		m->seconds = 0;
}
