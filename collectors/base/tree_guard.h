/*
 * The tree over /proc that is not held up by a process. Files of one wait for locks that it may hold for as long as a file
 * system does not answer, be it a dead NFS or a FUSE that somebody made for that:
 *
 * - exec_update_lock (kernel/exec.c): held while exec closes descriptors, and a FUSE or NFS is told of each. io, environ,
 *   maps, and in newer kernels stat, exe, fd and ns wait for it.
 * - mmap_lock (Documentation/mm/process_addrs.rst): held while a file is mapped. cmdline, environ and smaps_rollup wait.
 *
 * Files that wait for neither (statm, status) tell whether that may be so. Then a thread reads what is wanted, and the process is
 * left out while it has no answer. Before what is kept open is read, tree_answers has to be asked.
 *
 * A process may also have a file system that does not answer under its program or below its root and folder (PID/exe, PID/root/...,
 * PID/cwd/...), by names under which no mount table tells of it (chroot(2) in a user namespace, an overlay of a FUSE): a thread
 * reads all that these links lead to.
 *
 * What is left out is -ETIMEDOUT, and may be there the next time. Where no thread can be had, who seems not to wait is read directly.
 */
#ifndef COLLECTORS_BASE_TREE_GUARD_H
#define COLLECTORS_BASE_TREE_GUARD_H

#include "collectors/base/scan.h"
#include "collectors/base/tree.h"

/* So many threads wait for processes at most, and as many for file systems. */
#define TREE_GUARD_THREADS 8
/* While all those wait for processes, so many more for others none of whose threads waits for anything. */
#define TREE_GUARD_CALM 4
/* So long a reader waits for a thread that does nothing. */
#define TREE_GUARD_SECONDS 0.1
/*
 * Of each second it waits no longer than that, and one more time, for processes, and likewise for file systems; then it does so
 * only for processes none of whose threads waits for anything.
 */
#define TREE_GUARD_SHARE 0.25

/* Of a directory of this machine. */
int tree_guard_open(struct tree **ret, const char *directory, struct err *e);

/* Of any tree that several threads may use; the last of them frees it. */
struct tree *tree_guard_take(struct tree *inner);

/*
 * ---- what those files of a process that wait for nothing say of whether others would be waited for: texts of proc(5), any
 * bytes ----
 */

/* Between the old program and the new one it has memory, but no code: the fourth number of statm, mm->end_code. */
bool statm_in_exec(struct scan statm);

/*
 * Who maps a file that does not come waits for it like for a disk, and so tells its state when it has one thread. waits: it
 * does; of several threads any may. What is not told stays as if it did not wait and had several.
 */
bool status_may_map(struct scan status, bool *waits);

#endif
