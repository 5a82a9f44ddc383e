/*
 * Time that the threads of a live process spent waiting: for a CPU although ready to run, for
 * storage, and for memory. It distinguishes too few cores from an idle job.
 *
 * With CAP_NET_ADMIN the kernel reports the sums per process, ended threads included (taskstats).
 * Without it, the wait for a CPU is read from the schedstat file of each thread. The kernel counts
 * waits for storage and memory only while kernel.task_delayacct is 1.
 */
#ifndef COLLECTORS_PROCESS_DELAYS_H
#define COLLECTORS_PROCESS_DELAYS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/host.h"

/* Most threads of one process whose files are read. */
#define DELAYS_THREADS_MAX 256

struct delay_reader;

struct delay_reader *delay_reader_new(const struct host *host);
void delay_reader_free(struct delay_reader *r);

/* Does the kernel count waits for storage and memory, and can we read them? */
bool delay_reader_counts_all(const struct delay_reader *r);

struct delays {
	uint64_t cpu_ns, io_ns, memory_ns; /* the last two are 0 unless delay_reader_counts_all */
};

/* threads: as in the stat file of the process. Negative errno; -E2BIG: too many threads. */
int delays_read(struct delay_reader *r, const struct host *host, pid_t pid, uint64_t threads,
	struct delays *ret);

#endif
