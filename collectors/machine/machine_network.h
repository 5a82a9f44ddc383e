/* The machine's network namespace is the network namespace of process 1 in the PID namespace that
 * /proc shows. The exporter is usually in the same namespace. An exception is an exporter in a
 * DaemonSet with hostPID: its pod has its own network namespace, which counts only the exporter's
 * traffic.
 *
 * The namespace of process 1 can be read with CAP_SYS_PTRACE or by the user of process 1
 * (ptrace(2), "read"). If it cannot be read, the exporter's own namespace counts as the
 * machine's. */
#ifndef COLLECTORS_MACHINE_MACHINE_NETWORK_H
#define COLLECTORS_MACHINE_MACHINE_NETWORK_H

#include "collectors/host.h"

#define NAMESPACE_NAME_MAX 64

/* Writes the name of the machine's network namespace to `ret`, such as "net:[4026531840]", if the
 * exporter is in another network namespace. Returns 0 or an error:
 * - -ENOENT: the exporter is in the machine's namespace, or a name cannot be read.
 * - -ETIMEDOUT: the caller should try again. */
int machine_network_space(const struct host *h, char ret[NAMESPACE_NAME_MAX]);

/* For an exporter outside the machine's network namespace: finds the tree that shows the machine's
 * interfaces. A mounted sysfs shows only the namespace in which it was mounted. If no open tree
 * shows the machine's interfaces, `*ret` is a tree without interfaces: a tree of another namespace
 * may have network cards with the same names. Do not free the tree. If the mount table of process 1
 * cannot be read, returns a negative errno and does not set `*ret`. */
int machine_network_sys(const struct host *h, struct tree **ret);

#endif
