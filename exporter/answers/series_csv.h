/*
 * Samples as CSV (RFC 4180, but with \n): one format with all columns of the history, and one with
 * the 32 columns of resource-tracker, in its names, units and decimals. Unknown = empty field.
 */
#ifndef EXPORTER_ANSWERS_SERIES_CSV_H
#define EXPORTER_ANSWERS_SERIES_CSV_H

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "recommender/run.h"

/* The first line; s needs no samples. */
void series_csv_header(struct buf *out, const struct series *s);
void series_csv_rows(struct buf *out, const struct series *s);

/* s may lack columns. A correction (duration 0) is added to the row before it. */
void series_csv_peer_header(struct buf *out);
void series_csv_peer_rows(struct buf *out, const struct series *s);

/* Rounds to a number of decimals, as resource-tracker does. */
double series_csv_rounded(double v, int decimals);

/* The history columns that the peer's rows need, each once; NULL-terminated, in arena. */
const char *const *series_csv_peer_sources(struct arena *arena);

#endif
