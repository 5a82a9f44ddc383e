/* Whether a file was not closed properly, as SQLite tells it in its log. */
#include "exporter/history/history_private.h"

static bool is_heard;
static _Thread_local bool recovered;

static void hear(void *context, int code, const char *message)
{
	(void)context;
	(void)message;
	recovered = recovered || code == SQLITE_NOTICE_RECOVER_WAL;
}

void history_recovery_hear(void)
{
	is_heard = sqlite3_config(SQLITE_CONFIG_LOG, hear, NULL) == SQLITE_OK;
}

void history_recovery_begin(void)
{
	recovered = !is_heard;
}

bool history_recovery_done(void)
{
	return recovered;
}
