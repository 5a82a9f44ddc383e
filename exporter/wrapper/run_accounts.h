/* Sources of a command's CPU time and memory, open from the start of the command. If permitted, the
 * command gets its own control group. Otherwise it is counted by a task clock, which its children
 * inherit. In both cases the counters of the CPU quota are read at the start. */
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
	const struct options *options;
};

/* Opens the sources, and leaves out those that are not permitted. Call in the thread that starts
 * the command, before the start. -ECANCELED: the sampler does not answer, and no source is open. */
int run_accounts_open(struct run_accounts *ret, struct app *app, struct err *e);
/* Keeps the control group if the command is in it (`in_cgroup`), else keeps the task clock. Closes
 * the source that is not kept, because one exact source is enough. Call after the start. */
void run_accounts_started(struct run_accounts *a, bool in_cgroup);
/* Closes the task clock if the sampler does not use it. Call in the thread that called
 * run_accounts_open. */
void run_accounts_followed(struct run_accounts *a, bool uses_clock);
void run_accounts_close(struct run_accounts *a);

/* Logs how to get exact CPU times if the source of this run may have missed the CPU time of some
 * children. */
void run_accounts_advise(const struct account_note *note);
/* Returns the advice for run_accounts_advise. Returns NULL when the source counts all children. */
const char *run_accounts_advice(const struct account_note *note, bool under_systemd, bool root);

#endif
