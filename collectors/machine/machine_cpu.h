/*
 * What the whole machine spent, as an upper bound for what a run may have used unseen: a process that is born and
 * gone between two looks, and waited for by nobody, leaves no trace in /proc but here.
 */
#ifndef COLLECTORS_MACHINE_MACHINE_CPU_H
#define COLLECTORS_MACHINE_MACHINE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/clock.h"
#include "collectors/base/scan.h"

struct machine_cpu {
	struct mono at;
	unsigned cpus;
	/*
	 * Not busy, by all CPUs since boot: the kernel measures idle time, where it only samples who was busy at
	 * each tick.
	 */
	double idle_seconds;
	uint64_t births; /* of processes and threads since boot */
	/* As of struct machine_steal: what all CPUs ran since it began, and what was stolen from who ran. */
	double ran_seconds, stolen_seconds;
};

/* From /proc/stat. False when a line that is needed is missing. */
bool machine_cpu_parse(struct scan text, struct mono at, long ticks_per_second,
	struct machine_cpu *ret);

/* CPU time that can have been used between two readings, at most. */
double machine_cpu_spent(const struct machine_cpu *earlier, const struct machine_cpu *later);

/*
 * Time in which a virtual machine's CPUs wanted to run and its host let others, as it met who was running. A CPU that
 * wakes up now and then waits for the host before it runs: then nearly all that it seems busy is stolen, and hardly
 * anybody meets that. So of each CPU's stolen time counts the part that its own running has in its busy time.
 */
struct machine_steal {
	size_t n, room;
	struct cpu_reading *cpu; /* when it was looked at last */
	struct mono at;
	double ran_seconds, stolen_seconds;
};

/* From /proc/stat; what is looked at sooner than ticks can tell is left for the next time. */
void machine_steal_look(struct machine_steal *s, struct scan text, struct mono at,
	long ticks_per_second);
void machine_steal_done(struct machine_steal *s);

/* The part of what ran between two readings, stolen time included, that was stolen, 0 to 1; NaN = not looked at between. */
double machine_cpu_stolen(const struct machine_cpu *earlier, const struct machine_cpu *later);

/* CPU time of this program. */
double machine_cpu_own_seconds(void);

#endif
