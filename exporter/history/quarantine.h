/* A database that cannot be gone on with is kept, under another name: it may be all that is left of something. */
#ifndef EXPORTER_HISTORY_QUARANTINE_H
#define EXPORTER_HISTORY_QUARANTINE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

/*
 * Renames path, and what SQLite keeps beside it, to path.corrupt-20260822T101500Z, with -2 and so on when that is taken;
 * *ret gets the name. Nobody may have it open here. What is not there need not move. Who may meet another exporter that
 * does the same has a lock.
 */
int quarantine_file(struct buf *ret, const char *path, struct err *e);

#endif
