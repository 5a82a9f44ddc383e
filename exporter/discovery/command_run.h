/* Finds the job name and other facts of the command that a wrapper (rightsize-exporter run)
 * starts. */
#ifndef EXPORTER_DISCOVERY_COMMAND_RUN_H
#define EXPORTER_DISCOVERY_COMMAND_RUN_H

#include "collectors/base/err.h"
#include "collectors/naming/recognise.h"
#include "exporter/options/options.h"

struct command_run {
	struct recognised is; /* is.job_name is never empty */
	char job[JOB_KEY_MAX];
	/* the batch or workflow system that named the run, such as "slurm"; NULL = the name comes
	 * from an option or from the command's program */
	const char *system;
	char *labels; /* JSON; NULL = no labels; freed by command_run_done */
};

/* Finds the job name and the facts of a command. A server that found the running command would get
 * the same result (finder.h). The name comes from the options and environment variables of this
 * program, from the file of --jobs.rules, or from the batch or workflow system in which this
 * program runs. If none of them gives a name, the name of the command's program is used.
 *
 * Always fills `ret`, even when it returns an error. If the rules have a mistake, they are ignored
 * and the error is returned. No other thread may change the environment during the call. */
int command_run_identify(struct command_run *ret, const struct options *o, char *const command[],
	struct err *e);

void command_run_done(struct command_run *r);

#endif
