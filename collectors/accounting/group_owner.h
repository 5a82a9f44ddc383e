/* Finds the control group of a run, even in another container. Also finds out whether the run owns
 * the group: whether the group has only processes of the run. In that case, the kernel's numbers
 * for the group are the numbers of the run. */
#ifndef COLLECTORS_ACCOUNTING_GROUP_OWNER_H
#define COLLECTORS_ACCOUNTING_GROUP_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/cgroup/find.h"

/* Finds the control group of a process. If this program is in a cgroup namespace, the path of
 * another container's group begins with "/../" and cannot be used. The group is then found through
 * /proc/PID/root, which needs the same user or CAP_SYS_PTRACE. Returns -ENOENT without a message if
 * the group is not visible. */
int cgroup_of_process(struct cgroup *ret, const struct host *host, pid_t pid, struct err *e);

/* Returns the CPU seconds that a group has used since it was made; NaN = not counted. */
double cgroup_cpu_seconds(const struct cgroup *c, const struct host *h);

/* A function that returns true if a process in a group belongs to the run. If `is_member` is NULL,
 * all processes of the group belong to the run. */
struct group_members {
	bool (*is_member)(const void *context, pid_t pid);
	const void *context;
};

/* Removes from `c` the places of groups that the run does not own, by setting their version to 0.
 * `c` has one place for each controller. Returns true if any place is left. The run owns a group if
 * all of these are true:
 * - The run's root process `root` is in another group than this exporter.
 * - Every process in the group's list belongs to the run (`members`).
 * - No process of the group can be hidden from us (by hidepid, or by a PID namespace).
 * Call this function when the run begins. A process that enters the group later (kubectl exec, a
 * probe) counts as part of the run, because it uses the resources of the run's group. */
bool cgroup_keep_own(struct cgroup *c, const struct host *host, pid_t root,
	const struct group_members *members);

/* Returns true if cgroup.procs certainly lists all processes of the group, by pids of host->proc.
 * Processes of other PID namespaces may be missing: v1 silently leaves them out
 * (pidlist_array_load() in kernel/cgroup/cgroup-v1.c), and v2 lists them as 0. */
bool cgroup_lists_all(const struct cgroup_place *p, const struct host *host);

/* Calls `each` for every process of the group, with pid 0 for a process outside this PID namespace.
 * `each` must not read files through `host`, because the list is in the scratch buffer of `host`.
 * Returns a negative errno if the list cannot be read. */
int cgroup_place_processes(const struct cgroup_place *p, const struct host *host,
	void (*each)(void *context, pid_t pid), void *context);
/* Returns true if the group `p` has groups below it other than `but`, or if this is unknown. The
 * usage of groups below is part of the numbers of `p`, but their processes are not in the list of
 * `p`. If `but` is two or more levels below `p`, the result is true, because the groups between
 * them count. `but` may also be `p` itself or a group elsewhere. */
bool cgroup_has_groups_below(const struct cgroup_place *p, const struct cgroup_place *but);
/* Calls cgroup_place_processes for the first place in `c` whose version is not 0. */
int cgroup_processes(const struct cgroup *c, const struct host *host,
	void (*each)(void *context, pid_t pid), void *context);

#endif
