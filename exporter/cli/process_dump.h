/* Writes processes as JSON and reads them back, so that rules can be tested on another machine:
 *
 * {"processes": [{"pid": 1, "user": "batch", "executable": "/bin/sh", "command_line": ["sh", "x"],
 * 	  "working_directory": "/", "cgroup": "/a", "container": "", "environment": {"NAME": "value"},
 * 	  "file": "### name: 'ALIGN (1)'"}]}
 *
 * "file" is the text of a file into which some workflow systems write the job's name. This file and
 * the environment may contain secrets. The dump therefore contains only those parts of them that
 * name the job or that rules read. A member that is missing in the JSON is unknown. */
#ifndef EXPORTER_CLI_PROCESS_DUMP_H
#define EXPORTER_CLI_PROCESS_DUMP_H

#include <jansson.h>

#include "exporter/discovery/job_rules.h"

/* Returns the JSON of one process. It includes the environment variables that `rules` read. `rules`
 * may be NULL. */
json_t *process_dump_json(const struct process_facts *facts, const struct job_rules *rules);

/* Calls `each` for every process in the file, or only for process `pid` if `pid` is not 0. Returns
 * -ESRCH when the file does not contain process `pid`, and -EINVAL when the file does not have the
 * form above. */
int process_dump_read(const char *file, pid_t pid,
	void (*each)(void *context, const struct process_facts *facts), void *context,
	struct err *e);

#endif
