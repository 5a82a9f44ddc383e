/*
 * Network traffic of one run. A network namespace counts the bytes on its interfaces, not who sent
 * them. Traffic is known outside the machine's namespace only, from one of two sources:
 *
 * "own": another namespace than ours, that of the job's container or pod.
 * "shared": our namespace, that of a container or pod; includes traffic of ours and of all others
 * in it.
 *
 * See collectors/machine/machine_network.h for the machine's namespace. Sampler thread only.
 */
#ifndef COLLECTORS_FOLLOWED_RUN_NETWORK_H
#define COLLECTORS_FOLLOWED_RUN_NETWORK_H

#include "collectors/machine/machine_network.h"
#include "collectors/kernel_file.h"

struct run_network {        /* zeroed memory: nothing seen yet */
	const char *source; /* "own" or "shared"; NULL = unknown */
	/* The namespace of the counters: "net:[4026532281]". */
	char space[NAMESPACE_NAME_MAX];
	pid_t pid; /* process that was found in it */
	unsigned looks;
	bool followed; /* the counters have their first reading */
	struct counter received, sent;
	double received_bytes, sent_bytes; /* since the first look */
};

/* pid: a live process; 0 = none. Sets the bytes since the first look, or nothing if unknown. */
void run_network_look(struct run_network *n, const struct host *h, pid_t pid, double *ret_received,
	double *ret_sent);

#endif
