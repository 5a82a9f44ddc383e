/* A tree over /proc whose reads no process can block. A read of a file of a process may wait for a
 * lock. The process may hold that lock while a file system does not answer, such as a dead NFS or a
 * hostile FUSE:
 *
 * - exec_update_lock (kernel/exec.c) is held while exec closes descriptors, which calls their file
 *   systems. Reads of io, environ, maps, and in newer kernels of stat, exe, fd and ns wait for it.
 * - mmap_lock (Documentation/mm/process_addrs.rst) is held while a file is mapped. Reads of
 *   cmdline, environ and smaps_rollup wait for it.
 *
 * Files that take neither lock (statm, status) show whether a process may hold one. If so, a thread
 * reads the file, and the process is skipped until that read returns. Before reading a kept
 * descriptor, call tree_answers.
 *
 * PID/exe, PID/root/... and PID/cwd/... may lead to a file system that does not answer and that no
 * mount table shows (chroot(2) in a user namespace, an overlay on a FUSE). A thread always reads
 * those files.
 *
 * A skipped read returns -ETIMEDOUT, and a later read may succeed. If no thread can be started,
 * processes that do not seem blocked are read directly. */
#ifndef COLLECTORS_BASE_TREE_GUARD_H
#define COLLECTORS_BASE_TREE_GUARD_H

#include "collectors/base/scan.h"
#include "collectors/base/tree.h"

/* Maximum number of threads that wait for locks of processes. As many more threads may wait for
 * file systems. */
#define TREE_GUARD_THREADS 8
/* Maximum number of extra threads while TREE_GUARD_THREADS threads wait for locks. They read only
 * processes without a thread in state D. */
#define TREE_GUARD_CALM 4
/* Seconds without progress after which a read by a thread is given up. */
#define TREE_GUARD_SECONDS 0.1
/* Seconds of waiting that are allowed in each second. Locks of processes and file systems each have
 * this budget. When the budget for locks is spent, only reads of processes without a thread in
 * state D may wait. When the budget for file systems is spent, no read may wait. */
#define TREE_GUARD_SHARE 0.25

/* Guards a directory of this machine, usually /proc. */
int tree_guard_open(struct tree **ret, const char *directory, struct err *e);

/* Guards any tree that several threads may use. Takes ownership of `inner`: the last thread frees
 * it. */
struct tree *tree_guard_take(struct tree *inner);

/* ---- parsers of files in /proc/PID that take no lock; the texts may have any bytes ---- */

/* Returns true in the middle of exec: the process has memory but no code. The fourth number of
 * statm, from mm->end_code, is then 0. */
bool statm_in_exec(struct scan statm);

/* Returns true if a process may be mapping a file. `waits` is set if the state is D, as when the
 * process waits for a disk. Any of several threads may map a file, but status shows only the state
 * of the first. If lines are missing, the process counts as not waiting, and as having several
 * threads. */
bool status_may_map(struct scan status, bool *waits);

#endif
