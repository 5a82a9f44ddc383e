/* Stores the texts that many runs share, such as the labels and the names of the server
 * (CIRCUMSTANCES in tables.h). The file stores each set of texts once, as a row of the table
 * circumstances, and counts the runs that refer to it. A set is removed with the last run that
 * refers to it. */
#include "exporter/history/tables.h"

#include <string.h>

#include "collectors/base/mem.h"

static int64_t hash_of(const struct circumstances *c)
{
	uint64_t hash = 0;

	/* Multiply, so that the same texts in another order have another hash. The factor can be
	 * any large odd number. */
	for (size_t i = 0; i < CIRCUMSTANCES_COUNT; i++)
		hash = (hash + (c->text[i] ? hash_text(c->text[i]) : 0)) * 0x9e3779b97f4a7c15;
	return (int64_t)hash;
}

static void put_texts(struct sql *q, const struct circumstances *c)
{
	for (size_t i = 0; i < CIRCUMSTANCES_COUNT; i++)
		sql_put_text(q, c->text[i]);
}

/* Looks for the row with these texts. If there is one, increments its count of runs, sets `*ret` to
 * its id and returns 1. Returns 0 when there is no such row. */
static int hold_known(struct history *h, int64_t hash, const struct circumstances *c, int64_t *ret,
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_HOLD_CIRCUMSTANCES, e);

	sql_put_int(&q, hash);
	put_texts(&q, c);
	int code = sql_row(&q, e);

	if (code > 0)
		*ret = sql_int(&q);
	return code;
}

static int add(struct history *h, int64_t hash, const struct circumstances *c, int64_t *ret,
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_ADD_CIRCUMSTANCES, e);

	sql_put_int(&q, hash);
	put_texts(&q, c);
	int code = sql_run(&q, e);

	*ret = sqlite3_last_insert_rowid(h->file.db);
	return code;
}

int circumstances_hold(struct history *h, const struct circumstances *c, int64_t *ret,
	struct err *e)
{
	int64_t hash = hash_of(c);
	int code = hold_known(h, hash, c, ret, e);

	if (code == 0)
		code = add(h, hash, c, ret, e);
	return code < 0 ? code : 0;
}

int circumstances_release(struct history *h, int64_t id, struct err *e)
{
	int code = id ? sql_use_run(h, STATEMENT_RELEASE_CIRCUMSTANCES, &id, 1, e) : 0;

	return code || !id ? code : sql_use_run(h, STATEMENT_DROP_CIRCUMSTANCES, &id, 1, e);
}

int circumstances_of_run(struct history *h, int64_t run, struct arena *arena,
	struct circumstances *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_CIRCUMSTANCES_OF_RUN, e);

	*ret = (struct circumstances){0};
	sql_put_int(&q, run);
	int code = sql_row(&q, e);

	sql_skip(&q);
	for (size_t i = 0; code > 0 && i < CIRCUMSTANCES_COUNT; i++)
		ret->text[i] = sql_keep_text(&q, arena);
	return code < 0 ? code : 0;
}

void circumstances_merge(struct circumstances *c, const struct circumstances *newer)
{
	for (size_t i = 0; i < CIRCUMSTANCES_COUNT; i++)
		if (newer->text[i])
			c->text[i] = newer->text[i];
}
