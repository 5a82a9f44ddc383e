/*
 * A database that others may write, too: they may not have us run what it holds. A view has rows without end, and a trigger
 * does what it likes (sqlite.org/security.html, "Untrusted SQLite database files").
 */
#ifndef EXPORTER_UNTRUSTED_H
#define EXPORTER_UNTRUSTED_H

#include <sqlite3.h>

/* Before anything else is done with db; whatever uses a view is an error from then on. */
static inline void untrusted(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
}

#endif
