/*
 * One server of a machine at most records into a history: two would each record the jobs that they find. Wrappers
 * record their own runs beside it, and servers of other machines and PID namespaces what is found there.
 */
#ifndef EXPORTER_HISTORY_SERVER_LOCK_H
#define EXPORTER_HISTORY_SERVER_LOCK_H

#include "exporter/history/history.h"

/*
 * For a history that is open for writing, by the thread that starts the server. -EBUSY: another server has it. *ret, also
 * then, is a descriptor that holds the lock until it is closed or the process ends, or -1. To be closed when the history
 * is closed in this process: before, it would end SQLite's locks, see F_SETLK in fcntl(2). Where a file system has no
 * locks, and for ":memory:", nobody is refused. A file that comes in the history's place has a lock of its own.
 */
int server_lock(int *ret, const char *path, const struct run_root *here, struct err *e);

#endif
