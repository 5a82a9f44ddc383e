/* The run of a command that a wrapper starts: its name and what it was given. */
#ifndef EXPORTER_DISCOVERY_COMMAND_RUN_H
#define EXPORTER_DISCOVERY_COMMAND_RUN_H

#include "collectors/base/err.h"
#include "collectors/naming/recognise.h"
#include "exporter/options/options.h"

struct command_run {
	struct recognised is; /* job_name is never empty */
	const char *system;   /* system that named the run; NULL = an option or the program did */
	char *labels;         /* JSON; NULL = none; freed by command_run_done */
};

/* Names the run as the finder names the process that the command becomes: by options and variables
 * of this program, the rules of the site, or the system around it. The last resort is the name of
 * the program. Always fills `ret`. A mistake in the rules is returned, and they are ignored. No
 * other thread may change the environment during the call. */
int command_run_identify(struct command_run *ret, const struct options *o, char *const command[],
	struct err *e);

void command_run_done(struct command_run *r);

#endif
