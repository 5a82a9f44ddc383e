/* A control group made for one run, to get the exact CPU time of all its processes. The group is
 * below this process's group, sets no controller or limit, and is removed at the end.
 *
 * v2: the parent may be any writable group, because the kernel counts CPU time without a
 * controller. The kernel forbids processes in a group that has controllers enabled for its child
 * groups. No controller is enabled here (cgroup.subtree_control), so this rule does not apply. The
 * new group has two disadvantages:
 * - A program that enables controllers in the parent group finds one more child there.
 * - Processes that are moved out of the new group (systemd-run --scope) are not counted after the
 *   move.
 *
 * If systemd is the init process, it owns the groups. Then a group is made in only two cases:
 * - The unit of this process's group has Delegate=yes.
 * - The unit is a scope of a user's systemd without any other process. Delegate cannot be checked
 *   here, because a user's systemd does not mark its delegated units.
 *
 * v1: the group is made in the cpuacct hierarchy, if no other controller shares this hierarchy. The
 * cpu controller is not used, because a new group of this controller would get its own CPU shares
 * and no real-time budget. */
#ifndef COLLECTORS_ACCOUNTING_OWN_GROUP_H
#define COLLECTORS_ACCOUNTING_OWN_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/err.h"

#define OWN_GROUP_NAME_MAX 64

struct own_group {
	int parent, self; /* descriptors of the two directories; -1 = none */
	int procs;        /* descriptor of cgroup.procs, open for writing */
	int usage;        /* descriptor of cpu.stat (v2) or cpuacct.usage (v1) */
	int version;
	char name[OWN_GROUP_NAME_MAX];
};

#define OWN_GROUP_NONE ((struct own_group){-1, -1, -1, -1, 0, ""})

/* Returns true if a process in this group may make groups below it. `directory` is the path of the
 * group. `mount` is the length of the mount point's path, with which `directory` begins.
 * `under_systemd`: systemd is the init process. */
bool own_group_allowed(const char *directory, size_t mount, bool under_systemd);

/* Makes the group "rightsize-PID-RANDOM" in `directory` and removes leftover groups of ended
 * exporters. `version` is 1 (cpuacct) or 2. Returns 0, or a negative errno if this is not permitted
 * or not possible. The message is only for debugging. */
int own_group_make(struct own_group *ret, const char *directory, int version, struct err *e);

/* Moves the calling process into the group. Async-signal-safe. Returns false if the kernel
 * refuses. */
bool own_group_enter(const struct own_group *g);

/* Reads the CPU time of all processes that were ever in the group. Returns 0 or a negative
 * errno. */
int own_group_cpu_ns(const struct own_group *g, uint64_t *ret);

/* Moves the remaining processes to the parent group, removes the group and the empty groups below
 * it, and closes all files. The group stays if a group below it is in use, or if it still has
 * processes after 100 attempts. own_group_make of a later exporter removes such a group. */
void own_group_remove(struct own_group *g);

#endif
