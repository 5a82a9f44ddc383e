/* Renames a corrupt database instead of deleting it, because its data may still be recoverable. */
#ifndef EXPORTER_HISTORY_QUARANTINE_H
#define EXPORTER_HISTORY_QUARANTINE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

/* Renames the database `path` and its -wal, -shm and -journal files; missing files are skipped. The
 * new name of the database is path.corrupt-20260822T101500Z with the current time, followed by -2,
 * -3, ... if this name exists. `ret` receives the new name. The database must not be open in this
 * process. If another exporter may rename the same database, the caller must hold a lock that keeps
 * it from doing so. */
int quarantine_file(struct buf *ret, const char *path, struct err *e);

#endif
