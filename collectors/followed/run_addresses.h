/* The limit of addresses of a run: RLIMIT_AS or RLIMIT_DATA (getrlimit(2)), which some batch systems
 * set to the request. At such a limit an allocation fails, and no kill is counted. It is read from the
 * process with the most memory, when another process becomes the largest or when it executes another
 * program.
 *
 * Sampler thread only. */
#ifndef COLLECTORS_FOLLOWED_RUN_ADDRESSES_H
#define COLLECTORS_FOLLOWED_RUN_ADDRESSES_H

#include "collectors/process/tree.h"

struct run_addresses {        /* zeroed memory = nothing read yet */
	pid_t pid;            /* the process that was read last */
	uint64_t stack_start; /* changes when that process executes a program */
	unsigned looks;       /* number of programs that were read */
	/* The smaller of both limits of the newest process that has one, and the most that it
	 * counted of this process, in bytes. 0 = no limit, or unknown. A limit that the process
	 * sets itself after it was read is not seen. */
	uint64_t limit_bytes, peak_bytes;
	bool limits_data; /* it is RLIMIT_DATA */
	pid_t limited_pid;
};

void run_addresses_look(struct run_addresses *a, const struct host *h,
	const struct process_tree *tree);

#endif
