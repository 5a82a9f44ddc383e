/*
 * Processes as JSON, so that rules can be tried where the processes are not:
 *
 *	{"processes": [{"pid": 1, "user": "batch", "executable": "/bin/sh", "command_line": ["sh", "x"],
 *	  "working_directory": "/", "cgroup": "/a", "container": "", "environment": {"NAME": "value"},
 *	  "file": "### name: 'ALIGN (1)'"}]}
 *
 * Of an environment, and of the file in which some systems have the name, only what says which job it is, or what rules
 * look at: the rest may be secret. What is not there is not known.
 */
#ifndef EXPORTER_CLI_PROCESS_DUMP_H
#define EXPORTER_CLI_PROCESS_DUMP_H

#include <jansson.h>

#include "exporter/discovery/job_rules.h"

/* rules: whose variables are kept, too; may be NULL. */
json_t *process_dump_json(const struct process_facts *facts, const struct job_rules *rules);

/* Calls each with the processes of a file, or with the one of that pid (0 = all); -ESRCH when it is not there. */
int process_dump_read(const char *file, pid_t pid,
	void (*each)(void *context, const struct process_facts *facts), void *context,
	struct err *e);

#endif
