/* Exit accounting: the kernel sends a record of every task that ends, even if no parent waits for
 * the task. It needs CAP_NET_ADMIN in the initial namespaces. See
 * Documentation/accounting/taskstats.rst of the kernel.
 *
 * Version and size of a record differ by kernel. New fields come at the end, so the offsets are the
 * same in every version except 15 (Linux 6.14), which moved fields. Version 16 moved them back. A
 * record of version 15, or a record that is too short, is refused. */
#ifndef COLLECTORS_PROCESS_TASKSTATS_H
#define COLLECTORS_PROCESS_TASKSTATS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/process/netlink.h"

struct task_record {
	pid_t id; /* thread id; process id if `whole` */
	/* A sum over all threads of a process, sent with the last thread. */
	bool whole;
	pid_t process; /* that the thread belongs to; 0 = unknown (before Linux 5.17) */
	uint64_t cpu_ns;
	uint64_t elapsed_ns; /* since the task began, in steps of 1 us; 0 if `whole` */
	uint64_t peak_bytes; /* RSS high-water mark of the process; 0 if `whole` */
	/* Time spent waiting. I/O and memory are 0 unless kernel.task_delayacct is set. */
	uint64_t cpu_wait_ns, io_wait_ns, memory_wait_ns;
	/* Context switches. If `whole`: of threads that live, on newer kernels also of ended ones. */
	uint64_t voluntary, involuntary;
};

/* Calls `each` with every record in a datagram and returns their number. Adds the number of refused
 * records to `*refused`. */
size_t taskstats_parse(struct bytes datagram, uint16_t family,
	void (*each)(void *context, const struct task_record *r), void *context, size_t *refused);

/* Builds the request for the number of the family "TASKSTATS", and reads the answer; 0 =
 * missing. */
void taskstats_ask_family(struct netlink_request *ret);
uint16_t taskstats_family(struct bytes datagram);

/* Requests a record of each task that ends on CPUs 0 to n_cpus - 1, or of one live process. */
void taskstats_ask_ends(struct netlink_request *ret, uint16_t family, unsigned n_cpus);
void taskstats_ask_process(struct netlink_request *ret, uint16_t family, pid_t pid);

#endif
