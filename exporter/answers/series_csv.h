/*
 * Samples as CSV (RFC 4180, but with \n), in blocks: ours with all columns of the history, and
 * resource-tracker's 32 with their names, units and decimals. Unknown is an empty field.
 */
#ifndef EXPORTER_ANSWERS_SERIES_CSV_H
#define EXPORTER_ANSWERS_SERIES_CSV_H

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "recommender/run.h"

/* The first line; s needs no samples. */
void series_csv_header(struct buf *out, const struct series *s);
void series_csv_rows(struct buf *out, const struct series *s);

/* s may lack columns. A correction of no length is part of the row before it. */
void series_csv_peer_header(struct buf *out);
void series_csv_peer_rows(struct buf *out, const struct series *s);

/* What to read from the history for the peer's rows: each column once, NULL ends; in arena. */
const char *const *series_csv_peer_sources(struct arena *arena);

#endif
