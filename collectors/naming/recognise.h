/* Recognises which job a process belongs to, from the variables and arguments that a workflow
 * system gave it. Each system is a row of a table (collectors/naming/systems.c). Pure functions:
 * bytes in, names out.
 *
 * Only variables that the table names are read, and values of other variables are never kept.
 * RIGHTSIZE_JOB_NAME sets the name of the job. The run, the attempt and the labels still come from
 * the system.
 *
 * A text that changes from run to run never becomes part of a name. Run ids and attempts are
 * separate words. Dates, UUIDs and generated suffixes are removed from the end of a word
 * (collectors/naming/stable_name.h). */
#ifndef COLLECTORS_NAMING_RECOGNISE_H
#define COLLECTORS_NAMING_RECOGNISE_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/buf.h"
#include "collectors/base/scan.h"
#include "collectors/runs.h"

#define JOB_WORD_MAX   128 /* bytes of one word, NUL included; utf8_clean cuts longer words */
#define LABEL_NAME_MAX 64
#define JOB_LABELS_MAX 8

/* The texts of a process. `environment` and `command_line` are lists of strings that each end in
 * NUL, as in /proc/PID. An unreadable text is empty. */
struct process_text {
	struct slice environment, command_line;
	struct slice file; /* see recognise_file */
	struct slice
		pod; /* KEY=VALUE of annotations and labels, and pod.name, pod.namespace, pod.uid */
};

struct job_label {
	char name[LABEL_NAME_MAX]; /* in the system's own terms: "flow", "dag" */
	char value[JOB_WORD_MAX];
};

struct recognised {
	const char *system; /* "metaflow", ...; "environment" = only RIGHTSIZE_JOB_NAME is known */
	char job_name[JOB_NAME_MAX];
	bool own_name; /* job_name is from RIGHTSIZE_JOB_NAME */
	/* The name is from the title of a worker, which runs one task after another. The run is
	 * over when the title names another task. */
	bool passing;
	/* Ids that the system gave to the run, and to the task or array element that is a separate
	 * run here. "" = unknown. */
	char run[JOB_WORD_MAX], task[JOB_WORD_MAX];
	double attempt; /* from 1; NaN = unknown */
	/* Requested, by RIGHTSIZE_REQUEST_CPU and RIGHTSIZE_REQUEST_MEMORY, the system or the pod;
	 * NaN = unknown. */
	double cpu_cores, memory_bytes;
	double input_bytes;   /* RIGHTSIZE_INPUT_BYTES; NaN = unknown, 0 is a size */
	double grace_seconds; /* how long the run may have no process before it ends */
	size_t n_labels;
	struct job_label label[JOB_LABELS_MAX];
};

/* Returns false, and leaves `ret` unchanged, when no system is recognised. */
bool recognise(const struct process_text *text, struct recognised *ret);

/* The same for a command that a wrapper records whether it names a job or not. When it names none,
 * returns false; `ret` then has the numbers that are known, and its job_name is empty. */
bool recognise_wrapped(const struct process_text *text, struct recognised *ret);

/* Some systems write the name only into a file. Writes the `i`-th path, relative to /proc/PID,
 * where this file may be. Returns false when there are no more paths.
 *
 * The caller tries the paths in order, and passes the first bytes of the first readable file to
 * recognise, as text->file. */
bool recognise_file(const struct process_text *text, size_t i, char *path, size_t size);

/* Returns true if both may be the same run: the system and the job are equal, and no known run,
 * task or attempt differs. An unknown value matches any value, because not all processes of a run
 * show all values. */
bool recognised_same(const struct recognised *a, const struct recognised *b);

/* Returns true if the program is this exporter, as a server or as a wrapper. Both record jobs by
 * themselves. */
bool recognise_is_exporter(struct slice command_line);

/* Returns true for a wrapper (PROGRAM run), by its arguments alone. */
bool recognise_is_wrapper(struct slice command_line);

/* Returns true if the environment declares its process as a helper of the job around it:
 * RIGHTSIZE_HELPER=1. A helper is no part of a run (collectors/process/helpers.h). */
bool recognise_declares_helper(struct slice environment);

/* Returns true for the title of a worker, busy or idle. A worker may change its title at any
 * time. */
bool recognise_is_worker(struct slice command_line);

/* Returns true if the table of systems reads this variable. */
bool recognise_is_variable(struct slice name);

/* Copy only the parts of a file or of a variable's value that recognise reads, in the same form.
 * All other text may be secret, so callers that write processes to a file use these functions.
 * Nothing is added when there are no such parts. */
void recognise_file_part(struct slice file, struct buf *out);
void recognise_value_part(struct slice name, struct slice value, struct buf *out);

#endif
