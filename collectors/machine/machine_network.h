/*
 * Whose network is the machine's: that of process 1 of the PID namespace that we see. Mostly we are in it as well. A
 * DaemonSet with hostPID is not: its pod has a network namespace of its own, and what that counts is nobody's but ours.
 *
 * Which namespace process 1 is in is told to whoever may look into it (ptrace(2), "read"): with SYS_PTRACE, or the same user.
 * Where it is not told, the machine's is ours.
 */
#ifndef COLLECTORS_MACHINE_MACHINE_NETWORK_H
#define COLLECTORS_MACHINE_MACHINE_NETWORK_H

#include "collectors/host.h"

#define NAMESPACE_NAME_MAX 64

/*
 * The name of the machine's network namespace, "net:[4026531840]", when it is another than ours. -ENOENT: it is ours, or nobody
 * tells; -ETIMEDOUT: to be asked again.
 */
int machine_network_space(const struct host *h, char ret[NAMESPACE_NAME_MAX]);

/*
 * What its interfaces are, when it is another than ours. A mounted sysfs shows those of one network namespace, whoever looks:
 * that in which it was mounted. Where none shows those of the machine, a tree without interfaces, since another card may
 * have the same name. Borrowed.
 */
int machine_network_sys(const struct host *h, struct tree **ret);

#endif
