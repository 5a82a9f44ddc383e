/* The CPU accounting of one run. /proc, the run's v2 control group and the clock are simulated. */
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

/* Writes cpu.stat of the group: `usage_usec`, and then the lines in `parts`. */
void usage(struct world *w, unsigned usec, const char *parts);
void put_process(struct world *w, int pid, int ppid, unsigned ticks, const char *group);
/* Sets two numbers that the machine has counted since boot: the idle seconds of its two CPUs, and
 * the created processes. */
void machine(struct world *w, double idle, unsigned births);
/* Makes a run whose root is process 10, with 1 s of CPU time. `group` is "/box", a control group
 * that was made for the run, or "/", which all processes share. */
void world_init(struct world *w, const char *group);
void world_done(struct world *w);
/* Closes the run's account, and opens it with these properties: OPEN(&w, .root = 10, .ours =
 * true). */
void open_account(struct world *w, const struct account_spec *spec);
#define OPEN(w, ...) open_account((w), &(struct account_spec){__VA_ARGS__})
/* Advances one second, and fills `w->value` from /proc and the account. */
void look_again(struct world *w);
struct account_note note_of(struct world *w);

#endif
