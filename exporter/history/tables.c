/* The statements and transactions of the history. */
#include "exporter/history/tables.h"

#include <errno.h>
#include <string.h>

#include "exporter/core/counters.h"

static const char *const statement_text[] = {
#define HISTORY_STATEMENT_TEXT(id, text) [STATEMENT_##id] = text,
	HISTORY_STATEMENTS(HISTORY_STATEMENT_TEXT)};

struct sql sql_use(struct history *h, enum history_statement id, struct err *e)
{
	return sql_reuse(&h->file, &h->statement[id], statement_text[id], e);
}

int sql_use_run(struct history *h, enum history_statement id, const int64_t *values, size_t n,
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, id, e);

	for (size_t i = 0; i < n; i++)
		sql_put_int(&q, values[i]);
	return sql_run(&q, e);
}

enum outcome sql_outcome(struct sql *q)
{
	const char *name = sql_text(q);
	enum outcome o;

	return name && run_outcome_parse(name, &o) ? o : OUTCOME_UNKNOWN;
}

bool history_moved(struct history *h)
{
	return !h->memory && sql_moved(&h->file);
}

int history_check_moved(struct history *h, struct err *e)
{
	if (!history_moved(h))
		return 0;
	return err_set(e, -ESTALE, "history %s: the file was deleted or replaced while it was open",
		h->path);
}

/* ---- transactions ---- */

int history_transaction(struct history *h, struct err *e)
{
	int code = sql_use_run(h, STATEMENT_BEGIN, NULL, 0, e);

	h->not_plausible = 0;
	if (code == 0)
		code = history_check_moved(h, e);
	if (code == 0)
		code = history_check_intact(h, e);
	if (code)
		history_rollback(h);
	return code;
}

int history_commit(struct history *h, struct err *e)
{
	int code = sql_use_run(h, STATEMENT_COMMIT, NULL, 0, e);

	if (code)
		history_rollback(h);
	else
		counters_not_plausible_add(h->not_plausible);
	return code;
}

void history_forget_forms(struct history *h)
{
	h->n_forms = 0;
	h->kept_form = 0;
	arena_done(&h->forms);
}

void history_rollback(struct history *h)
{
	sql_rollback(&h->file);
	history_forget_forms(h); /* a form may have been added in this transaction */
}

int history_end(struct history *h, int code, struct err *e)
{
	int failed = 0;

	if (code >= 0)
		failed = history_commit(h, e);
	else
		history_rollback(h);
	return failed ? failed : code;
}

int sql_reading_begin(struct sql_reading *ret, struct history *h, struct err *e)
{
	int code = history_check_moved(h, e);

	if (code || !sqlite3_get_autocommit(h->file.db))
		return code;
	code = sql_exec(&h->file, "BEGIN", "read", e);
	if (code == 0)
		ret->history = h;
	return code;
}

void sql_reading_end(struct sql_reading *r)
{
	if (r->history && !sqlite3_get_autocommit(r->history->file.db))
		sqlite3_exec(r->history->file.db, "COMMIT", NULL, NULL, NULL);
	r->history = NULL;
}

void *history_keep(struct arena *arena, const void *rows, size_t size)
{
	void *ret = arena_alloc(arena, size);

	if (size)
		memcpy(ret, rows, size);
	return ret;
}
