/*
 * What counts a command from its start on, as far as that is permitted: a control group of its own, or else the rest of the
 * one that it shares, and the inherited task clock; and what its CPU quota had counted before.
 */
#ifndef EXPORTER_WRAPPER_RUN_ACCOUNTS_H
#define EXPORTER_WRAPPER_RUN_ACCOUNTS_H

#include "collectors/accounting/accounts.h"
#include "collectors/cgroup/cpu_quota.h"
#include "collectors/accounting/own_group.h"
#include "collectors/accounting/task_clock.h"
#include "exporter/core/app.h"

struct run_accounts {
	struct own_group cgroup;
	struct task_clock clock;
	struct cpu_quota quota;
	struct group_remainder *rest; /* of the group that it shares, otherwise; NULL = none */
	const struct options *options;
};

/*
 * In the thread that will start the command, before it does. What may not be had is left out. -ECANCELED: the sampler does not
 * answer, and nothing counts.
 */
int run_accounts_open(struct run_accounts *ret, struct app *app, struct err *e);
/* It was started, in the group or not: one exact account is enough. */
void run_accounts_started(struct run_accounts *a, bool in_cgroup);
/* In the thread that opened them: the run is followed, by the clock or by better. */
void run_accounts_followed(struct run_accounts *a, bool uses_clock);
void run_accounts_close(struct run_accounts *a);

/*
 * Says in the log, when the CPU time of a run of which that is known may lack that of children whom nobody waits for, what
 * would make it exact.
 */
void run_accounts_advise(const struct account_note *note);
/* The words for that; NULL: what is told misses nobody. */
const char *run_accounts_advice(const struct account_note *note, bool under_systemd, bool root);

#endif
