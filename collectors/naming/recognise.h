/* Recognises which job a process belongs to. Uses the variables and arguments that a workflow
 * system gave to the process. Each system is a row of a table (collectors/naming/systems.c). Pure
 * functions without I/O.
 *
 * Only variables that are listed in the table are read. Values of other variables are never kept.
 * RIGHTSIZE_JOB_NAME sets the name of the job. The run, the attempt and the labels still come from
 * the system.
 *
 * A job has the same name in every run. Therefore run ids and attempts are not part of the name,
 * and dates, UUIDs and generated suffixes are removed from its end
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
	const char *system; /* "metaflow", ...; "environment" = no system, name set by the user */
	char job_name[JOB_NAME_MAX];
	/* The name that the job gets when its file (see recognise_file) cannot be read. The history
	 * may have earlier runs of the job under this name. "" = the same name, or none. */
	char former_name[JOB_NAME_MAX];
	bool own_name;             /* the user set job_name */
	char space[JOB_SPACE_MAX]; /* namespace of the job; "" = none. The caller sets it */
	/* true: job_name is from the process title of a worker, a process that runs one task after
	 * another. The run is over when the title names another task. */
	bool passing;
	/* The system's id of the run, and its id of the task or array element. This program records
	 * each task or array element as a separate run. "" = unknown. */
	char run[JOB_WORD_MAX], task[JOB_WORD_MAX];
	double attempt; /* number of the attempt, from 1; NaN = unknown */
	/* The job's requests. They come from RIGHTSIZE_REQUEST_CPU and RIGHTSIZE_REQUEST_MEMORY,
	 * from the system, or from the pod. NaN = unknown. */
	double cpu_cores, memory_bytes;
	double input_bytes;   /* RIGHTSIZE_INPUT_BYTES; NaN = unknown, 0 = empty input */
	double grace_seconds; /* how long the run may have no process before it ends */
	size_t n_labels;
	struct job_label label[JOB_LABELS_MAX];
};

/* Recognises the job of a process. If the texts name no job, returns false and leaves `ret`
 * unchanged. */
bool recognise(const struct process_text *text, struct recognised *ret);

/* Recognises the job of a wrapper's command, which is recorded even if no system is recognised. If
 * the texts name no job, returns false and an empty job_name, but sets all known numbers in `ret`,
 * such as the requests. */
bool recognise_wrapped(const struct process_text *text, struct recognised *ret);

/* Finds the file that has the job's name, because some systems write the name only into a file.
 * Writes to `path` the `i`-th path (from 0), relative to /proc/PID, where this file may be. Returns
 * false when there are no more paths.
 *
 * The caller tries the paths in order. It stores the first bytes of the first readable file in
 * `file` of struct process_text, and then calls recognise(). */
bool recognise_file(const struct process_text *text, size_t i, char *path, size_t size);

/* Returns true if `a` and `b` may be the same run. The system and the job must be equal. The run,
 * the task and the attempt must be equal where both are known. An unknown value matches any value,
 * because not all processes of a run have all values. */
bool recognised_same(const struct recognised *a, const struct recognised *b);

/* Returns true if the command line runs this exporter's program. The exporter records jobs, so its
 * own process must not be recorded as a job. */
bool recognise_is_exporter(struct slice command_line);

/* Returns true if the arguments are those of a wrapper (rightsize-exporter run). Does not check the
 * name of the program. */
bool recognise_is_wrapper(struct slice command_line);

/* Returns true if the environment has RIGHTSIZE_HELPER=1. This variable declares the process as a
 * helper of the job that started the process. A helper is not part of a run
 * (collectors/process/helpers.h). */
bool recognise_declares_helper(struct slice environment);

/* Returns true if the command line is the process title of a worker, busy or idle. A worker runs
 * one task after another and may change its title at any time. */
bool recognise_is_worker(struct slice command_line);

/* Returns true if the table of systems reads this variable. */
bool recognise_is_variable(struct slice name);

/* Returns true for a label or annotation with which a workflow system or a user names the job of a
 * pod. Returns false for labels that any pod may have (app, app.kubernetes.io/name, job-name), and
 * for words such as "pod.name", which are not labels. */
bool recognise_is_pod_word(struct slice key);

/* Both functions copy to `out` only the parts of a file or of a variable's value that recognise()
 * reads. All other text may be secret, so use these functions to write the texts of processes to a
 * file. recognise() can read the copy like the original. If there are no such parts, nothing is
 * added. */
void recognise_file_part(struct slice file, struct buf *out);
void recognise_value_part(struct slice name, struct slice value, struct buf *out);

#endif
