/*
 * A tree over /proc whose reads no process can block. Reading a file of a process may wait for a lock
 * that the process holds while a file system does not answer, such as a dead NFS or a hostile FUSE:
 *
 * - exec_update_lock (kernel/exec.c): held while exec closes descriptors, which calls their file
 *   systems. io, environ, maps, and in newer kernels stat, exe, fd and ns wait for it.
 * - mmap_lock (Documentation/mm/process_addrs.rst): held while a file is mapped. cmdline, environ and
 *   smaps_rollup wait for it.
 *
 * Files that take neither lock (statm, status) show whether a process may hold one. If so, a thread
 * reads the file, and the process is skipped until that read returns. Before reading a kept
 * descriptor, call tree_answers.
 *
 * PID/exe, PID/root/... and PID/cwd/... may lead to a file system that does not answer and that no mount
 * table shows (chroot(2) in a user namespace, an overlay on a FUSE). A thread always reads those.
 *
 * A skipped read is -ETIMEDOUT; a later read may succeed. If no thread can be started, processes that
 * do not seem blocked are read directly.
 */
#ifndef COLLECTORS_BASE_TREE_GUARD_H
#define COLLECTORS_BASE_TREE_GUARD_H

#include "collectors/base/scan.h"
#include "collectors/base/tree.h"

/* Most threads that wait for locks of processes, and most that wait for file systems. */
#define TREE_GUARD_THREADS 8
/* While all of those wait for locks: most extra threads, only for processes with no waiting thread. */
#define TREE_GUARD_CALM 4
/* A read by a thread that makes no progress for this long is given up. */
#define TREE_GUARD_SECONDS 0.1
/*
 * The budget of waiting in each second, in seconds, for processes and again for file systems. Once
 * spent, locks are waited for only if no thread of the process waits, and file systems not at all.
 */
#define TREE_GUARD_SHARE 0.25

/* Guards a directory of this machine, usually /proc. */
int tree_guard_open(struct tree **ret, const char *directory, struct err *e);

/* Guards any tree that several threads may use, and takes ownership: its last thread frees inner. */
struct tree *tree_guard_take(struct tree *inner);

/* ---- parsers of files that take no lock; texts of proc(5), any bytes ---- */

/* In the middle of exec a process has memory but no code: the fourth number of statm, from mm->end_code, is 0. */
bool statm_in_exec(struct scan statm);

/*
 * May a process be mapping a file? waits: its state is D, as for a disk. Of several threads any may map
 * a file, and status shows the state of the first only. A missing line counts as "does not wait", or
 * as several threads.
 */
bool status_may_map(struct scan status, bool *waits);

#endif
