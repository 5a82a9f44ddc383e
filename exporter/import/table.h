/* Reads a table as text: a line with the names of the columns, then a line for each row. */
#ifndef EXPORTER_IMPORT_TABLE_H
#define EXPORTER_IMPORT_TABLE_H

#include "exporter/import/import.h"
#include "exporter/import/text_lines.h"

#define TABLE_COLUMNS_MAX 256

struct text_table {
	struct text_lines lines;
	char separator;
	bool quoted; /* fields may stand in double quotes, as in CSV */
	size_t n;    /* number of columns */
	struct slice name[TABLE_COLUMNS_MAX], field[TABLE_COLUMNS_MAX];
	struct buf names, fields; /* the texts of `name` and `field` */
};

/* Reads the names of the columns. Returns -EINVAL when the first line has none, or too many.
 * Afterwards, also after a failure, the caller calls table_done. */
int table_begin(struct text_table *t, FILE *in, char separator, bool quoted, struct err *e);

/* Reads the next row; empty lines are skipped. Returns 1 = a row, 0 = the end, -EINVAL = a wrong
 * line, for example one that has more or fewer fields than there are columns; the next call reads
 * the line after it. Any other negative errno: the read failed. */
int table_next(struct text_table *t, struct err *e);

/* Returns the field of the row in this column, without blanks around it. The length is 0 when the
 * field is empty or there is no such column. */
struct slice table_field(const struct text_table *t, const char *column);
bool table_has(const struct text_table *t, const char *column);

void table_done(struct text_table *t);

/* A function that reads a row. It returns 0 to go on, -EINVAL if the row is wrong, with the reason
 * in `e`, or another negative errno, which ends the import. */
typedef int table_reader(void *context, const struct text_table *t, const struct import_input *in,
	struct err *e);

/* Reads all rows of a table that was begun, and tells the sink which lines are wrong. */
int table_read_rows(struct text_table *t, const struct import_input *in, table_reader *read,
	void *context, struct err *e);

/* Checks that the table has all these columns. `columns` ends with NULL. Returns -EINVAL if one is
 * missing, and `e` names it. */
int table_needs(const struct text_table *t, const char *const *columns, struct err *e);

/* Reads a field as a number. NaN = it is empty, or no number. */
double table_number(const struct text_table *t, const char *column);

#endif
