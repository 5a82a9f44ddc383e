/* A tree over /proc that never blocks forever. A read of a file of a process may wait for a lock.
 * The process may hold that lock while a file system does not answer, such as a dead NFS or a
 * hostile FUSE. There are two such locks:
 *
 * - exec_update_lock (kernel/exec.c): exec holds this lock while it closes descriptors. Closing a
 *   descriptor calls its file system. Reads of io, environ and maps wait for the lock. In newer
 *   kernels, reads of stat, exe, fd and ns also wait for it.
 * - mmap_lock (Documentation/mm/process_addrs.rst): a process holds this lock while it maps a file.
 *   Reads of cmdline, environ and smaps_rollup wait for it.
 *
 * Reads of statm and status wait for neither lock. These two files show whether a process may hold
 * a lock. If the process may hold one, a thread reads the file, and the process is skipped until
 * that read returns. Before you read a kept descriptor, call tree_answers.
 *
 * PID/exe, PID/root/... and PID/cwd/... may lead to a file system that does not answer and that no
 * mount table shows (chroot(2) in a user namespace, an overlay on a FUSE). A thread always reads
 * these files.
 *
 * A skipped read returns -ETIMEDOUT. A later read may succeed. If no thread can be started, the
 * caller itself reads files that may wait for a lock, but only if no thread of the process is in
 * state D. */
#ifndef COLLECTORS_BASE_TREE_GUARD_H
#define COLLECTORS_BASE_TREE_GUARD_H

#include "collectors/base/scan.h"
#include "collectors/base/tree.h"

/* Maximum number of threads that wait for locks of processes. It is also the maximum number of
 * threads that wait for file systems. */
#define TREE_GUARD_THREADS 8
/* Maximum number of extra threads. They are used when TREE_GUARD_THREADS threads already wait for
 * locks, or when the budget for locks is spent (TREE_GUARD_SHARE). They read only files of
 * processes that have no thread in state D. */
#define TREE_GUARD_CALM 4
/* Seconds without progress after which a read by a thread is given up. */
#define TREE_GUARD_SECONDS 0.1
/* Seconds of waiting that are allowed in each second. Locks of processes and file systems each have
 * this budget. When the budget for locks is spent, only reads of processes without a thread in
 * state D may wait. When the budget for file systems is spent, no read through exe, root or cwd is
 * tried. */
#define TREE_GUARD_SHARE 0.25

/* Guards a directory of this machine, usually /proc. */
int tree_guard_open(struct tree **ret, const char *directory, struct err *e);

/* Guards any tree that several threads may use. Takes ownership of `inner`. The last thread that
 * uses `inner` frees it. */
struct tree *tree_guard_take(struct tree *inner);

/* ---- parsers of files in /proc/PID that take no lock; the texts may have any bytes ---- */

/* Returns true if the process is in the middle of exec: it has memory, but no code. The fourth
 * number of statm, which the kernel computes from mm->end_code, is then 0. */
bool statm_in_exec(struct scan statm);

/* Returns true if a process may be mapping a file. A process with one thread may do so only in
 * state D. A process with several threads may always do so, because status shows only the state of
 * the first thread. Sets `waits` if the state is D, for example because the process waits for a
 * disk. If lines are missing, the process counts as not waiting, and as having several threads. */
bool status_may_map(struct scan status, bool *waits);

#endif
