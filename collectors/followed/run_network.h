/* Network traffic of one run. The kernel counts bytes for a network namespace, not for a process.
 * The traffic of a run is known only if the run is in the namespace of a container or pod. It is
 * unknown in the machine's namespace. There are two sources:
 *
 * "own": the run and the exporter are in different namespaces. The run's namespace belongs to the
 * container or pod of the job.
 *
 * "shared": the run and the exporter are in the same namespace, which belongs to a container or
 * pod. The result includes the traffic of all processes in this namespace.
 *
 * See collectors/machine/machine_network.h for the machine's namespace. Sampler thread only. */
#ifndef COLLECTORS_FOLLOWED_RUN_NETWORK_H
#define COLLECTORS_FOLLOWED_RUN_NETWORK_H

#include "collectors/machine/machine_network.h"
#include "collectors/kernel_file.h"

struct run_network {        /* zeroed memory = nothing read yet */
	const char *source; /* "own" or "shared"; NULL = unknown */
	/* Name of the namespace that was read, such as "net:[4026532281]". */
	char space[NAMESPACE_NAME_MAX];
	pid_t pid; /* process whose namespace was read */
	unsigned looks;
	bool followed; /* the counters of the namespace have been read once */
	struct counter received, sent;
	double received_bytes, sent_bytes; /* bytes of the run since its first tick */
};

/* Sets *ret_received and *ret_sent to the bytes since the first tick. Leaves both unchanged when
 * the numbers are unknown. `pid` is a live process of the run; 0 = no live process. */
void run_network_look(struct run_network *n, const struct host *h, pid_t pid, double *ret_received,
	double *ret_sent);

#endif
