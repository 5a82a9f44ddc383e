/* Runs the SQL dump of an sc-data database (sc-data-all.sql) into a database file, piece by piece.
 * The dump is untrusted: it may only create the tables that exporter/catalogue/scdata.h reads, and
 * insert rows into them. All other statements are skipped or refused. */
#ifndef EXPORTER_CATALOGUE_SQL_DUMP_H
#define EXPORTER_CATALOGUE_SQL_DUMP_H

#include <stddef.h>

#include "collectors/base/err.h"

struct catalogue_dump;

/* `path` names an empty file, which becomes the database. */
int catalogue_dump_open(struct catalogue_dump **ret, const char *path, struct err *e);

/* Adds the next piece of the dump, and runs the statements that are complete. A piece may end in
 * the middle of a statement or a word. */
int catalogue_dump_add(struct catalogue_dump *d, const char *text, size_t len, struct err *e);

/* Ends the dump and frees `d`, which may be NULL. Returns an error if the last statement is
 * incomplete. After an error of catalogue_dump_add, pass NULL as `e`: the last statement is then
 * discarded without an error. */
int catalogue_dump_close(struct catalogue_dump *d, struct err *e);

#define CATALOGUE_STATEMENT_MAX (64u << 20)

#endif
