/* The limit on the address space of a run: RLIMIT_AS or RLIMIT_DATA (getrlimit(2)). Some batch
 * systems set this limit to the requested memory. A program that reaches it gets failed
 * allocations, but the kernel kills no process and counts no event.
 *
 * The limit is read from the process with the most memory. The limit is read again when another
 * process becomes the largest, or when the largest process executes another program. At most 64
 * programs of a run are read.
 *
 * Sampler thread only. */
#ifndef COLLECTORS_FOLLOWED_RUN_ADDRESSES_H
#define COLLECTORS_FOLLOWED_RUN_ADDRESSES_H

#include "collectors/process/tree.h"

struct run_addresses {        /* zeroed memory = nothing read yet */
	pid_t pid;            /* the process that was read last */
	uint64_t stack_start; /* changes when that process executes a program */
	unsigned looks;       /* number of programs whose limits were read */
	/* For the last process that was read and has a limit (`limited_pid`). `limit_bytes`: the
	 * smaller of its two limits. `peak_bytes`: the largest use that counts against this limit.
	 * 0 = no limit, or unknown. A limit that the process sets after the reading is not seen. */
	uint64_t limit_bytes, peak_bytes;
	bool limits_data; /* true: limit_bytes is RLIMIT_DATA; false: RLIMIT_AS */
	pid_t limited_pid;
	uint64_t limited_stack_start;
};

void run_addresses_look(struct run_addresses *a, const struct host *h,
	const struct process_tree *tree);

#endif
