/*
 * Which job a process is of, as the system that started it says in the process's environment and command line.
 * Pure: from bytes to names. One row a system (collectors/naming/systems.c).
 *
 * Only the variables that the rows name are looked at; values of others are never kept. RIGHTSIZE_JOB_NAME gives
 * the job its name whatever else is there; the run, the attempt and the labels are still those of the system.
 *
 * What changes from run to run never becomes part of a name: run ids and attempts are words of their own, and
 * dates, UUIDs and generated suffixes at the end of a word are taken off (collectors/naming/stable_name.h).
 */
#ifndef COLLECTORS_NAMING_RECOGNISE_H
#define COLLECTORS_NAMING_RECOGNISE_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/buf.h"
#include "collectors/base/scan.h"
#include "collectors/runs.h"

#define JOB_WORD_MAX                                                                               \
	128 /* bytes of one word with the NUL; what is longer is cut, and stays unique */
#define LABEL_NAME_MAX 64
#define JOB_LABELS_MAX 8

/* What the kernel shows of a process: strings that each end in NUL. Unreadable ones are empty. */
struct process_text {
	struct slice environment, command_line;
	struct slice file; /* see recognise_file */
	struct slice
		pod; /* KEY=VALUE of annotations and labels, and pod.name, pod.namespace, pod.uid */
};

struct job_label {
	char name[LABEL_NAME_MAX]; /* of the system's own words: "flow", "dag" */
	char value[JOB_WORD_MAX];
};

struct recognised {
	const char *system; /* "metaflow", ...; "environment" when only RIGHTSIZE_JOB_NAME told */
	char job_name[JOB_NAME_MAX];
	bool own_name; /* by RIGHTSIZE_JOB_NAME */
	/* By the title of a worker, which takes up one task after another: the run is over when the title names another. */
	bool passing;
	/* Of the system: its run, and what in it has a run of its own (a task, an array index); "" = unknown. */
	char run[JOB_WORD_MAX], task[JOB_WORD_MAX];
	double attempt;                 /* from 1; NaN = unknown */
	double cpu_cores, memory_bytes; /* asked for; NaN = unknown */
	double input_bytes;             /* RIGHTSIZE_INPUT_BYTES; NaN = unknown */
	double grace_seconds; /* so long may the run be without a process, and go on in a new one */
	size_t n_labels;
	struct job_label label[JOB_LABELS_MAX];
};

/* False when nothing was recognised; ret is untouched then. */
bool recognise(const struct process_text *text, struct recognised *ret);

/*
 * Some systems write the name into a file only: the i-th path, relative to /proc/PID, where it may be. The first that
 * can be read is given as text->file to recognise (its first bytes are enough). False when there is none, or no more.
 */
bool recognise_file(const struct process_text *text, size_t i, char *path, size_t size);

/*
 * Is it the same run? The same job of the same system, and no word about which run is known to differ: of the
 * processes of a run not all know everything.
 */
bool recognised_same(const struct recognised *a, const struct recognised *b);

/* Is this an exporter: a server, or a wrapper, which records what it starts by itself? */
bool recognise_is_exporter(struct slice command_line);

/* Is this the title of a worker, at work or not, so that it may be another at any time? */
bool recognise_is_worker(struct slice command_line);

/* Is this the name of a variable that is looked at? */
bool recognise_is_variable(struct slice name);

/*
 * For those who take processes along: of the file above, and of the value of such a variable, what recognise looks at,
 * in the same form; the rest may be secret. Nothing is added when there is nothing.
 */
void recognise_file_part(struct slice file, struct buf *out);
void recognise_value_part(struct slice name, struct slice value, struct buf *out);

#endif
