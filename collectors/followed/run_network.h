/* Network traffic of one run. A network namespace counts the bytes on its interfaces, but not which
 * process sent them. Traffic is known only outside the machine's own namespace, from one of two
 * sources:
 *
 * "own": the run is in another namespace than the exporter, which belongs to the job's container or
 * pod.
 *
 * "shared": the run is in the exporter's namespace, which belongs to a container or pod. The
 * traffic includes that of all processes in this namespace.
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
	bool followed; /* the counters have been read once */
	struct counter received, sent;
	double received_bytes, sent_bytes; /* since the first tick */
};

/* `pid` is a live process of the run; 0 = none. Sets the bytes since the first tick. Leaves both
 * values unchanged when they are unknown. */
void run_network_look(struct run_network *n, const struct host *h, pid_t pid, double *ret_received,
	double *ret_sent);

#endif
