/*
 * The control group of a run: where its files are, also when it is another container's, and whether the group is
 * the run's own, so that the kernel's account of the group is the account of the run.
 */
#ifndef COLLECTORS_ACCOUNTING_GROUP_OWNER_H
#define COLLECTORS_ACCOUNTING_GROUP_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/cgroup/find.h"

/*
 * The group that a process is in. From inside a container with a cgroup namespace of its own another container's
 * group has no path here ("/../ID"); it is then looked for as that process sees it, in /proc/PID/root, which
 * takes the same user or CAP_SYS_PTRACE. -ENOENT without a message: nowhere to be seen.
 */
int cgroup_of_process(struct cgroup *ret, const struct host *host, pid_t pid, struct err *e);

/* Tells the processes of a run from others in a group: asked with the context for each; is_member NULL = none is the run's. */
struct group_members {
	bool (*is_member)(const void *context, pid_t pid);
	const void *context;
};

/*
 * Leaves in c only the controllers whose group belongs to the run alone; the others get version 0. True when any
 * is left. It does when all of this holds:
 * - the root is in another group than this exporter, than its own parent, and than pid 1 (unless it is pid 1
 *   itself): so the group was made for the run, as a container's is for its first process, though somebody may have used
 *   it before (an earlier job, a step that went before);
 * - every process in the group is a member of the run.
 * To be asked when the run begins: who enters later (kubectl exec, a probe) uses what the run was given, and is
 * counted with it.
 */
bool cgroup_keep_own(struct cgroup *c, const struct host *host, pid_t root,
	const struct group_members *members);

/*
 * Calls each with the processes of a group: 0 for one that this PID namespace does not show. each must not read
 * through host: the text is still in its scratch. Negative errno: unknown.
 */
int cgroup_place_processes(const struct cgroup_place *p, const struct host *host,
	void (*each)(void *context, pid_t pid), void *context);
/*
 * Has it groups below, or below these, beside that one? They count in the group's own numbers, and who is in them is not
 * in its list. but: the group itself = beside none. Unknown is true.
 */
bool cgroup_has_groups_below(const struct cgroup_place *p, const struct cgroup_place *but);
/* Of the first controller that has a group. */
int cgroup_processes(const struct cgroup *c, const struct host *host,
	void (*each)(void *context, pid_t pid), void *context);

#endif
