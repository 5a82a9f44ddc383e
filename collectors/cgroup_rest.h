/*
 * The CPU time of a run that has no control group of its own, from one that it shares with few others: what the group
 * used, less what these used. So it is with the wrapper that is a container's or a service's first process, with the
 * shell that waits for it, and beside the other programs of a session.
 *
 * The others are who was there when the run began, and who descends from them. Who comes later by no such way is
 * an orphan of the run, or came from outside (kubectl exec), and is counted with the run, as in a group of its own.
 *
 * Exact while of the others only children end that somebody waits for. They are watched: when the root's parent waited for
 * another child, one that ignores SIGCHLD ran, too many are there, or what is not known of them to the instant (of those that ended unwaited, or
 * whose CPU clock cannot be read) is more than a hundredth of the run, the rest is not the run's any more, and never again;
 * two ticks of /proc of each who waited for children may be, until the run has used more. What one of them did after it was last seen is counted
 * with the run.
 */
#ifndef COLLECTORS_CGROUP_REST_H
#define COLLECTORS_CGROUP_REST_H

#include "collectors/cgroup_path.h"

/* CPU time of a group since it was made; NaN = not counted here. */
double group_cpu_seconds(const struct cgroup *c, const struct host *h);

struct cgroup_rest;

/* What the group had used, and this exporter, at the same instant; NaN = unknown. */
struct cgroup_rest_start {
	double usage_seconds, ours_seconds;
};

struct cgroup_rest_start cgroup_rest_start(const struct cgroup *group, const struct host *h);

struct cgroup_rest_spec {
	pid_t root;
	const struct cgroup *group; /* that it is in; borrowed until the end */
	/* Who is of the run now, asked with the context for each process of the group. */
	bool (*is_member)(const void *context, pid_t pid);
	const void *context;
	/* First the group, and then what the run had used: what it did between the two must not be taken off it. */
	struct cgroup_rest_start start;
	double known_seconds;
};

/* NULL: the group is not to be told apart. */
struct cgroup_rest *cgroup_rest_open(const struct host *h, const struct cgroup_rest_spec *spec);
void cgroup_rest_close(struct cgroup_rest *r); /* NULL does nothing */

struct cgroup_rest_reading {
	double seconds; /* CPU time of the run, or more than that */
	bool exact;     /* false from the moment on that it cannot be told */
};

struct cgroup_rest_reading cgroup_rest_read(struct cgroup_rest *r, const struct host *h);

/* Calls each with the processes of the group that are the run's, by what is known at this moment. */
void cgroup_rest_processes(struct cgroup_rest *r, const struct host *h,
	void (*each)(void *context, pid_t pid), void *context);

#endif
