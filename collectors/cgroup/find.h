/*
 * Where the control group of a process has its files: v1, v2, and the hybrid of both, seen from the
 * host or from inside a cgroup namespace.
 *
 * /proc/PID/cgroup says which group, the mount table of this process says where that hierarchy is
 * mounted. A mount point below /sys is looked up in host->sys, any other in host->root.
 */
#ifndef COLLECTORS_CGROUP_FIND_H
#define COLLECTORS_CGROUP_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/err.h"
#include "collectors/host.h"

enum cgroup_controller {
	CGROUP_CPU,     /* quota and throttling; in v2 the usage too */
	CGROUP_CPUACCT, /* usage; in v2 the same place as CGROUP_CPU */
	CGROUP_MEMORY,
	CGROUP_PIDS,
	CGROUP_IO, /* blkio of v1 */
	CGROUP_CONTROLLERS,
};

/* Their names in v1, where a hierarchy may have several. */
extern const char *const cgroup_controllers[CGROUP_CONTROLLERS];

/* The group's path in the text of a /proc/PID/cgroup; controller "" is v2. False: no such line. */
bool cgroup_path_in(struct scan text, const char *controller, struct slice *ret);

/* Longest path of a group's directory that is followed, and of a file in it. */
#define CGROUP_PATH_MAX 1024
#define CGROUP_FILE_MAX (CGROUP_PATH_MAX + 64)

/*
 * A directory. The group is the one of the process; cgroup_parent makes it the group above. version
 * 0: not found. In v2 a file is missing where its controller is not enabled.
 */
struct cgroup_place {
	struct tree *tree;
	int version;                /* 1, 2; 0 = none, tree is NULL */
	char path[CGROUP_PATH_MAX]; /* below tree */
	size_t top;                 /* length of the part that is the mount point */
};

struct cgroup {
	struct cgroup_place place[CGROUP_CONTROLLERS];
};

/* The place that counts CPU time. */
static inline const struct cgroup_place *cgroup_cpu_place(const struct cgroup *c)
{
	return &c->place[c->place[CGROUP_CPU].version == 2 ? CGROUP_CPU : CGROUP_CPUACCT];
}

/*
 * pid: "self" or a number. -ENOENT without a message: no control groups here, or none of that
 * process that can be seen (a sibling container's, from inside a cgroup namespace).
 */
int cgroup_find(struct cgroup *ret, const struct host *host, const char *pid, struct err *e);

/* Is any of its directories still there? */
bool cgroup_exists(const struct cgroup *c);

/* Up to the next group that is visible; false at the top. */
bool cgroup_parent(struct cgroup_place *p);

/* Path of a file in the group, below place->tree; returns out. */
char *cgroup_file(const struct cgroup_place *p, const char *name, char out[CGROUP_FILE_MAX]);

/*
 * The smallest limit on the way from the group to the top that is visible; in v1 the kernel's own
 * account of it, which knows the groups above too. NaN: no limit.
 */
struct cgroup_limits {
	double cpu_cores, memory_bytes, tasks;
};

/* Of this very group, whatever those above it may have; NaN: none. */
double cgroup_memory_limit(const struct cgroup_place *p, const struct host *host);

struct cgroup_limits cgroup_limits_read(const struct cgroup *c, const struct host *host);

#endif
