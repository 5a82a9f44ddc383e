/*
 * A control group made for one run, for the exact CPU time of all its processes. It lies below this
 * process's group, sets no controller or limit, and is removed at the end.
 * v2: any group that is writable will do. CPU time is counted without a controller, so
 * cgroup.subtree_control stays unchanged and the rule against processes in inner groups is not
 * broken. Two costs: enabling controllers in the parent group finds one more child there, and
 * processes moved out of the new group (systemd-run --scope) are no longer counted.
 * Below systemd a group is divided only in two cases: its unit says Delegate=yes, or it is a scope
 * of a user's systemd with no other process. A user's systemd does not mark its delegated units.
 * All other groups belong to systemd.
 * v1: in the cpuacct hierarchy, if no other controller shares it: a new cpu group would get shares
 * and no real-time budget.
 */
#ifndef COLLECTORS_ACCOUNTING_OWN_GROUP_H
#define COLLECTORS_ACCOUNTING_OWN_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/err.h"

#define OWN_GROUP_NAME_MAX 64

struct own_group {
	int parent, self; /* directories; -1 = none */
	int procs;        /* cgroup.procs, for writing */
	int usage;        /* cpu.stat or cpuacct.usage */
	int version;
	char name[OWN_GROUP_NAME_MAX];
};

#define OWN_GROUP_NONE ((struct own_group){-1, -1, -1, -1, 0, ""})

/*
 * True if a process in this group may divide it. directory: path of the group; mount: length of its
 * mount point; under_systemd: systemd is the init process.
 */
bool own_group_allowed(const char *directory, size_t mount, bool under_systemd);

/*
 * Makes "rightsize-PID-RANDOM" in directory and removes leftovers of ended exporters. version: 1
 * (cpuacct) or 2. Negative errno: not permitted or not possible; the message is for debugging only.
 */
int own_group_make(struct own_group *ret, const char *directory, int version, struct err *e);

/* Moves the calling process into the group; async-signal-safe. False if refused. */
bool own_group_enter(const struct own_group *g);

/* CPU time of all processes that ever were in the group. Negative errno. */
int own_group_cpu_ns(const struct own_group *g, uint64_t *ret);

/*
 * Moves remaining processes to the parent group, removes the group and the empty groups below, and
 * closes everything. A group with a used group below stays; the next own_group_make after its end
 * removes it.
 */
void own_group_remove(struct own_group *g);

#endif
