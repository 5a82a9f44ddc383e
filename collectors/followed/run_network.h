/*
 * Bytes over the network of one run, where the network namespace that its processes are in tells them: a namespace
 * counts what passes its interfaces, not who sent it. So it is known where the namespace is not the machine's:
 *
 *	own     another namespace than ours: that of the job's container or pod
 *	shared  ours, when it is a container's or pod's: what we and everything else in it send counts too
 *
 * and unknown in the machine's namespace (collectors/machine/machine_network.h). Sampler thread only.
 */
#ifndef COLLECTORS_FOLLOWED_RUN_NETWORK_H
#define COLLECTORS_FOLLOWED_RUN_NETWORK_H

#include "collectors/machine/machine_network.h"
#include "collectors/kernel_file.h"

struct run_network {        /* zeroed memory: nothing seen yet */
	const char *source; /* "own" or "shared"; NULL = not known */
	char space
		[NAMESPACE_NAME_MAX]; /* the namespace that the counters are of: "net:[4026532281]" */
	pid_t pid;                    /* who was in it */
	unsigned looks;
	bool followed; /* the counters have a first reading */
	struct counter received, sent;
	double received_bytes, sent_bytes; /* since the first look */
};

/* pid: a living process of the run; 0 = there is none. Bytes since the first look; left alone while not known. */
void run_network_look(struct run_network *n, const struct host *h, pid_t pid, double *ret_received,
	double *ret_sent);

#endif
