/*
 * A control group made for one run, so that the kernel counts its CPU time exactly, whatever it does: below the
 * group that this process is in, without any controller or limit of its own, removed at the end.
 *
 * v2: in any group one may write to: CPU time is counted without a controller, so cgroup.subtree_control stays as
 * it is, and the rule that a group with controllers for its children has no processes of its own cannot be
 * broken by us. Its price: whoever wants to enable controllers in our own group finds one more child there, and
 * processes that are moved out of the new group (systemd-run --scope) are no longer counted. Below systemd a
 * group is divided only where the unit says Delegate=yes, and in a scope of a user's own systemd that holds nobody
 * else: that does not mark what it delegates. All others belong to systemd alone.
 *
 * v1: in the hierarchy of cpuacct, when no other controller shares it: a new group of cpu would get a share and
 * no real-time budget of its own.
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
 * May this group be divided by somebody who only runs in it? directory: of the group; mount: length of the part
 * that is the mount point; under_systemd: that is the init here.
 */
bool own_group_allowed(const char *directory, size_t mount, bool under_systemd);

/*
 * Makes "rightsize-PID-RANDOM" in directory. version: 1 (cpuacct) or 2. Negative errno where it is not permitted or not
 * possible: the reason is for debugging only. Leftovers of others that are gone are removed on the way.
 */
int own_group_make(struct own_group *ret, const char *directory, int version, struct err *e);

/* The calling process enters. In the child, before it executes the job: signal-safe; false when refused. */
bool own_group_enter(const struct own_group *g);

/* CPU time of all that was ever in it. */
int own_group_cpu_ns(const struct own_group *g, uint64_t *ret);

/*
 * Puts whoever is left back into the group above, removes the group with the empty ones that the job made in it, and closes
 * everything. A group in which others made one that is in use stays; the next own_group_make after its end removes it.
 */
void own_group_remove(struct own_group *g);

#endif
