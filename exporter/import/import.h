/* Reads runs that other programs measured. A source is one kind of input, and a row of the table
 * import_sources. A source sets only the members of a run that its input contains. All other
 * members stay unknown.
 *
 * A source makes a run (made_run.h) and passes it to the sink in the format of POST /runs. The
 * limits of that format thus apply to every source. */
#ifndef EXPORTER_IMPORT_IMPORT_H
#define EXPORTER_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "collectors/base/err.h"

/* The key that the user chose for the runs; NULL = as the input says. */
struct import_key {
	const char *job_name, *space, *cluster;
};

/* The functions that receive what a source reads. `context` is the first argument of each call. */
struct import_sink {
	/* Takes a run as JSON. `line` is its line of the input; 0 = it has none. Counts a wrong
	 * run, and returns 0 for it. A negative errno ends the import. The function never returns
	 * -EINVAL, because a source returns -EINVAL for a wrong line. */
	int (*run)(void *context, uint64_t line, const char *text, size_t len, struct err *e);
	/* Notes that a line is wrong. `why` is the reason. */
	void (*wrong)(void *context, uint64_t line, const char *why);
	/* Counts a run that is left out because it has not ended yet or never began. */
	void (*unfinished)(void *context);
	/* Counts a run that is left out because its outcome is unknown. */
	void (*untold)(void *context);
	void *context;
};

struct import_input {
	const char *path;  /* path of a file, or a URL, as the user gave it */
	FILE *in;          /* NULL for a URL */
	double written_at; /* when the file was written last, seconds since 1970; NaN = unknown */
	struct import_key key;
	/* outcome of runs whose input has none; NULL = such runs are left out */
	const char *outcome;
	double window_seconds; /* time before now that is read; see --window */
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

/* A NULL name ends the table. The first row reads what export writes. */
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
