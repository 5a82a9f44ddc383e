/* Packs the statistics of a run into one blob. The blob of a forwarded run has about 300 bytes.
 * Schema 13 and older stored one database row for each column of a run, about 4,000 bytes in total.
 *
 * A form is the list of the columns and statistics that a blob has, in their order. The file keeps
 * each form once (the table stats_form), because most runs have the same form. In the file, a form
 * is a text: the column names in ascending order, each followed by ':' and its set of statistics
 * (recommender/kept_statistics.h) as a number, separated by ';'.
 *
 * A blob begins with a code of 4 bits for each statistic of the form (enum packed_code). A byte
 * contains two codes, the first in its lower half. The numbers follow in the same order. */
#ifndef EXPORTER_HISTORY_PACKED_STATS_H
#define EXPORTER_HISTORY_PACKED_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "recommender/kept_statistics.h"

#define PACKED_FORM_MAX  (64u << 10) /* bytes of the text of a form */
#define PACKED_STATS_MAX (64u << 10) /* bytes of a blob */

struct stats_form {
	size_t n;
	const struct kept_column *column; /* sorted by column */
};

/* Reads a form. The result is in `arena`. Returns -EBADMSG for a damaged text. */
int stats_form_read(struct stats_form *ret, const char *text, struct arena *arena);
void stats_form_write(struct buf *out, const struct stats_form *f);

/* Returns the form with all statistics of these columns. */
struct stats_form stats_form_of_all(const struct column_stats *stats, size_t n,
	struct arena *arena);
/* Returns the form in which runs that another exporter recorded are stored. It has the columns and
 * statistics of kept_columns (recommender/kept_statistics.h). */
struct stats_form stats_form_of_kept(void);

/* Appends the blob to `out`. `stats` must be sorted by column; columns that the form lacks are left
 * out. If `exact` is true, all numbers are stored exactly. Otherwise only counts, totals (sum) and
 * maxima are stored exactly. The other numbers are rounded towards zero to 24 binary digits, by at
 * most 1.2e-7 of the value. Rounding keeps the order of numbers: a <= b stays true. */
void packed_stats_write(struct buf *out, const struct stats_form *f,
	const struct column_stats *stats, size_t n, bool exact);

/* Reads a blob. Statistics that the form does not have become NaN. Columns without values (n = 0)
 * are left out. `*ret` is in `arena`, but uses the column names of `f`: `f` must live as long as
 * `*ret`. Returns -EBADMSG for a damaged blob. */
int packed_stats_read(const struct stats_form *f, const void *blob, size_t size,
	struct arena *arena, struct column_stats **ret, size_t *ret_n);

#endif
