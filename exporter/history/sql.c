/* Runs SQLite statements. Turns SQLite's errors into a code and a sentence. */
#include "exporter/history/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	int sqlite, code;
} codes[] = {
	/* The first matching row counts, so an extended code must come before its primary code. */
	{SQLITE_IOERR_NOMEM, -ENOMEM},
	{SQLITE_READONLY_DBMOVED, -ESTALE},
	{SQLITE_ERROR, -EPROTO},
	{SQLITE_BUSY, -EBUSY},
	{SQLITE_PROTOCOL, -EBUSY}, /* another process is opening the file */
	{SQLITE_SCHEMA, -EBUSY},
	{SQLITE_LOCKED, -EBUSY},
	{SQLITE_FULL, -ENOSPC},
	{SQLITE_IOERR_SHMSIZE, -ENOSPC}, /* there is no room for the -shm file */
	{SQLITE_IOERR, -EIO},
	{SQLITE_CORRUPT, -EBADMSG},
	{SQLITE_NOTADB, -EBADMSG},
	{SQLITE_READONLY, -EROFS},
	{SQLITE_PERM, -EACCES},
	{SQLITE_AUTH, -EACCES},
	{SQLITE_NOMEM, -ENOMEM},
	{SQLITE_CONSTRAINT, -EINVAL},
	{SQLITE_MISMATCH, -EINVAL},
	{SQLITE_TOOBIG, -E2BIG},
};

/* Returns the negative errno for an error code of SQLite. SQLITE_CANTOPEN does not tell the reason,
 * so the errno of the system call is used for it. */
static int code_of(const struct sql_file *f, int sqlite_code)
{
	int system = f->db ? sqlite3_system_errno(f->db) : 0;

	if ((sqlite_code & 0xff) == SQLITE_CANTOPEN)
		return system ? -system : -EACCES;
	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i].sqlite == sqlite_code || codes[i].sqlite == (sqlite_code & 0xff))
			return codes[i].code;
	return -EIO;
}

static int sql_error(const struct sql_file *f, int sqlite_code, struct err *e, const char *doing)
{
	int code = code_of(f, sqlite_code);
	bool cannot_open = (sqlite_code & 0xff) == SQLITE_CANTOPEN;
	const char *why = f->db && sqlite3_extended_errcode(f->db) == sqlite_code ?
				  sqlite3_errmsg(f->db) :
				  sqlite3_errstr(sqlite_code);

	if (cannot_open)
		return err_system(e, code, "%s%s: %s", f->kind, f->path, doing);
	return err_set(e, code, "%s%s: %s: %s", f->kind, f->path, doing, why);
}

/* ---- the file ---- */

