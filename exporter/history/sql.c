/* Statements of the history, and what went wrong with them as a code and a sentence. */
#include "exporter/history/history_private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char *const statement_text[] = {
#define HISTORY_STATEMENT_TEXT(id, text) [STATEMENT_##id] = text,
	HISTORY_STATEMENTS(HISTORY_STATEMENT_TEXT)};

static const struct {
	int sqlite, code;
} codes[] = {
	/* Extended codes first: they say more than the primary ones below. */
	{SQLITE_IOERR_NOMEM, -ENOMEM},
	{SQLITE_READONLY_DBMOVED, -ESTALE},
	{SQLITE_ERROR, -EPROTO},
	{SQLITE_BUSY, -EBUSY},
	{SQLITE_PROTOCOL, -EBUSY}, /* another process is just opening it */
	{SQLITE_SCHEMA, -EBUSY},
	{SQLITE_LOCKED, -EBUSY},
	{SQLITE_FULL, -ENOSPC},
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

/* Why a file could not be opened is in errno alone. */
static int code_of(struct history *h, int sqlite_code)
{
	int system = h->db ? sqlite3_system_errno(h->db) : 0;

	if ((sqlite_code & 0xff) == SQLITE_CANTOPEN)
		return system ? -system : -EACCES;
	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i].sqlite == sqlite_code || codes[i].sqlite == (sqlite_code & 0xff))
			return codes[i].code;
	return -EIO;
}

int history_error(struct history *h, int sqlite_code, struct err *e, const char *doing)
{
	int code = code_of(h, sqlite_code);
	bool cannot_open = (sqlite_code & 0xff) == SQLITE_CANTOPEN;
	const char *why = h->db && sqlite3_extended_errcode(h->db) == sqlite_code ?
				  sqlite3_errmsg(h->db) :
				  sqlite3_errstr(sqlite_code);

	if (cannot_open)
		return err_system(e, code, "history %s: %s", h->path, doing);
	return err_set(e, code, "history %s: %s: %s", h->path, doing, why);
}

int history_run_sql(struct history *h, const char *text, const char *doing, struct err *e)
{
	int rc = sqlite3_exec(h->db, text, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : history_error(h, rc, e, doing);
}

int sql_prepare(struct sql *q, struct history *h, const char *text, struct err *e)
{
	sqlite3_stmt *s;
	int rc = sqlite3_prepare_v2(h->db, text, -1, &s, NULL);

	if (rc != SQLITE_OK)
		return history_error(h, rc, e, "prepare a statement");
	*q = (struct sql){.history = h, .statement = s, .own = true};
	return 0;
}

int sql_use(struct sql *q, struct history *h, enum history_statement id, struct err *e)
{
	int rc = SQLITE_OK;

	if (!h->statement[id])
		rc = sqlite3_prepare_v3(h->db, statement_text[id], -1, SQLITE_PREPARE_PERSISTENT,
			&h->statement[id], NULL);
	if (rc != SQLITE_OK)
		return history_error(h, rc, e, "prepare a statement");
	*q = (struct sql){.history = h, .statement = h->statement[id]};
	return 0;
}

void sql_done(struct sql *q)
{
	if (!q->statement)
		return;
	if (q->own) {
		sqlite3_finalize(q->statement);
	} else {
		sqlite3_reset(q->statement);
		sqlite3_clear_bindings(q->statement);
	}
	q->statement = NULL;
}

void sql_put_text(struct sql *q, const char *text)
{
	sqlite3_bind_text(q->statement, ++q->parameter, text, -1, SQLITE_STATIC);
}

void sql_put_double(struct sql *q, double v)
{
	sqlite3_bind_double(q->statement, ++q->parameter, v);
}

void sql_put_int(struct sql *q, int64_t v)
{
	sqlite3_bind_int64(q->statement, ++q->parameter, v);
}

int sql_row(struct sql *q, struct err *e)
{
	if (q->lacks)
		return history_error(q->history, q->lacks, e, "read a name");
	int rc = sqlite3_step(q->statement);
	int code = rc == SQLITE_ROW ? 1 : 0;

	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		code = history_error(q->history, rc, e, q->history->writes ? "write" : "read");
	if (rc != SQLITE_ROW) {
		sqlite3_reset(q->statement);
		q->parameter = 0;
	}
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

const char *sql_text(struct sql *q)
{
	return (const char *)sqlite3_column_text(q->statement, q->column++);
}

const char *sql_name(struct sql *q)
{
	/* NOT NULL is checked when a row is written, not when it is read. */
	bool missing = sqlite3_column_type(q->statement, q->column) == SQLITE_NULL;
	const char *text = sql_text(q);

	if (!text)
		q->lacks = missing ? SQLITE_CORRUPT : SQLITE_NOMEM;
	return text ? text : "";
}

double sql_double(struct sql *q)
{
	/* One look-up for type and value, since millions of these are read; the handle has one
	 * thread, as this needs. */
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

int reading_begin(struct reading *ret, struct history *h, struct err *e)
{
	int code = history_check_moved(h, e);

	if (code || !sqlite3_get_autocommit(h->db))
		return code;
	code = history_run_sql(h, "BEGIN", "read", e);
	if (code == 0)
		ret->history = h;
	return code;
}

void reading_end(struct reading *r)
{
	if (r->history && !sqlite3_get_autocommit(r->history->db))
		sqlite3_exec(r->history->db, "COMMIT", NULL, NULL, NULL);
	r->history = NULL;
}
