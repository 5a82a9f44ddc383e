/*
 * The SQL dump of an sc-data database (sc-data-all.sql), run into a database file piece by piece. What comes from
 * outside is not trusted: nothing but creating tables and inserting into those that are needed is carried out.
 */
#ifndef EXPORTER_CATALOGUE_SQL_DUMP_H
#define EXPORTER_CATALOGUE_SQL_DUMP_H

#include <stddef.h>

#include "collectors/base/err.h"

struct catalogue_dump;

/* path: an empty file. */
int catalogue_dump_open(struct catalogue_dump **ret, const char *path, struct err *e);

/* Some more of the text, cut anywhere. */
int catalogue_dump_add(struct catalogue_dump *d, const char *text, size_t len, struct err *e);

/* Frees d; NULL does nothing. The end of the text: an error when it ends within a statement. */
int catalogue_dump_close(struct catalogue_dump *d, struct err *e);

#define CATALOGUE_STATEMENT_MAX (64u << 20)

#endif
