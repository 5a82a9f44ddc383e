/* Writes processes as JSON and reads them back, so that rules can be tested on another machine:
 *
 * 	{"processes": [{"pid": 1, "user": "batch", "executable": "/bin/sh", "command_line": ["sh", "x"],
 * 	  "working_directory": "/", "cgroup": "/a", "container": "", "environment": {"NAME": "value"},
 * 	  "file": "### name: 'ALIGN (1)'"}]}
 *
 * Some systems write the job's name into a file. This file and the environment may contain secrets.
 * Therefore the dump has only the parts of them that name the job or that rules read. If a member
 * is missing in the JSON, its value is unknown. */
#ifndef EXPORTER_CLI_PROCESS_DUMP_H
#define EXPORTER_CLI_PROCESS_DUMP_H

#include <jansson.h>

#include "exporter/discovery/job_rules.h"

/* Makes JSON of a process. Also writes the variables that `rules` read. `rules` may be NULL. */
json_t *process_dump_json(const struct process_facts *facts, const struct job_rules *rules);

/* Calls `each` for every process in the file, or only for process `pid` when `pid` is not 0.
 * Returns -ESRCH when the file has no process `pid`, and -EINVAL when it is not such a JSON file. */
int process_dump_read(const char *file, pid_t pid,
	void (*each)(void *context, const struct process_facts *facts), void *context,
	struct err *e);

#endif
