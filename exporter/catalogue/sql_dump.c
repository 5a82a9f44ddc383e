/* Splits a dump into statements, and runs the statements that fill tables in `needed`. */
#include "exporter/catalogue/sql_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <sqlite3.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"

struct catalogue_dump {
	sqlite3 *db;
	struct buf statement;
	size_t read;        /* bytes of `statement` that ends_statement has already scanned */
	char quote;         /* opening quote that is not closed yet; '\0' = none */
	bool is_whole;      /* `statement` ends in a semicolon, or has only blanks and comments */
	unsigned long line; /* number of the line in which the statement ends */
	uint64_t steps;     /* steps that SQLite may still make before it is stopped */
};

/* Limits of the steps of SQLite's virtual machine. They stop a short statement with an endless
 * join. A statement may take STEPS_OF_ANY steps, and STEPS_PER_BYTE more for each of its bytes.
 * Measured: an INSERT takes 0.3 to 2.2 steps per byte, and a CREATE TABLE takes 80 steps in
 * total. */
#define STEPS_PER_BYTE 10
#define STEPS_OF_ANY   100000
#define STEPS_BETWEEN  1000 /* number of steps between two checks of the limit */

/* The tables that exporter/catalogue/scdata.c reads. All other tables are skipped, to save time and
 * space: their texts alone are half of a dump. */
static const char *const needed[] = {"country", "vendor", "vendor_compliance_link", "region",
	"server", "server_price", "storage_price", "traffic_price", "ipv4_price", "benchmark",
	"benchmark_score", "currency", "_metadata"};

static bool is_needed(const char *table, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(needed); i++)
		if (strlen(needed[i]) == len && memcmp(needed[i], table, len) == 0)
			return true;
	return false;
}

/* Restricts the statements of the untrusted dump (callback of sqlite3_set_authorizer). Allows them
 * only to create and fill tables of the database file. Denies access to other files, functions with
 * side effects, and virtual tables. */
