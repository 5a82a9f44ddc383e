/*
 * Exit accounting: the kernel sends a record of every task that ends, waited for or not. It needs
 * CAP_NET_ADMIN in the initial namespaces; see Documentation/accounting/taskstats.rst of the
 * kernel.
 *
 * Version and size of a record differ by kernel. New fields come at the end, so the offsets hold
 * for every version but 15 (Linux 6.14), which moved fields; version 16 moved them back. A record
 * of version 15, or one that is too short, is refused.
 */
#ifndef COLLECTORS_PROCESS_TASKSTATS_H
#define COLLECTORS_PROCESS_TASKSTATS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/process/netlink.h"

struct task_record {
	pid_t id; /* thread id; process id when whole */
	/* The sum of several threads, sent with the last one of the process. */
	bool whole;
	uint64_t cpu_ns;
	uint64_t elapsed_ns; /* since the task began, in steps of 1 us; 0 in a whole record */
	uint64_t peak_bytes; /* RSS high-water mark of the process; 0 in a whole record */
	/* Time spent waiting. I/O and memory need kernel.task_delayacct; else 0. */
	uint64_t cpu_wait_ns, io_wait_ns, memory_wait_ns;
};

/* Calls each with every record in a datagram; returns their number. Counts *refused ones. */
size_t taskstats_parse(struct bytes datagram, uint16_t family,
	void (*each)(void *context, const struct task_record *r), void *context, size_t *refused);

/* Request and answer for the number of the family "TASKSTATS"; 0 = missing. */
void taskstats_ask_family(struct netlink_request *ret);
uint16_t taskstats_family(struct bytes datagram);

/* Requests records of all tasks that end on CPUs 0 to n_cpus - 1, or of a live process. */
void taskstats_ask_ends(struct netlink_request *ret, uint16_t family, unsigned n_cpus);
void taskstats_ask_process(struct netlink_request *ret, uint16_t family, pid_t pid);

#endif
