/* Stores in the history which ended runs were sent to which receiver. */
#include "exporter/history/tables.h"

/* The statements that list, count and mark the runs of one receiver (SEND_STATEMENTS). */
struct send_statements {
	enum history_statement list, count, mark;
};

static struct send_statements statements_of(enum history_receiver to)
{
	return to == RECEIVER_STORE ? (struct send_statements){STATEMENT_NOT_WRITTEN,
					      STATEMENT_COUNT_NOT_WRITTEN, STATEMENT_WRITTEN} :
				      (struct send_statements){STATEMENT_NOT_FORWARDED,
					      STATEMENT_COUNT_NOT_FORWARDED, STATEMENT_FORWARDED};
}

int history_unsent(struct history *h, enum history_receiver to, size_t limit, struct arena *arena,
	const char ***ret, size_t *ret_n, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, statements_of(to).list, e);
	AUTO(freep) const char **run_id = NULL;
	size_t n = 0, room = 0;
	int code = history_check_moved(h, e);

	if (code)
		return code;
	sql_put_int(&q, (int64_t)limit);
	while ((code = sql_row(&q, e)) > 0) {
		GROW(run_id, n, room);
		run_id[n++] = sql_keep_name(&q, arena);
	}
	if (code)
		return code;
	*ret = history_keep(arena, run_id, n * sizeof *run_id);
	*ret_n = n;
	return 0;
}

int history_count_unsent(struct history *h, enum history_receiver to, uint64_t *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, statements_of(to).count, e);
	int code = sql_row(&q, e);

	if (code > 0)
		*ret = sql_count(&q);
	return code < 0 ? code : 0;
}

int history_run_sent(struct history *h, enum history_receiver to, const char *run_id,
	enum outcome outcome, double at, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, statements_of(to).mark, e);

	sql_put_text(&q, run_id);
	sql_put_double(&q, at);
	sql_put_int(&q, outcome == OUTCOME_INTERRUPTED);
	return sql_run(&q, e);
}
