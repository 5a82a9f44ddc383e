/* An SQLite VFS around the default one that simulates a failing disk. After registration it is the
 * process's default for all databases. Any thread may call these functions. */
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

/* Stops all failures. */
void failing_vfs_heal(void);

/* Call number `n` (from 1) of these kinds (bits of enum vfs_call) fails with `code`. If `for_good`,
 * all later calls of these kinds fail, too. If `code` is SQLITE_IOERR, each call fails with its own
 * SQLITE_IOERR_... code. */
void failing_vfs_fail(unsigned calls, long n, int code, bool for_good);

/* Call number `n` (from 1) of these kinds kills the process with SIGKILL before it does anything.
 * If `half`, a write writes half of its data before. */
void failing_vfs_kill(unsigned calls, long n, bool half);

/* Returns the number of calls that have failed since failing_vfs_fail(). */
long failing_vfs_failed(void);

/* From now on all calls of these kinds wait until failing_vfs_heal(), and then succeed, like on a
 * disk that hangs. */
void failing_vfs_hang(unsigned calls);
void failing_vfs_wait_hanging(void); /* waits until a call hangs */

#endif