int sql_open(struct sql_file *f, const char *name, int flags, int busy_ms, struct err *e)
{
	int rc = sqlite3_open_v2(name, &f->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
	struct stat st;

	if (rc != SQLITE_OK)
		return sql_error(f, rc, e, "open");
	sqlite3_db_config(f->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(f->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(f->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_extended_result_codes(f->db, 1);
	sqlite3_busy_timeout(f->db, busy_ms);
	/* SQLite treats a file of one byte as empty (unixFileSize() in os_unix.c) and would
	 * overwrite it. */
	if (f->writes && stat(f->path, &st) == 0 && st.st_size == 1)
		return sql_error(f, SQLITE_NOTADB, e, "open");
	return 0;
}

void sql_close(struct sql_file *f)
{
	sqlite3_close(f->db);
	f->db = NULL;
}

int sql_check_place(const struct sql_file *f, struct err *e)
{
	struct stat st;

	if (stat(f->path, &st) < 0)
		return errno == ENOENT ? 0 : err_system(e, -errno, "%s%s", f->kind, f->path);
	if (S_ISDIR(st.st_mode))
		return err_set(e, -EISDIR, "%s%s: it is a directory; a file is needed", f->kind,
			f->path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "%s%s: it is not a regular file", f->kind, f->path);
	return 0;
}

bool sql_is_no_database(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof magic];
	AUTO(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 || read(fd, head, sizeof head) != sizeof head ||
	       memcmp(head, magic, sizeof magic) != 0;
}

bool sql_moved(const struct sql_file *f)
{
	int moved = 0;
	struct stat st;

	if (sqlite3_file_control(f->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK)
		return false;
	/* SQLite also reports a file as moved when this process has lost the right to search its
	 * folder. Return false in this case: the open file can still be written, but it could not
	 * be opened again. */
	return moved && (stat(f->path, &st) == 0 || errno != EACCES);
}

int sql_exec(const struct sql_file *f, const char *text, const char *doing, struct err *e)
{
	int rc = sqlite3_exec(f->db, text, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : sql_error(f, rc, e, doing);
}

void sql_rollback(const struct sql_file *f)
{
	if (!sqlite3_get_autocommit(f->db))
		sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- a statement ---- */

struct sql sql_prepare(const struct sql_file *f, const char *text, struct err *e)
{
	struct sql q = {.file = f, .own = true};
	int rc = sqlite3_prepare_v2(f->db, text, -1, &q.statement, NULL);

	if (rc != SQLITE_OK)
		q.code = sql_error(f, rc, e, "prepare a statement");
	return q;
}

struct sql sql_reuse(const struct sql_file *f, sqlite3_stmt **kept, const char *text, struct err *e)
{
	struct sql q = {.file = f};
	int rc = *kept ? SQLITE_OK :
			 sqlite3_prepare_v3(f->db, text, -1, SQLITE_PREPARE_PERSISTENT, kept, NULL);

	if (rc != SQLITE_OK)
		q.code = sql_error(f, rc, e, "prepare a statement");
	q.statement = *kept;
	return q;
}

void sql_done(struct sql *q)
{
	if (q->own) {
		sqlite3_finalize(q->statement);
	} else if (q->statement) {
		sqlite3_reset(q->statement);
		sqlite3_clear_bindings(q->statement);
	}
	q->statement = NULL;
}

void sql_put_text(struct sql *q, const char *text)
{
	if (q->statement)
		sqlite3_bind_text(q->statement, ++q->parameter, text, -1, SQLITE_STATIC);
}

void sql_put_slice(struct sql *q, struct slice text)
{
	if (q->statement)
		sqlite3_bind_text(q->statement, ++q->parameter, text.data, (int)text.len,
			SQLITE_STATIC);
}

void sql_put_blob(struct sql *q, const void *data, size_t n)
{
	if (q->statement)
		sqlite3_bind_blob64(q->statement, ++q->parameter, data, n, SQLITE_STATIC);
}

void sql_put_double(struct sql *q, double v)
{
	if (q->statement)
		sqlite3_bind_double(q->statement, ++q->parameter, v);
}

void sql_put_int(struct sql *q, int64_t v)
{
	if (q->statement)
		sqlite3_bind_int64(q->statement, ++q->parameter, v);
}

void sql_again(struct sql *q)
{
	sqlite3_reset(q->statement);
	q->parameter = 0;
}

int sql_row(struct sql *q, struct err *e)
{
	if (q->code)
		return q->code;
	if (q->lacks)
		return sql_error(q->file, q->lacks, e, "read a name");
	int rc = sqlite3_step(q->statement);
	int code = rc == SQLITE_ROW ? 1 : 0;

	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		code = sql_error(q->file, rc, e, q->file->writes ? "write" : "read");
	if (rc != SQLITE_ROW)
		sql_again(q);
	q->column = 0;
	return code;
}

int sql_run(struct sql *q, struct err *e)
{
	int code;

	while ((code = sql_row(q, e)) > 0)
		;
	return code;
}

int sql_type(const struct sql *q)
{
	return sqlite3_column_type(q->statement, q->column);
}

void sql_skip(struct sql *q)
{
	q->column++;
}

const char *sql_text(struct sql *q)
{
	return (const char *)sqlite3_column_text(q->statement, q->column++);
}

const char *sql_name(struct sql *q)
{
	/* A damaged file may contain NULL in a NOT NULL column, because SQLite checks NOT NULL only
	 * when it writes a row. */
	bool missing = sql_type(q) == SQLITE_NULL;
	const char *text = sql_text(q);

	if (!text)
		q->lacks = missing ? SQLITE_CORRUPT : SQLITE_NOMEM;
	return text ? text : "";
}

static const char *keep_text(struct arena *arena, const char *text)
{
	return text ? arena_text(arena, text, strlen(text)) : NULL;
}

const char *sql_keep_text(struct sql *q, struct arena *arena)
{
	return keep_text(arena, sql_text(q));
}

const char *sql_keep_name(struct sql *q, struct arena *arena)
{
	return keep_text(arena, sql_name(q));
}

double sql_double(struct sql *q)
{
	/* Look up the column only once for the two calls below, because millions of values are
	 * read. SQLite allows this, because only one thread uses the handle. */
	sqlite3_value *v = sqlite3_column_value(q->statement, q->column++);

	return sqlite3_value_type(v) == SQLITE_NULL ? NAN : sqlite3_value_double(v);
}

int64_t sql_int(struct sql *q)
{
	return sqlite3_column_int64(q->statement, q->column++);
}

uint64_t sql_count(struct sql *q)
{
	int64_t v = sql_int(q);

	return v > 0 ? (uint64_t)v : 0;
}

const void *sql_blob(struct sql *q, size_t *n)
{
	const void *data = sqlite3_column_blob(q->statement, q->column);

	*n = (size_t)sqlite3_column_bytes(q->statement, q->column++);
	return data;
}
