/*
 * Exit accounting: what the kernel tells of every task when it ends, waited for or not (taskstats, CAP_NET_ADMIN
 * in the initial namespaces; Documentation/accounting/taskstats.rst of the kernel).
 *
 * Version and size of a record differ by kernel: new fields come at the end, so the offsets used here hold for
 * every version but 15 (Linux 6.14), which moved fields in the middle and was corrected by version 16. A record of
 * version 15, or one too short, is refused.
 */
#ifndef COLLECTORS_PROCESS_TASKSTATS_H
#define COLLECTORS_PROCESS_TASKSTATS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/process/netlink.h"

struct task_record {
	pid_t id; /* of the thread; of the process when whole */
	bool whole; /* sums over all threads of a process that had several; comes with the last of them */
	uint64_t cpu_ns;
	uint64_t
		elapsed_ns; /* from its start to this record, in microseconds; 0 in a whole record */
	uint64_t peak_bytes; /* RSS high-water mark of the process; 0 in a whole record */
	/* Time spent waiting. I/O and memory stay 0 while the kernel does not count them (task_delayacct). */
	uint64_t cpu_wait_ns, io_wait_ns, memory_wait_ns;
};

/*
 * Calls each with every record in a datagram of the family; returns how many there were. A record that is
 * refused counts in *refused.
 */
size_t taskstats_parse(struct bytes datagram, uint16_t family,
	void (*each)(void *context, const struct task_record *r), void *context, size_t *refused);

/* The number of the family "TASKSTATS" in the answer to taskstats_ask_family; 0 = not there. */
void taskstats_ask_family(struct netlink_request *ret);
uint16_t taskstats_family(struct bytes datagram);

/* Asks for a record of every task that ends on CPUs 0 to n_cpus - 1, or for that of a living process. */
void taskstats_ask_ends(struct netlink_request *ret, uint16_t family, unsigned n_cpus);
void taskstats_ask_process(struct netlink_request *ret, uint16_t family, pid_t pid);

#endif
