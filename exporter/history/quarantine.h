/* Renames a corrupt database instead of deleting it, because its data may still be recoverable. */
#ifndef EXPORTER_HISTORY_QUARANTINE_H
#define EXPORTER_HISTORY_QUARANTINE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

/* Renames `path` and its -wal, -shm and -journal files to path.corrupt-20260822T101500Z. Appends
 * -2, -3, ... if this name exists. Fills `ret` with the new name. Missing files are skipped. The
 * file must not be open in this process. The caller must hold a lock if another exporter may rename
 * the same file. */
int quarantine_file(struct buf *ret, const char *path, struct err *e);

#endif
