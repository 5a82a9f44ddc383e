/* Reads the runs of other programs: each source is a row of a table. A source says only what its input
 * says; any other member of a run stays unknown.
 *
 * A source makes a run (made_run.h) and gives it to the sink as the text of a message of POST /runs, so
 * that the bounds of that message hold for every source. */
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

/* Takes what a source reads. `context` is the first argument of each call. */
struct import_sink {
	/* Takes a run as JSON. `line` is its line of the input; 0 = it has none. A run that is wrong
	 * is counted by the sink. A negative errno ends the import; it is
	 * not -EINVAL, which stands for a wrong line. */
	int (*run)(void *context, uint64_t line, const char *text, size_t len, struct err *e);
	/* Notes that a line was wrong, and why. */
	void (*wrong)(void *context, uint64_t line, const char *why);
	/* Notes that a line is of a run that has not ended yet, or that never began. */
	void (*unfinished)(void *context);
	/* Notes a run whose end is unknown; it is not given to `run`. */
	void (*untold)(void *context);
	void *context;
};

struct import_input {
	const char *path;  /* as the user gave it: a file, or a URL */
	FILE *in;          /* NULL for a URL */
	double written_at; /* when the file was written last, seconds since 1970; NaN = unknown */
	struct import_key key;
	const char *outcome;   /* of the runs whose input does not say it; NULL = leave them out */
	double window_seconds; /* see --window */
	double now;            /* seconds since 1970 */
	const char *token_file, *ca_file;
	struct import_sink sink;
};

struct import_source {
	const char *name; /* as in --from; also the memory_source of its runs */
	bool of_url;      /* `path` is a URL */
	/* Reads the whole input. Returns 0 also if lines were wrong. */
	int (*read)(const struct import_input *in, struct err *e);
	const char *help; /* the input that it reads */
};

/* A NULL name ends the table. The first row reads what export writes. */
extern const struct import_source import_sources[];
const struct import_source *import_source_find(const char *name);

/* The sources, one for each file. */
int import_run_lines(const struct import_input *in, struct err *e);
int import_sacct(const struct import_input *in, struct err *e);
int import_nextflow(const struct import_input *in, struct err *e);
int import_snakemake(const struct import_input *in, struct err *e);
int import_resource_tracker(const struct import_input *in, struct err *e);
int import_prometheus(const struct import_input *in, struct err *e);

#endif
