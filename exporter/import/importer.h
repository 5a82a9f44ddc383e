/* Adds the runs that a source reads to a history, many in a transaction. */
#ifndef EXPORTER_IMPORT_IMPORTER_H
#define EXPORTER_IMPORT_IMPORTER_H

#include "collectors/base/mem.h"
#include "exporter/core/progress.h"
#include "exporter/history/history.h"
#include "exporter/import/import.h"

/* Texts of one transaction, wrong ones included, because each takes memory. Other writers wait for
 * about 20 ms. */
#define IMPORTER_BATCH 256

struct importer {
	/* set by the caller */
	struct history *history;   /* open for writing; the caller closes it */
	struct import_key key;     /* parts that stand before those of a run */
	double now;                /* seconds since 1970 */
	struct progress *progress; /* may be NULL */
	/* Tells of a wrong line; `line` is 0 if the input has none. */
	void (*tell)(void *context, uint64_t line, const char *why);
	void *context;
	/* Counts, see struct import_sink. */
	uint64_t added, known, wrong, unfinished, untold;
	/* used by the functions below */
	struct arena arena;
	struct run run[IMPORTER_BATCH];
	size_t n, taken; /* runs that wait; texts since the last transaction */
};

/* Returns the sink that adds to `i`. */
struct import_sink importer_sink(struct importer *i);

/* Adds the runs that still wait, and frees what the importer holds. Returns the error of that, or a
 * negative `code` if there is one. Call it once, also after a failed import: the runs before the
 * failure stay. */
int importer_end(struct importer *i, int code, struct err *e);

#endif
