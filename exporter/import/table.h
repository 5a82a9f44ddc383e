/* Reads a text file with a table: the first line has the names of the columns, and each further
 * line is a row. */
#ifndef EXPORTER_IMPORT_TABLE_H
#define EXPORTER_IMPORT_TABLE_H

#include "exporter/import/import.h"
#include "exporter/import/text_lines.h"

#define TABLE_COLUMNS_MAX 256

struct text_table {
	struct text_lines lines;
	char separator;
	bool quoted; /* true = fields may be in double quotes, as in CSV */
	size_t n;    /* number of columns */
	struct slice name[TABLE_COLUMNS_MAX], field[TABLE_COLUMNS_MAX];
	struct buf names, fields; /* the texts of `name` and `field` */
};

/* Reads the names of the columns. Returns -EINVAL when the first line has no names or too many. The
 * caller must call table_done later, even after a failure. */
int table_begin(struct text_table *t, FILE *in, char separator, bool quoted, struct err *e);

/* Reads the next row; empty lines are skipped. Returns:
 * - 1: a row was read.
 * - 0: the file has no more rows.
 * - -EINVAL: the line is wrong; for example, it has more or fewer fields than there are columns.
 *   The next call reads the line after it.
 * - another negative errno: the file could not be read. */
int table_next(struct text_table *t, struct err *e);

/* Returns the field of the row in this column, without blanks around it. The length is 0 when the
 * field is empty or there is no such column. */
struct slice table_field(const struct text_table *t, const char *column);
bool table_has(const struct text_table *t, const char *column);

void table_done(struct text_table *t);

/* A function that handles one row. It returns 0 to go on, or -EINVAL if the row is wrong, with the
 * reason in `e`. Another negative errno ends the import. */
typedef int table_reader(void *context, const struct text_table *t, const struct import_input *in,
	struct err *e);

/* Calls `read` for each row of a table after table_begin, and reports wrong lines to in->sink. */
int table_read_rows(struct text_table *t, const struct import_input *in, table_reader *read,
	void *context, struct err *e);

/* Checks that the table has all these columns. `columns` ends with NULL. Returns -EINVAL if one is
 * missing, and `e` names it. */
int table_needs(const struct text_table *t, const char *const *columns, struct err *e);

/* Returns a field as a number. NaN = the field is empty or not a number. */
double table_number(const struct text_table *t, const char *column);

#endif
