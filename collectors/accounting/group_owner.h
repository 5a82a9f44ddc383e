/* Finds the control group of a run, even in another container, and whether the run owns the group.
 * If the run owns its group, the kernel's numbers for the group are the numbers of the run. */
#ifndef COLLECTORS_ACCOUNTING_GROUP_OWNER_H
#define COLLECTORS_ACCOUNTING_GROUP_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/cgroup/find.h"

/* Finds the control group of a process. Inside a cgroup namespace, the path of another container's
 * group begins with "/../" and cannot be used. That group is then found through /proc/PID/root,
 * which needs the same user or CAP_SYS_PTRACE. Returns -ENOENT without a message if the group is
 * not visible. */
int cgroup_of_process(struct cgroup *ret, const struct host *host, pid_t pid, struct err *e);

/* CPU seconds of a group since it was made; NaN = not counted. */
double cgroup_cpu_seconds(const struct cgroup *c, const struct host *h);

/* A function that returns true if a process in a group belongs to the run. If `is_member` is NULL,
 * all processes of the group belong to the run. */
struct group_members {
	bool (*is_member)(const void *context, pid_t pid);
	const void *context;
};

/* Keeps in `c` only the controllers whose group contains no process outside the run. Sets the
 * version of all other controllers to 0. Returns true if any controller is left.
 * A group is kept if all of these are true:
 * - The root is in another group than this exporter.
 * - Every process in the group's list is a member of the run.
 * - No process of the group can be hidden from us (by hidepid, or by a PID namespace).
 * Call when the run begins. A process that enters the group later (kubectl exec, a probe) uses the
 * run's resources, and counts as part of the run. */
bool cgroup_keep_own(struct cgroup *c, const struct host *host, pid_t root,
	const struct group_members *members);

/* Returns true if cgroup.procs surely lists all processes of the group, by pids of host->proc. v1
 * silently leaves out processes of other PID namespaces (pidlist_array_load() in
 * kernel/cgroup/cgroup-v1.c); v2 lists them as 0. */
bool cgroup_lists_all(const struct cgroup_place *p, const struct host *host);

/* Calls `each` for every process of the group, with pid 0 for a process outside this PID namespace.
 * `each` must not read files through `host`, because the list is in the scratch buffer of `host`.
 * Returns a negative errno if the list cannot be read. */
int cgroup_place_processes(const struct cgroup_place *p, const struct host *host,
	void (*each)(void *context, pid_t pid), void *context);
/* Returns true if `p` has groups below it other than `but`, or if this is unknown. Also returns
 * true if `but` is two or more levels below `p`, because the groups between them are other groups.
 * `but` may also be `p` itself or a group elsewhere. Groups below matter because their usage is
 * part of the group's numbers, but their processes are not in the group's list. */
bool cgroup_has_groups_below(const struct cgroup_place *p, const struct cgroup_place *but);
/* Like cgroup_place_processes, for the first controller that has a group. */
int cgroup_processes(const struct cgroup *c, const struct host *host,
	void (*each)(void *context, pid_t pid), void *context);

#endif
