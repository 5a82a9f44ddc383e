/* Exit accounting: the kernel sends a record of every task that ends, even if no parent waits for
 * the task. The receiver needs CAP_NET_ADMIN in the initial namespaces. See
 * Documentation/accounting/taskstats.rst of the kernel.
 *
 * Each kernel has its own version and size of a record. New fields are added at the end, so a field
 * has the same offset in every version. Version 15 (Linux 6.14) is an exception: it moved fields,
 * and version 16 moved them back. This program refuses a record of version 15, and a record that is
 * too short. */
#ifndef COLLECTORS_PROCESS_TASKSTATS_H
#define COLLECTORS_PROCESS_TASKSTATS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/process/netlink.h"

struct task_record {
	pid_t id; /* thread id; process id if `whole` */
	/* true = the record is the sum over all threads of a process. The kernel sends this record
	 * together with the record of the last thread. */
	bool whole;
	pid_t process; /* process of the thread; 0 = unknown (before Linux 5.17) */
	uint64_t cpu_ns;
	uint64_t elapsed_ns; /* time since the task began, in steps of 1 us; 0 if `whole` */
	uint64_t peak_bytes; /* RSS high-water mark of the process; 0 if `whole` */
	/* Waiting times. io_wait_ns and memory_wait_ns are 0 unless kernel.task_delayacct is
	 * set. */
	uint64_t cpu_wait_ns, io_wait_ns, memory_wait_ns;
	/* Context switches. If `whole` is true: the sum over the living threads; on some kernels
	 * also over ended threads. */
	uint64_t voluntary, involuntary;
};

/* Calls `each` with every record in a datagram and returns their number. Adds the number of refused
 * records to `*refused`. */
size_t taskstats_parse(struct bytes datagram, uint16_t family,
	void (*each)(void *context, const struct task_record *r), void *context, size_t *refused);

/* The kernel assigns a number to the netlink family "TASKSTATS". taskstats_ask_family builds the
 * request for this number. taskstats_family reads the number from the answer; 0 = there is no such
 * family. */
void taskstats_ask_family(struct netlink_request *ret);
uint16_t taskstats_family(struct bytes datagram);

/* taskstats_ask_ends builds the request for the records of all tasks that end on the CPUs 0 to
 * n_cpus - 1. taskstats_ask_process builds the request for the record of one live process. */
void taskstats_ask_ends(struct netlink_request *ret, uint16_t family, unsigned n_cpus);
void taskstats_ask_process(struct netlink_request *ret, uint16_t family, pid_t pid);

#endif
