/* A table for a terminal. Cells are added row by row. Then the table is written within the width of
 * the screen. If the screen is too narrow, the texts of the first column are shortened and get "…"
 * at the end. If that is not enough, columns whose `drop` is not 0 are left out. A column without
 * any text is not shown. Numbers are never shortened. Only one thread may use a grid. */
#ifndef EXPORTER_TERMINAL_GRID_H
#define EXPORTER_TERMINAL_GRID_H

#include "exporter/terminal/screen.h"

#define GRID_COLUMNS_MAX 16

struct grid_column {
	const char *heading;
	bool right; /* true = the cells are aligned at the right, as for numbers */
	/* If the table is too wide, the column with the largest `drop` is left out first. A column
	 * with 0 always stays. */
	unsigned drop;
	/* only for the first column: least width to which it may be shortened; 0 = never
	 * shortened */
	int least;
};

struct grid;

/* `columns` describes the `n` <= GRID_COLUMNS_MAX columns of the table, and must outlive the
 * grid. */
struct grid *grid_new(const struct grid_column *columns, size_t n);
void grid_free(struct grid *g); /* accepts NULL */
static inline void grid_freep(struct grid **g)
{
	grid_free(*g);
}

/* Adds the next cell of the row. Call it for each column of each row, with "" for an empty cell.
 * Copies `text`, and replaces control characters by "?". */
void grid_add(struct grid *g, enum style style, const char *text);
/* Adds the text of `b` as the next cell, and empties `b`. */
void grid_take(struct grid *g, enum style style, struct buf *b);

void grid_write(struct buf *out, const struct grid *g, const struct screen *s);

#endif
