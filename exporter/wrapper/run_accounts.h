/*
 * Sources of a command's CPU time and memory from its start on: a control group of its own if
 * permitted, else the remainder of the shared group and the inherited task clock. Also the counters
 * of the CPU quota at the start.
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
	const struct options *options;
};

/*
 * Call in the thread that will start the command, before the start. Leaves out sources that are not
 * permitted. -ECANCELED: the sampler does not answer, and no source is open.
 */
int run_accounts_open(struct run_accounts *ret, struct app *app, struct err *e);
/* After the start: closes the source that is not needed, since one exact source is enough. */
void run_accounts_started(struct run_accounts *a, bool in_cgroup);
/* Call in the thread that opened them. Closes the task clock unless the sampler uses it. */
void run_accounts_followed(struct run_accounts *a, bool uses_clock);
void run_accounts_close(struct run_accounts *a);

/* Logs how to get exact CPU times if children that are not waited for may be missing. */
void run_accounts_advise(const struct account_note *note);
/* The text for that; NULL: the source counts all children. */
const char *run_accounts_advice(const struct account_note *note, bool under_systemd, bool root);

#endif
