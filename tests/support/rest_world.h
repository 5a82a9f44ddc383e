/*
 * A run in a group with others, on a /proc and a v2 group in memory: a shell (5, 0.5 s so far) started this exporter
 * (7, 0.2 s), which started the run (10, 1 s).
 */
#ifndef TESTS_SUPPORT_REST_WORLD_H
#define TESTS_SUPPORT_REST_WORLD_H

#include "collectors/accounting/group_remainder.h"
#include "tests/support/test_host.h"

#define GROUP "/sys/fs/cgroup/box/"
#define ROOT  10
#define SHELL 5
#define OURS  7
/* A time in ticks is too small by half a tick on average. */
#define HALF_TICK 0.005

struct rest_world {
	struct test_host t;
	struct cgroup group;
	struct group_remainder *rest;
	bool orphans_ours;
};

void rest_world_init(struct rest_world *w);
void rest_world_done(struct rest_world *w);
bool rest_is_root(const void *context, pid_t pid);
/* A new one, of what is there now. */
struct group_remainder *rest_open(struct rest_world *w);
struct group_remainder_reading rest_read(struct rest_world *w);

struct rest_fields {
	int pid, ppid;
	unsigned ticks, faults;
	unsigned waited_ticks, waited_faults;
	bool ignores_children;
};

void rest_put(struct rest_world *w, const struct rest_fields *f);
/* As a kernel that does not show ignored signals. */
void rest_put_process(struct rest_world *w, int pid, int ppid, unsigned ticks,
	unsigned waited_faults);
void rest_group_has(struct rest_world *w, const char *pids, double seconds);
/* Others may have spent what is not told of them: no more is told than what is known of the run, which is 1 s. */
void assert_doubtful(struct rest_world *w, double most);
double rest_allowed(double seconds); /* what may be told beyond the truth */

#endif
