/*
 * A disk that fails: an SQLite VFS around the usual one. Once registered it is the default of the process, so
 * that whatever opens a database uses it. For one thread.
 */
#ifndef TESTS_SUPPORT_FAILING_VFS_H
#define TESTS_SUPPORT_FAILING_VFS_H

enum vfs_call {
	VFS_WRITE = 1,
	VFS_SYNC = 2,
	VFS_TRUNCATE = 4,
	VFS_OPEN = 8,
	VFS_DELETE = 16,
	VFS_READ = 32,
	VFS_SHARED_MEMORY = 64,
};

struct failing_vfs {
	unsigned calls; /* enum vfs_call bits: which calls count and fail */
	long countdown; /* the call that brings it to 0 fails; < 0: none does */
	bool for_good;  /* and every one after it */
	int code;       /* SQLITE_FULL, SQLITE_IOERR, ...; a bare SQLITE_IOERR becomes the call's own kind */
	long failed;    /* how often one did */
};

extern struct failing_vfs failing_vfs;

void failing_vfs_register(void);

/* Nothing fails from now on. */
void failing_vfs_heal(void);

/* Call number n (from 1) of these kinds fails with code. */
void failing_vfs_fail(unsigned calls, long n, int code, bool for_good);

#endif
