/* Adds the runs that a source reads to a history, many in a transaction. */
#ifndef EXPORTER_IMPORT_IMPORTER_H
#define EXPORTER_IMPORT_IMPORTER_H

#include "collectors/base/mem.h"
#include "exporter/core/progress.h"
#include "exporter/history/history.h"
#include "exporter/import/import.h"

/* Maximum number of runs that are added in one transaction. Wrong runs count, too, because their
 * texts also take memory. During a transaction, other writers wait for about 20 ms. */
#define IMPORTER_BATCH 256

struct importer {
	/* set by the caller */
	struct history *history;   /* open for writing; the caller closes it */
	struct import_key key;     /* the parts of the key that replace those of every run */
	double now;                /* seconds since 1970 */
	struct progress *progress; /* may be NULL */
	/* Called for each wrong line, with the reason. `line` is 0 if the input has no lines. */
	void (*tell)(void *context, uint64_t line, const char *why);
	void *context;
	/* Counts, see struct import_sink. */
	uint64_t added, known, wrong, unfinished, untold;
	/* used by the functions below */
	struct arena arena;
	struct run run[IMPORTER_BATCH];
	/* `n`: runs in `run`; `taken`: runs received since the last transaction, including wrong
	 * ones */
	size_t n, taken;
};

/* Returns a sink that passes all runs to the importer `i`. */
struct import_sink importer_sink(struct importer *i);

/* Adds the runs that still wait in `run` to the history, and frees the memory of the importer.
 * `code` is the result of the import: if it is an error, returns it, else the error of adding. Call
 * it once, even after a failed import, because the runs that were read before the failure are
 * kept. */
int importer_end(struct importer *i, int code, struct err *e);

#endif
