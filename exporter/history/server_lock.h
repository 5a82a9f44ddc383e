/* At most one server of a machine and PID namespace may record into a history, because two servers
 * would record each found job twice. Wrappers, and servers elsewhere, may record into the same
 * file. */
#ifndef EXPORTER_HISTORY_SERVER_LOCK_H
#define EXPORTER_HISTORY_SERVER_LOCK_H

#include "exporter/history/history.h"

/* Locks the history for this server. Call it while the history is open for writing. *ret becomes a
 * descriptor or -1. The lock ends when the descriptor is closed or the process ends. -EBUSY:
 * another server has the lock; *ret is then open too.
 *
 * Close *ret only after all handles of the history in this process, because closing any descriptor
 * of the file releases SQLite's locks (F_SETLK in fcntl(2)). Always succeeds for ":memory:" and on
 * file systems without locks. A file that replaces the history is not locked. */
int server_lock(int *ret, const char *path, const struct run_root *here, struct err *e);

#endif
