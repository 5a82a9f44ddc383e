/* Adds the runs that a source (import.h) reads to a history, many runs in one transaction. */
#ifndef EXPORTER_IMPORT_IMPORTER_H
#define EXPORTER_IMPORT_IMPORTER_H

#include "collectors/base/mem.h"
#include "exporter/core/progress.h"
#include "exporter/forward/run_message.h"
#include "exporter/history/history.h"
#include "exporter/import/import.h"

/* A transaction ends after the line with this run. Another writer of the history waits for the end
 * of the transaction, about 20 ms. Wrong runs count, too, because they also take memory until
 * then. */
#define IMPORTER_BATCH 256

struct importer {
	/* set by the caller */
	struct history *history; /* open for writing; the caller closes it */
	/* parts of the job's key that the user chose; they replace those of every run */
	struct import_key key;
	double now;                /* seconds since 1970 */
	struct progress *progress; /* may be NULL */
	/* Called for each wrong line, with the reason. `line` is 0 if the input is not made of
	 * lines. */
	void (*tell)(void *context, uint64_t line, const char *why);
	void *context;
	/* `added`: runs that were new. `known`: runs that the history already had. The others count
	 * what the functions of struct import_sink with these names received. */
	uint64_t added, known, wrong, unfinished, untold;
	/* used by the functions below */
	struct arena arena;
	struct run run[IMPORTER_BATCH + RUN_BATCH_MAX]; /* those of a line stay together */
	/* `n`: runs in `run`; `taken`: runs received since the last transaction, including wrong
	 * ones */
	size_t n, taken;
};

/* Returns a sink that passes all runs to the importer `i`. */
struct import_sink importer_sink(struct importer *i);

/* Adds the runs that still wait in i->run to the history, and frees the memory of the importer.
 * Call it once, even after a failed import: the runs that were read before the failure are added,
 * too. `code` is the result of the import. Returns `code` if it is an error, and otherwise the
 * result of adding. */
int importer_end(struct importer *i, int code, struct err *e);

#endif