static int authorise(void *context, int action, const char *a, const char *b, const char *database,
	const char *inner)
{
	(void)context;
	(void)b;
	(void)inner;
	switch (action) {
	case SQLITE_CREATE_TABLE:
	case SQLITE_CREATE_INDEX: /* CREATE TABLE makes indexes for primary keys */
	case SQLITE_REINDEX:
	case SQLITE_TRANSACTION:
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_UPDATE: /* CREATE TABLE updates sqlite_master */
		return database && strcmp(database, "main") != 0 ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_INSERT:
		return (is_needed(a, strlen(a)) || strncmp(a, "sqlite_", 7) == 0) ? SQLITE_OK :
										    SQLITE_IGNORE;
	case SQLITE_FUNCTION: /* some dumps write newlines with replace() and char() */
		return strcasecmp(b ? b : "", "replace") == 0 ||
				       strcasecmp(b ? b : "", "char") == 0 ?
			       SQLITE_OK :
			       SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

static int takes_too_long(void *context)
{
	struct catalogue_dump *d = context;
	bool over = d->steps < STEPS_BETWEEN;

	d->steps -= over ? d->steps : STEPS_BETWEEN;
	return over;
}

int catalogue_dump_open(struct catalogue_dump **ret, const char *path, struct err *e)
{
	struct catalogue_dump *d = xcalloc(1, sizeof *d);

	d->statement = BUF_MAX(CATALOGUE_STATEMENT_MAX);
	d->line = 1;
	d->is_whole = true;
	if (sqlite3_open_v2(path, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
			SQLITE_OK ||
		sqlite3_exec(d->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN",
			NULL, NULL, NULL) != SQLITE_OK) {
		int code = err_set(e, -EIO, "%s: %s", path, sqlite3_errmsg(d->db));

		catalogue_dump_close(d, NULL);
		return code;
	}
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_limit(d->db, SQLITE_LIMIT_LENGTH, CATALOGUE_STATEMENT_MAX);
	sqlite3_set_authorizer(d->db, authorise, NULL);
	sqlite3_progress_handler(d->db, STEPS_BETWEEN, takes_too_long, d);
	*ret = d;
	return 0;
}

/* If the statement begins with "INSERT INTO" or "CREATE TABLE", returns the text after these words:
 * the name of the table and the rest. Returns NULL for any other statement. */
static const char *table_of(const char *statement)
{
	static const char *const words[] = {
		"INSERT INTO ", "CREATE TABLE IF NOT EXISTS ", "CREATE TABLE "};

	statement += strspn(statement, " \t\r\n");
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strncasecmp(statement, words[i], strlen(words[i])) == 0)
			return statement + strlen(words[i]);
	return NULL;
}

/* Returns true for statements that are skipped: transactions, settings, indexes, views, and
 * statements on tables that are not in `needed`. */
static bool left_out(const char *statement)
{
	const char *table = table_of(statement);

	if (!table)
		return true;
	table += strspn(table, " \"`[");
	return !is_needed(table, strcspn(table, "\"`] (\t\r\n"));
}

static int run_statement(struct catalogue_dump *d, struct err *e)
{
	char *message = NULL;
	int code = 0;

	if (!left_out(buf_text(&d->statement))) {
		d->steps = STEPS_OF_ANY + (uint64_t)d->statement.len * STEPS_PER_BYTE;
		code = sqlite3_exec(d->db, buf_text(&d->statement), NULL, NULL, &message);
	}
	if (code == SQLITE_INTERRUPT)
		code = err_set(e, -EINVAL,
			"SQL dump, line %lu: a statement that does more than fill a table",
			d->line);
	else if (code != SQLITE_OK)
		code = err_set(e, -EINVAL, "SQL dump, line %lu: %s", d->line,
			message ? message : "refused");
	sqlite3_free(message);
	buf_reset(&d->statement);
	d->read = 0;
	return code;
}

/* Returns true when the statement is complete: its last line ends in a semicolon that is neither in
 * quotes nor in a "--" comment. Scans only the text that was added since the last call. */
static bool ends_statement(struct catalogue_dump *d)
{
	const char *at = buf_text(&d->statement) + d->read;

	for (; *at; at++) {
		if (d->quote)
			d->quote = *at == d->quote ? '\0' : d->quote;
		else if (at[0] == '-' && at[1] == '-')
			break;
		else if (strchr("'\"`", *at))
			d->quote = *at;
		if (!strchr(" \t\r\n", *at))
			d->is_whole = *at == ';' && !d->quote;
	}
	d->read = d->statement.len;
	return d->is_whole && !d->quote;
}

/* A statement ends only at the end of a line, never inside a line. Lines with only blanks and
 * comments are skipped. */
int catalogue_dump_add(struct catalogue_dump *d, const char *text, size_t len, struct err *e)
{
	for (size_t i = 0; i < len;) {
		const char *newline = memchr(text + i, '\n', len - i);
		size_t n = newline ? (size_t)(newline - text) + 1 - i : len - i;

		buf_add(&d->statement, text + i, n);
		if (d->statement.full)
			return err_set(e, -EFBIG,
				"SQL dump, line %lu: a statement of more than %u MiB", d->line,
				CATALOGUE_STATEMENT_MAX >> 20);
		i += n;
		if (!newline)
			break;
		int code = ends_statement(d) ? run_statement(d, e) : 0;

		if (code)
			return code;
		d->line++;
	}
	return 0;
}

int catalogue_dump_close(struct catalogue_dump *d, struct err *e)
{
	int code = 0;

	if (!d)
		return 0;
	if (e)
		code = ends_statement(d) ? run_statement(d, e) :
					   err_set(e, -EINVAL, "SQL dump: ends within a statement");
	sqlite3_set_authorizer(d->db, NULL, NULL);
	sqlite3_progress_handler(d->db, 0, NULL, NULL);
	if (code == 0 && sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		code = err_set(e, -EIO, "SQL dump: %s", sqlite3_errmsg(d->db));
	sqlite3_close(d->db);
	buf_done(&d->statement);
	free(d);
	return code;
}
