/* Reads how long the threads of a live process waited for a CPU, for storage and for memory. Also
 * reads how often they stopped running (context switches). If threads wait for a CPU, the process
 * has too few cores. An idle job does not wait for a CPU.
 *
 * With CAP_NET_ADMIN the kernel reports one sum per process (taskstats), whose times include ended
 * threads. Without CAP_NET_ADMIN, the wait for a CPU is read from the schedstat file of each
 * thread. If a process has several threads, the context switches are read from the status file of
 * each thread. The kernel counts waits for storage and memory only while kernel.task_delayacct is
 * 1. */
#ifndef COLLECTORS_PROCESS_DELAYS_H
#define COLLECTORS_PROCESS_DELAYS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/host.h"

/* If a process has more threads than this, its schedstat files are not read. */
#define DELAYS_THREADS_MAX 256

struct delay_reader;

struct delay_reader *delay_reader_new(const struct host *host);
void delay_reader_free(struct delay_reader *r);

/* Returns true when the kernel counts waits for storage and memory and we can read them. */
bool delay_reader_counts_all(const struct delay_reader *r);

/* Returns true when the kernel reports the context switches of a process. In this case, do not use
 * the counts in the status file: the two counts are not comparable. */
bool delay_reader_has_switches(const struct delay_reader *r);

struct delays {
	/* Waiting times. io_ns and memory_ns are 0 unless delay_reader_counts_all returns true. */
	uint64_t cpu_ns, io_ns, memory_ns;
	/* Context switches of the living threads. If the sum is from taskstats, some kernels also
	 * include ended threads. */
	uint64_t voluntary, involuntary;
	/* false = the process has one thread, and its context switches are only in its status
	 * file. */
	bool switches_known;
};

/* Reads the delays of a process. `threads` is the number of threads in its stat file. Returns 0 or
 * a negative errno. -E2BIG: the process has more than DELAYS_THREADS_MAX threads. */
int delays_read(struct delay_reader *r, const struct host *host, pid_t pid, uint64_t threads,
	struct delays *ret);

#endif
