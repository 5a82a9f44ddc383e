/* A run's CPU accounting on a /proc, a v2 control group and a clock in memory. */
#ifndef TESTS_SUPPORT_ACCOUNTS_WORLD_H
#define TESTS_SUPPORT_ACCOUNTS_WORLD_H

#include "collectors/accounting/accounts.h"
#include "tests/support/test_host.h"

#define GROUP "/sys/fs/cgroup/box/"

struct world {
	struct test_host t;
	struct accounts *accounts;
	struct process_tree tree;
	struct account *account;
	double value[RUN_N_METRICS];
};

/* Sets the group's usage_usec, and adds `parts` to its cpu.stat. */
void usage(struct world *w, unsigned usec, const char *parts);
void put_process(struct world *w, int pid, int ppid, unsigned ticks, const char *group);
/* Sets the idle seconds of two CPUs and the number of created processes, since boot. */
void machine(struct world *w, double idle, unsigned births);
/* Makes a root, process 10, with 1 s of CPU time. `group` begins with it ("/box"), or is shared by
 * all ("/"). */
void world_init(struct world *w, const char *group);
void world_done(struct world *w);
/* Opens the run's account again with other properties: OPEN(&w, .root = 10, .ours = true). */
void open_account(struct world *w, const struct account_spec *spec);
#define OPEN(w, ...) open_account((w), &(struct account_spec){__VA_ARGS__})
/* Advances one second, and fills `value` from /proc and the account. */
void look_again(struct world *w);
struct account_note note_of(struct world *w);

#endif
