/* Opens SQLite files and runs statements. Errors are returned as a negative errno and a sentence
 * (struct err).
 *
 * Each sql_put_... function binds the next parameter of a statement. Each reading function
 * (sql_text, ...) reads the next column of the current row. If a statement could not be prepared,
 * the sql_put_... functions do nothing, and sql_row and sql_run return the error. */
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
	const char *path; /* for error texts; owned by the caller */
	const char *kind; /* for error texts: "history " or "" */
	bool writes;      /* true = the file was opened for writing; also used for error texts */
};

/* Opens `name`, which is the path of the file or a URI for it. Views and triggers of the file are
 * disabled, because other users may write to the file (sqlite.org/security.html, "Untrusted SQLite
 * database files"). If f->writes is set, returns -EBADMSG for a file of one byte, because SQLite
 * would overwrite it. */
int sql_open(struct sql_file *f, const char *name, int flags, int busy_ms, struct err *e);
void sql_close(struct sql_file *f);

/* Checks that f->path names a regular file or does not exist. SQLite would open a FIFO, for
 * example, and wait forever. Returns -EISDIR for a directory, and -EINVAL for another file that is
 * not regular. */
int sql_check_place(const struct sql_file *f, struct err *e);

/* Returns true when the file is not an SQLite database, or cannot be read. Checks only the magic
 * bytes, with which even a damaged database begins. Does not check the file size: a database
 * consists of whole pages, but a tar file or a disk image may have such a size, too. */
bool sql_is_no_database(const char *path);

/* Returns true when f->path leads to another file than the open one, or to no file. */
bool sql_moved(const struct sql_file *f);

int sql_exec(const struct sql_file *f, const char *text, const char *doing, struct err *e);
/* Rolls the transaction back. Does nothing when SQLite has already rolled it back after an
 * error. */
void sql_rollback(const struct sql_file *f);

struct sql {
	const struct sql_file *file;
	sqlite3_stmt *statement; /* NULL: not prepared */
	int parameter, column;
	bool own;  /* true = sql_done finalizes the statement; false = sql_done only resets it */
	int code;  /* error of preparing the statement; 0 = none */
	int lacks; /* SQLite's error code after sql_name found NULL; 0 = no NULL was found */
};

struct sql sql_prepare(const struct sql_file *f, const char *text, struct err *e);
/* Returns the statement in `*kept`. If `*kept` is NULL, first prepares the statement from `text`
 * and stores it in `*kept`. */
struct sql sql_reuse(const struct sql_file *f, sqlite3_stmt **kept, const char *text,
	struct err *e);
void sql_done(struct sql *q); /* for AUTO(sql_done) */

/* Each function binds a value to the next parameter. A NULL pointer and NaN become NULL. Texts and
 * blobs must live until sql_done or sql_again. */
void sql_put_text(struct sql *q, const char *text);
void sql_put_slice(struct sql *q, struct slice text);
void sql_put_blob(struct sql *q, const void *data, size_t n);
void sql_put_double(struct sql *q, double v);
void sql_put_int(struct sql *q, int64_t v);

int sql_row(struct sql *q, struct err *e); /* 1 = a row, 0 = no more rows, or a negative errno */
int sql_run(struct sql *q, struct err *e); /* runs the statement to its end and ignores its rows */
void sql_again(struct sql *q);             /* resets the statement for new parameters */

int sql_type(const struct sql *q);   /* type of the next column: SQLITE_TEXT, ... */
void sql_skip(struct sql *q);        /* skips a column */
const char *sql_text(struct sql *q); /* may be NULL; valid until the next row */
/* Like sql_text, for a column in which NULL means that the file is damaged. For NULL, returns "",
 * and the next sql_row returns -EBADMSG. */
const char *sql_name(struct sql *q);
const char *sql_keep_text(struct sql *q, struct arena *arena);
const char *sql_keep_name(struct sql *q, struct arena *arena);
double sql_double(struct sql *q); /* NULL = NaN */
int64_t sql_int(struct sql *q);   /* NULL = 0 */
/* Reads a count or a sum of counts. Returns 0 for NULL, and for a negative number, which only a
 * damaged file contains. */
uint64_t sql_count(struct sql *q);
const void *sql_blob(struct sql *q, size_t *n); /* may be NULL; valid until the next row */

#endif
