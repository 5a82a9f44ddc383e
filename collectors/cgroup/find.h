/* Finds the files of a process's control group: v1, v2 and hybrid, from the host or from inside a
 * cgroup namespace.
 *
 * /proc/PID/cgroup names the group. The exporter's own mount table shows where the hierarchy is
 * mounted. A mount point below /sys is opened in host->sys, any other mount point in host->root. */
#ifndef COLLECTORS_CGROUP_FIND_H
#define COLLECTORS_CGROUP_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/err.h"
#include "collectors/host.h"

enum cgroup_controller {
	CGROUP_CPU,     /* counts quota and throttling; in v2 also CPU time */
	CGROUP_CPUACCT, /* counts CPU time; in v2 it has the same place as CGROUP_CPU */
	CGROUP_MEMORY,
	CGROUP_PIDS,
	CGROUP_IO, /* named blkio in v1 */
	CGROUP_CONTROLLERS,
};

/* v1 names of the controllers. One v1 hierarchy may have several controllers. */
extern const char *const cgroup_controllers[CGROUP_CONTROLLERS];

/* Finds a group's path in `text`, the content of /proc/PID/cgroup. For the v2 group, `controller`
 * is "". Returns false if there is no line for the controller. */
bool cgroup_path_in(struct scan text, const char *controller, struct slice *ret);

/* Maximum length of the path of a group's directory, and of a file in it. Longer paths are not
 * found. */
#define CGROUP_PATH_MAX 1024
#define CGROUP_FILE_MAX (CGROUP_PATH_MAX + 64)

/* The directory of a control group. cgroup_find sets the place to the group of a process.
 * cgroup_parent moves the place to the group above. In v2, the files of a controller are missing if
 * the controller is not enabled. */
struct cgroup_place {
	struct tree *tree;
	int version;                /* 1 or 2; 0 = no group, and tree is NULL */
	char path[CGROUP_PATH_MAX]; /* relative to `tree` */
	size_t top;                 /* length of the start of `path` that is the mount point */
};

struct cgroup {
	struct cgroup_place place[CGROUP_CONTROLLERS];
};

/* Returns the place that counts CPU time. */
static inline const struct cgroup_place *cgroup_cpu_place(const struct cgroup *c)
{
	return &c->place[c->place[CGROUP_CPU].version == 2 ? CGROUP_CPU : CGROUP_CPUACCT];
}

/* Finds the group of a process. `pid` is "self" or a number. Returns -ENOENT without a message in
 * three cases:
 * - The process is gone.
 * - This machine has no control groups.
 * - The group is not visible here, like the group of a sibling container inside a cgroup
 * namespace. */
int cgroup_find(struct cgroup *ret, const struct host *host, const char *pid, struct err *e);

/* Returns true if at least one directory of the group exists. */
bool cgroup_exists(const struct cgroup *c);

/* Moves the place to the nearest visible group above. Returns false if there is none. */
bool cgroup_parent(struct cgroup_place *p);

/* Returns true if both are the same group. Returns false if the version of one of them is 0. */
bool cgroup_same_place(const struct cgroup_place *a, const struct cgroup_place *b);

/* Writes the path of a file in the group to `out`, relative to place->tree. Returns `out`. */
char *cgroup_file(const struct cgroup_place *p, const char *name, char out[CGROUP_FILE_MAX]);

/* Smallest limit of the group and all visible groups above it; NaN = no limit. In v1, the kernel
 * reports the memory limit of the whole hierarchy, so this limit also includes invisible groups
 * above. */
struct cgroup_limits {
	double cpu_cores, memory_bytes, tasks;
};

/* Returns the memory limit of this group only, without the groups above; NaN = no limit. */
double cgroup_memory_limit(const struct cgroup_place *p, const struct host *host);

struct cgroup_limits cgroup_limits_read(const struct cgroup *c, const struct host *host);

#endif
