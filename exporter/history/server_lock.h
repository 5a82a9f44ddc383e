/*
 * At most one server of a machine and PID namespace records into a history: two would record each
 * found job twice. Wrappers and servers elsewhere may record into the same file.
 */
#ifndef EXPORTER_HISTORY_SERVER_LOCK_H
#define EXPORTER_HISTORY_SERVER_LOCK_H

#include "exporter/history/history.h"

/*
 * Call it while the history is open for writing. *ret: a descriptor that holds the lock until it is
 * closed or the process ends, or -1. -EBUSY: another server has the lock; *ret is open then too.
 * Close *ret only after all handles of the history in this process: closing any descriptor of the
 * file releases SQLite's locks (F_SETLK in fcntl(2)). Always succeeds for ":memory:" and on file
 * systems without locks. A file that replaces the history is not locked.
 */
int server_lock(int *ret, const char *path, const struct run_root *here, struct err *e);

#endif
