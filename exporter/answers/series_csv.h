/* Writes samples as CSV (RFC 4180, but lines end in \n). There are two formats. The first format
 * has all columns of the history. The second format has the 32 columns of resource-tracker, with
 * the names, units and decimals of resource-tracker. An unknown value is an empty field. */
#ifndef EXPORTER_ANSWERS_SERIES_CSV_H
#define EXPORTER_ANSWERS_SERIES_CSV_H

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "recommender/run.h"

/* Writes the line with the column names; `s` may have no samples. */
void series_csv_header(struct buf *out, const struct series *s);
void series_csv_rows(struct buf *out, const struct series *s);

/* Write the format of resource-tracker, the peer of this program. `s` may lack columns: their
 * fields are empty. A sample with duration 0 corrects the sample before it, so it has no row of its
 * own: its growth is added to the row of that sample. As the first sample, it has a row. */
void series_csv_peer_header(struct buf *out);
void series_csv_peer_rows(struct buf *out, const struct series *s);

/* Rounds to a number of decimals, as resource-tracker does. */
double series_csv_rounded(double v, int decimals);

/* Returns the history columns that series_csv_peer_rows needs. The list has no duplicates, ends
 * with NULL, and is in `arena`. */
const char *const *series_csv_peer_sources(struct arena *arena);

/* Converts a column of resource-tracker to a column of the history: history value = `scale` x
 * resource-tracker value + `more`. */
struct peer_column {
	const char *column;
	double scale, more;
};
/* Finds the history column for a name of resource-tracker, such as process_memory_mib. Returns
 * false if the history has none. */
bool series_csv_peer_find(struct slice name, struct peer_column *ret);

#endif
