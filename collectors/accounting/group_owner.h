/*
 * The control group of a run: where its files are, even in another container, and whether it is the
 * run's own. The kernel's account of an own group is the account of the run.
 */
#ifndef COLLECTORS_ACCOUNTING_GROUP_OWNER_H
#define COLLECTORS_ACCOUNTING_GROUP_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/cgroup/find.h"

/*
 * Finds the group of a process. Inside a cgroup namespace, another container's group has no path
 * here ("/../ID"). It is then looked up through /proc/PID/root, which needs the same user or
 * CAP_SYS_PTRACE. -ENOENT without a message: not visible.
 */
int cgroup_of_process(struct cgroup *ret, const struct host *host, pid_t pid, struct err *e);

/* CPU seconds of a group since it was made; NaN = not counted. */
double cgroup_cpu_seconds(const struct cgroup *c, const struct host *h);

/* Tells the processes of a run from others in a group. is_member NULL = all are the run's. */
struct group_members {
	bool (*is_member)(const void *context, pid_t pid);
	const void *context;
};

/*
 * Keeps in c only the controllers whose group belongs to the run alone; the others get version 0.
 * True if any is left.
 * A group belongs to the run if both are true:
 * - The root is in another group than this exporter.
 * - Every process in the group is a member of the run, and none can be hidden from us (by hidepid,
 *   or by a PID namespace).
 * Call when the run begins. A process that enters later (kubectl exec, a probe) uses the run's
 * resources and is counted with it.
 */
bool cgroup_keep_own(struct cgroup *c, const struct host *host, pid_t root,
	const struct group_members *members);

/*
 * Calls each for every process of a group: 0 for one outside this PID namespace. each must not read
 * through host, whose scratch buffer holds the text. Negative errno: unknown.
 */
int cgroup_place_processes(const struct cgroup_place *p, const struct host *host,
	void (*each)(void *context, pid_t pid), void *context);
/*
 * True if the group has other groups below than but, or if unknown. Their usage counts in the
 * group's numbers, but their processes are not in its list. but = p: any group below counts.
 */
bool cgroup_has_groups_below(const struct cgroup_place *p, const struct cgroup_place *but);
/* Processes of the first controller that has a group. */
int cgroup_processes(const struct cgroup *c, const struct host *host,
	void (*each)(void *context, pid_t pid), void *context);

#endif
