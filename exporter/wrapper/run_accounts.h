/* The sources from which the wrapper gets the exact CPU time and memory of its command. They must
 * be open when the command starts. If the wrapper may create a control group, the command gets one.
 * Otherwise a task clock (perf_event_open(2)) counts the CPU time of the command and of its
 * children, which inherit the clock. In both cases the counters of the CPU quota are read at the
 * start. */
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

/* Opens the sources that are permitted. Call it before the command starts, in the thread that
 * starts it. -ECANCELED: the sampler does not answer, and no source is open. */
int run_accounts_open(struct run_accounts *ret, struct app *app, struct err *e);
/* Call it after the command has started. If the command is in its control group (`in_cgroup`),
 * closes the task clock; otherwise closes the control group. One exact source is enough. */
void run_accounts_started(struct run_accounts *a, bool in_cgroup);
/* Call it when the sampler has begun to measure the run. Closes the task clock if the sampler does
 * not use it (`uses_clock` is false). Call it in the thread that called run_accounts_open. */
void run_accounts_followed(struct run_accounts *a, bool uses_clock);
void run_accounts_close(struct run_accounts *a);

/* If the CPU time of this run may lack that of some children, logs how to get exact CPU times.
 * `note` names the source of the CPU time. */
void run_accounts_advise(const struct account_note *note);
/* Returns the text that run_accounts_advise logs. NULL = the CPU time includes all children. */
const char *run_accounts_advice(const struct account_note *note, bool under_systemd, bool root);

#endif
