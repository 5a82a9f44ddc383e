/*
 * A disk that fails: an SQLite VFS around the usual one. Once registered it is the default of the
 * process, so that whatever opens a database uses it. Any thread.
 */
#ifndef TESTS_SUPPORT_FAILING_VFS_H
#define TESTS_SUPPORT_FAILING_VFS_H

#include <stdbool.h>

enum vfs_call {
	VFS_WRITE = 1,
	VFS_SYNC = 2,
	VFS_TRUNCATE = 4,
	VFS_OPEN = 8,
	VFS_DELETE = 16,
	VFS_READ = 32,
	VFS_SHARED_MEMORY = 64,
};

void failing_vfs_register(void);

/* Nothing fails from now on. */
void failing_vfs_heal(void);

/*
 * Call number n (from 1) of these kinds (enum vfs_call bits) fails with code, and, for good, every
 * one after it. A bare SQLITE_IOERR becomes the call's own kind of it.
 */
void failing_vfs_fail(unsigned calls, long n, int code, bool for_good);

/*
 * Call number n (from 1) of these kinds is the last of this process: SIGKILL comes before it, or, with half, when half of
 * what it writes is there.
 */
void failing_vfs_kill(unsigned calls, long n, bool half);

/* How many calls failed since. */
long failing_vfs_failed(void);

/* From now on these calls wait until failing_vfs_heal, and then succeed: a disk that hangs. */
void failing_vfs_hang(unsigned calls);
void failing_vfs_wait_hanging(void); /* until one does */

#endif
