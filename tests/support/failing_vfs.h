/* A disk that fails: an SQLite VFS around the default one. After registration it is the process's
 * default for all databases. For any thread. */
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

/* Call number `n` (from 1) of these kinds (bits of enum vfs_call) fails with `code`. With
 * `for_good` every later call fails, too. A bare SQLITE_IOERR becomes the SQLITE_IOERR_... of the
 * call. */
void failing_vfs_fail(unsigned calls, long n, int code, bool for_good);

/* Call number `n` (from 1) of these kinds kills the process with SIGKILL, before the call, or with
 * `half` after half of its data is written. */
void failing_vfs_kill(unsigned calls, long n, bool half);

/* Returns the number of failed calls since then. */
long failing_vfs_failed(void);

/* From now on these calls wait until failing_vfs_heal(), and then succeed, like on a hanging
 * disk. */
void failing_vfs_hang(unsigned calls);
void failing_vfs_wait_hanging(void); /* until a call hangs */

#endif
