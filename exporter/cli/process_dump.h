/* Writes processes as JSON and reads them back, so that rules can be tested on another machine:
 *
 * 	{"processes": [{"pid": 1, "user": "batch", "executable": "/bin/sh", "command_line": ["sh", "x"],
 * 	  "working_directory": "/", "cgroup": "/a", "container": "", "environment": {"NAME": "value"},
 * 	  "file": "### name: 'ALIGN (1)'"}]}
 *
 * The environment, and the file in which some systems keep the job's name, may contain secrets.
 * The dump has only the parts that name the job or that rules read. A missing member is unknown. */
#ifndef EXPORTER_CLI_PROCESS_DUMP_H
#define EXPORTER_CLI_PROCESS_DUMP_H

#include <jansson.h>

#include "exporter/discovery/job_rules.h"

/* `rules` may be NULL. Variables that the rules read are written, too. */
json_t *process_dump_json(const struct process_facts *facts, const struct job_rules *rules);

/* Calls `each` for every process in the file, or only for process `pid` when `pid` is not 0.
 * Returns -ESRCH when the file has no process `pid`. */
int process_dump_read(const char *file, pid_t pid,
	void (*each)(void *context, const struct process_facts *facts), void *context,
	struct err *e);

#endif
