/* What an answer holds on to, and when it lets go. */
#include "exporter/history/tables.h"

/* Some ten thousand numbers are read, or some tens of rows, between two askings. */
#define STEPS_BETWEEN 16384

static int ask_whether_over(void *over)
{
	bool (*const *function)(void) = over;

	return (*function)();
}

void history_give_up_when(struct history *h, bool (*over)(void))
{
	h->over = over;
	sqlite3_progress_handler(h->file.db, STEPS_BETWEEN, ask_whether_over, &h->over);
}

int history_hold(struct history *h, struct err *e)
{
	return sqlite3_get_autocommit(h->file.db) ? sql_exec(&h->file, "BEGIN", "read", e) : 0;
}
