/* Ensures that at most one server of each machine and PID namespace records into a history file.
 * Two servers that see the same processes would record each run twice. Wrappers, and servers of
 * other machines or PID namespaces, may record into the same file. */
#ifndef EXPORTER_HISTORY_SERVER_LOCK_H
#define EXPORTER_HISTORY_SERVER_LOCK_H

#include "exporter/history/history.h"

/* Locks the history for this server. Call it while the history is open for writing. Before the
 * first call for a file, set `*ret` to -1. The function opens a descriptor of the file and stores
 * it in `*ret`. The lock ends when this descriptor is closed or the process ends. -EBUSY: another
 * server has the lock; the descriptor stays open for the next call.
 *
 * Close `*ret` only after all handles of the history in this process. Closing any descriptor of the
 * file releases SQLite's locks (F_SETLK in fcntl(2)).
 *
 * For ":memory:" and on file systems without locks, nothing is locked and the result is 0. If
 * another file replaces the history later, the new file is not locked. */
int server_lock(int *ret, const char *path, const struct run_root *here, struct err *e);

#endif
