/* The machine's network namespace is the one of process 1 in the PID namespace that /proc shows.
 * The exporter is usually in it too. A DaemonSet with hostPID is not: its pod has its own network
 * namespace, which counts only the exporter's traffic.
 *
 * The namespace of process 1 can be read with SYS_PTRACE or by the same user (ptrace(2), "read").
 * If it cannot be read, the exporter's own namespace counts as the machine's. */
#ifndef COLLECTORS_MACHINE_MACHINE_NETWORK_H
#define COLLECTORS_MACHINE_MACHINE_NETWORK_H

#include "collectors/host.h"

#define NAMESPACE_NAME_MAX 64

/* Writes the name of the machine's network namespace, such as "net:[4026531840]", if the exporter
 * is in another one. Returns -ENOENT if both are the same or the name cannot be read, and
 * -ETIMEDOUT if the caller should try again. */
int machine_network_space(const struct host *h, char ret[NAMESPACE_NAME_MAX]);

/* Finds the tree that shows the machine's interfaces, if the exporter is in another network
 * namespace. A mounted sysfs shows only the namespace in which it was mounted. If no open sysfs
 * shows the machine's, `ret` is a tree without interfaces, because another namespace may use the
 * same card names. The tree is borrowed. */
int machine_network_sys(const struct host *h, struct tree **ret);

#endif
