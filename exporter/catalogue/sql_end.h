/*
 * Where statements of SQL end, in text that comes piece by piece: what sqlite3_complete tells, which would read all of a
 * statement again for each of its lines.
 */
#ifndef EXPORTER_SQL_END_H
#define EXPORTER_SQL_END_H

#include <stdbool.h>
#include <stddef.h>

/* All 0 at the beginning of the text. Private to exporter/catalogue/sql_end.c. */
struct sql_end {
	unsigned char statement, in; /* enum statement, enum inside */
	char closes;                 /* what a quote ends with */
	char before;                 /* the last character of a comment */
	unsigned char n_word;        /* letters of the word so far; one more than kept = too long */
	char word[9];                /* as long as the longest keyword, lower case */
};

void sql_end_read(struct sql_end *s, const char *text, size_t n);

/* Is what was read so far made of whole statements, blanks and comments? */
bool sql_end_is_here(const struct sql_end *s);

#endif
