/* A tree over /proc whose reads never block forever. A read of a file of a process may wait for a
 * lock that the process holds. The process may hold the lock until a file system answers, such as a
 * dead NFS or a hostile FUSE. There are two such locks:
 *
 * - exec_update_lock (kernel/exec.c): exec holds this lock while it closes descriptors. Closing a
 *   descriptor calls its file system. Reads of io, environ and maps wait for the lock. In newer
 *   kernels, reads of stat, exe, fd and ns also wait for the lock.
 * - mmap_lock (Documentation/mm/process_addrs.rst): a process holds this lock while it maps a file.
 *   Reads of cmdline, environ and smaps_rollup wait for the lock.
 *
 * Reads of statm and status wait for neither lock. These two files show whether a process may hold
 * a lock. If the process may hold a lock, a separate thread reads the wanted file. Other reads of
 * the process are skipped until the thread's read returns. A kept descriptor is always read without
 * a thread, so call tree_answers before each such read.
 *
 * PID/exe, PID/root/... and PID/cwd/... may lead to a file system that does not answer. Such a file
 * system may be missing in every mount table (chroot(2) in a user namespace, an overlay on a FUSE).
 * Therefore a thread always reads these files.
 *
 * A skipped read returns -ETIMEDOUT. A later read may succeed. If no thread can be started, the
 * caller itself reads the file. This is done only if no thread of the process is in state D
 * (uninterruptible sleep). */
#ifndef COLLECTORS_BASE_TREE_GUARD_H
#define COLLECTORS_BASE_TREE_GUARD_H

#include "collectors/base/scan.h"
#include "collectors/base/tree.h"

/* Maximum number of threads that wait for locks of processes. The same number of further threads
 * may wait for file systems. */
#define TREE_GUARD_THREADS 8
/* Maximum number of extra threads. They are used when TREE_GUARD_THREADS threads already wait for
 * locks, or when the waiting time for locks is used up (TREE_GUARD_SHARE). Extra threads read only
 * files of processes without a thread in state D (uninterruptible sleep), because such reads seldom
 * hang. */
#define TREE_GUARD_CALM 4
/* Seconds without progress after which a read by a thread is given up. */
#define TREE_GUARD_SECONDS 0.1
/* Largest share of the time that may be spent on waiting: 0.25 = one second in four. Reads that
 * wait for locks of processes and reads that wait for file systems have one limit each. When the
 * time for locks is used up, only reads of processes without a thread in state D may wait. When the
 * time for file systems is used up, no file is read through exe, root or cwd. */
#define TREE_GUARD_SHARE 0.25

/* Opens a directory of this machine, usually /proc, as a guarded tree. */
int tree_guard_open(struct tree **ret, const char *directory, struct err *e);

/* Guards `inner`, which may be any tree that several threads may use at the same time. Takes
 * ownership of `inner`. The last thread that uses `inner` frees it. */
struct tree *tree_guard_take(struct tree *inner);

/* ---- parsers of files in /proc/PID that take no lock; the texts may have any bytes ---- */

/* Returns true if the process is in the middle of exec: it has memory, but no code. The fourth
 * number of statm, which the kernel computes from mm->end_code, is then 0. */
bool statm_in_exec(struct scan statm);

/* Returns true if a process may be mapping a file at this moment. A process with one thread may map
 * a file only in state D (uninterruptible sleep). For a process with several threads, the result is
 * always true, because status shows only the state of the first thread. Sets `*waits` to true if
 * the state is D, for example because the process waits for a disk. A missing state counts as not
 * D. A missing number of threads counts as several threads. */
bool status_may_map(struct scan status, bool *waits);

#endif
