/*
 * What the whole machine spent, as an upper bound for what a run may have used unseen: a process that is born and
 * gone between two looks, and waited for by nobody, leaves no trace in /proc but here.
 */
#ifndef COLLECTORS_MACHINE_CPU_H
#define COLLECTORS_MACHINE_CPU_H

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
	double stolen_seconds; /* a virtual machine's CPUs wanted to run, and its host let others */
	uint64_t births;       /* of processes and threads since boot */
};

/* From /proc/stat. False when a line that is needed is missing. */
bool machine_cpu_parse(struct scan text, struct mono at, long ticks_per_second,
	struct machine_cpu *ret);

/* CPU time that can have been used between two readings, at most. */
double machine_cpu_spent(const struct machine_cpu *earlier, const struct machine_cpu *later);

/* The part of what was not idle between two readings that was stolen, 0 to 1. */
double machine_cpu_stolen(const struct machine_cpu *earlier, const struct machine_cpu *later);

#endif
