/* CPU time that the whole machine spent: an upper bound of the CPU time that a run may have used
 * unseen. A process may start and end between two ticks. If its parent does not wait for it, only
 * the machine's counters in /proc/stat include its CPU time. */
#ifndef COLLECTORS_MACHINE_MACHINE_CPU_H
#define COLLECTORS_MACHINE_MACHINE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/clock.h"
#include "collectors/base/scan.h"

struct machine_cpu {
	struct mono at;
	unsigned cpus;
	/* Idle time of all CPUs since boot. The kernel measures idle time, but it only samples busy
	 * time, at each timer tick. */
	double idle_seconds;
	uint64_t births; /* processes and threads created since boot */
	/* Sums since the first reading of struct machine_steal. The caller copies them from there,
	 * because machine_cpu_parse does not set them. */
	double ran_seconds, stolen_seconds;
};

/* Parses /proc/stat. Returns false when a needed line is missing. */
bool machine_cpu_parse(struct scan text, struct mono at, long ticks_per_second,
	struct machine_cpu *ret);

/* Returns an upper bound of the CPU time that the machine used between two readings, in seconds. */
double machine_cpu_spent(const struct machine_cpu *earlier, const struct machine_cpu *later);

/* Stolen time is time in which a CPU of a virtual machine wanted to run, but the host ran other
 * work. Only stolen time that delayed running processes is counted here.
 *
 * A CPU that is nearly idle has to wait for the host each time it wakes up. Nearly all of its busy
 * time is then stolen, but hardly any process notices. Therefore the stolen time of each CPU is
 * multiplied by the share of its busy time in which it really ran: 0.1 for a CPU that ran 1 s and
 * was kept waiting for 9 s. */
struct machine_steal {
	size_t n, room;
	struct cpu_reading *cpu; /* one for each CPU, from the last reading */
	struct mono at;
	double ran_seconds, stolen_seconds;
};

/* Takes a reading of /proc/stat (`text`). Ignores a reading less than 0.1 s after the last one,
 * because the kernel counts in steps of 1/100 s. */
void machine_steal_look(struct machine_steal *s, struct scan text, struct mono at,
	long ticks_per_second);
void machine_steal_done(struct machine_steal *s);

/* Returns the stolen time between two readings as a fraction (0 to 1) of run time plus stolen time.
 * Returns NaN if both times are 0, for example because machine_steal_look was not called between
 * the readings. */
double machine_cpu_stolen(const struct machine_cpu *earlier, const struct machine_cpu *later);

/* Returns the CPU time of this program in seconds. */
double machine_cpu_own_seconds(void);

#endif
