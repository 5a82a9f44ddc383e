/* What an answer holds on to, and when it lets go. */
#include "exporter/history/history_private.h"

/* Some ten thousand numbers are read, or some tens of rows, between two askings. */
#define STEPS_BETWEEN 16384

static int ask(void *over)
{
	bool (*const *function)(void) = over;

	return (*function)();
}

void history_give_up_when(struct history *h, bool (*over)(void))
{
	h->over = over;
	sqlite3_progress_handler(h->db, STEPS_BETWEEN, ask, &h->over);
}

int history_hold(struct history *h, struct err *e)
{
	return sqlite3_get_autocommit(h->db) ? history_run_sql(h, "BEGIN", "read", e) : 0;
}
