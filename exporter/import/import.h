/* Reads runs that other programs measured, for the command import. A source is a reader for one
 * kind of input, such as the output of sacct, and an element of import_sources. A source sets only
 * the members of a run that its input contains. All other members stay unknown.
 *
 * A source passes each run (made_run.h) to a sink, in the format of POST /runs. The limits of that
 * format thus apply to runs of all sources. */
#ifndef EXPORTER_IMPORT_IMPORT_H
#define EXPORTER_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "collectors/base/err.h"

/* The key that the user chose for the job of all runs. A part that is NULL comes from the input. */
struct import_key {
	const char *job_name, *space, *cluster;
};

/* The functions that receive what a source reads. `context` is the first argument of each call. */
struct import_sink {
	/* Takes a run as JSON. `line` is the number of its line in the input; 0 = the input is not
	 * made of lines. Returns 0 even if the run is wrong, and then counts it. A negative errno
	 * ends the import. The result is never -EINVAL, which means a wrong line. */
	int (*run)(void *context, uint64_t line, const char *text, size_t len, struct err *e);
	/* Notes that a line of the input is wrong. `why` is the reason. */
	void (*wrong)(void *context, uint64_t line, const char *why);
	/* Counts a run that is left out because it has not ended yet or never began. */
	void (*unfinished)(void *context);
	/* Counts a run that is left out because its outcome is unknown. */
	void (*untold)(void *context);
	void *context;
};

struct import_input {
	const char *path; /* path of a file, or a URL, as the user gave it */
	FILE *in;         /* NULL for a URL */
	/* time of the last write to the file, seconds since 1970 UTC; NaN = unknown */
	double written_at;
	struct import_key key;
	/* outcome of runs whose outcome is not in the input; NULL = such runs are left out */
	const char *outcome;
	double window_seconds; /* only runs of this last span of time are read, see --window */
	double now;            /* seconds since 1970 */
	const char *token_file, *ca_file;
	struct import_sink sink;
};

struct import_source {
	const char *name; /* name in --from, and memory_source of the runs */
	bool of_url;      /* true = import_input.path is a URL */
	/* Reads the whole input. Returns 0 even if some lines were wrong. */
	int (*read)(const struct import_input *in, struct err *e);
	const char *help; /* description of the input */
};

/* The last element has a NULL name. The first source reads the output of the command export. */
extern const struct import_source import_sources[];
const struct import_source *import_source_find(const char *name);

/* The functions `read` of the sources. Each is in a file of its own. */
int import_run_lines(const struct import_input *in, struct err *e);
int import_sacct(const struct import_input *in, struct err *e);
int import_nextflow(const struct import_input *in, struct err *e);
int import_snakemake(const struct import_input *in, struct err *e);
int import_resource_tracker(const struct import_input *in, struct err *e);
int import_prometheus(const struct import_input *in, struct err *e);

#endif
