/*
 * SQLite files: opening, statements, and what went wrong as a code and a sentence.
 *
 * A statement that could not be prepared takes parameters and does nothing; sql_row and sql_run say why. Parameters and
 * columns are taken in order.
 */
#ifndef EXPORTER_HISTORY_SQL_H
#define EXPORTER_HISTORY_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/err.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

struct sql_file {
	sqlite3 *db;      /* NULL: not open */
	const char *path; /* for sentences; the caller's */
	const char *kind; /* of the file, for sentences: "history ", "" */
	bool writes;      /* for sentences */
};

/*
 * Opens name, which is the path or a URI of it. Other users may write to the file: its views and triggers do not work
 * (sqlite.org/security.html, "Untrusted SQLite database files").
 */
int sql_open(struct sql_file *f, const char *name, int flags, int busy_ms, struct err *e);
void sql_close(struct sql_file *f);

/* SQLite would open a FIFO, and wait there for ever: -EINVAL, -EISDIR. A path with nothing there is no error. */
int sql_check_place(const struct sql_file *f, struct err *e);

/* True when the path no longer names the file that is open. */
bool sql_moved(const struct sql_file *f);

int sql_exec(const struct sql_file *f, const char *text, const char *doing, struct err *e);
/* SQLite itself has rolled back after some errors; then this does nothing. */
void sql_rollback(const struct sql_file *f);

struct sql {
	const struct sql_file *file;
	sqlite3_stmt *statement; /* NULL: not prepared */
	int parameter, column;
	bool own;  /* finalized when done */
	int code;  /* why it was not prepared */
	int lacks; /* SQLite's code for a NULL in a column that never has one; 0 = none */
};

struct sql sql_prepare(const struct sql_file *f, const char *text, struct err *e);
/* A statement that is kept in *kept, and prepared there at first use. */
struct sql sql_reuse(const struct sql_file *f, sqlite3_stmt **kept, const char *text,
	struct err *e);
void sql_done(struct sql *q); /* for AUTO(sql_done) */

/* NULL and NaN are NULL; texts and blobs must live until the statement is done. */
void sql_put_text(struct sql *q, const char *text);
void sql_put_slice(struct sql *q, struct slice text);
void sql_put_blob(struct sql *q, const void *data, size_t n);
void sql_put_double(struct sql *q, double v);
void sql_put_int(struct sql *q, int64_t v);

int sql_row(struct sql *q, struct err *e); /* 1 = a row, 0 = no more, or negative errno */
int sql_run(struct sql *q, struct err *e); /* to its end, without looking at rows */
void sql_again(struct sql *q);             /* before its end: new parameters */

int sql_type(const struct sql *q);   /* of the next column: SQLITE_TEXT, ... */
void sql_skip(struct sql *q);        /* a column */
const char *sql_text(struct sql *q); /* NULL = NULL; valid until the next row */
/* The same of a column that is never NULL. In a damaged file it may be: "", and the next sql_row says -EBADMSG. */
const char *sql_name(struct sql *q);
const char *sql_keep_text(struct sql *q, struct arena *arena);
const char *sql_keep_name(struct sql *q, struct arena *arena);
double sql_double(struct sql *q); /* NULL = NaN */
int64_t sql_int(struct sql *q);   /* NULL = 0 */
/* A count or a sum of counts. NULL, or less than none, which a damaged file may have, = 0. */
uint64_t sql_count(struct sql *q);
const void *sql_blob(struct sql *q, size_t *n); /* NULL = none; valid until the next row */

#endif
