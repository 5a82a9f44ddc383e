#include "tests/support/failing_vfs.h"

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stddef.h>

#include "tests/unit/test_main.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `plan` */
static struct {
	unsigned calls;
	long countdown; /* calls until the one that fails, inclusive; < 0 = no call fails */
	bool for_good;
	int code;
	bool kills, half; /* the call kills the process instead of failing */
	long failed;
	unsigned hang;
	long hanging; /* number of hanging calls */
} plan = {.countdown = -1};
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* SQLite allocates szOsFile bytes for a file. They contain this struct, and then the real VFS's
 * file. */
struct wrapped {
	sqlite3_file file;
	sqlite3_file *real;
};

static sqlite3_vfs *real_vfs;
static sqlite3_vfs wrapper;

void failing_vfs_heal(void)
{
	failing_vfs_fail(0, -1, SQLITE_OK, false);
}

void failing_vfs_fail(unsigned calls, long n, int code, bool for_good)
{
	pthread_mutex_lock(&lock);
	plan.calls = calls;
	plan.countdown = n;
	plan.code = code;
	plan.for_good = for_good;
	plan.failed = 0;
	plan.kills = false;
	plan.hang = 0;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void failing_vfs_kill(unsigned calls, long n, bool half)
{
	failing_vfs_fail(calls, n, SQLITE_IOERR, false);
	pthread_mutex_lock(&lock);
	plan.kills = true;
	plan.half = half;
	pthread_mutex_unlock(&lock);
}

void failing_vfs_hang(unsigned calls)
{
	pthread_mutex_lock(&lock);
	plan.hang = calls;
	pthread_mutex_unlock(&lock);
}

void failing_vfs_wait_hanging(void)
{
	pthread_mutex_lock(&lock);
	while (!plan.hanging)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* The caller holds the lock. */
static void hang(enum vfs_call call)
{
	plan.hanging++;
	pthread_cond_broadcast(&changed);
	while (plan.hang & call)
		pthread_cond_wait(&changed, &lock);
	plan.hanging--;
}

long failing_vfs_failed(void)
{
	pthread_mutex_lock(&lock);
	long failed = plan.failed;

	pthread_mutex_unlock(&lock);
	return failed;
}

static bool is_next(enum vfs_call call)
{
	if (!(plan.calls & call) || plan.countdown < 0)
		return false;
	if (plan.countdown > 0)
		plan.countdown--;
	if (plan.countdown > 0)
		return false;
	plan.failed++;
	if (!plan.for_good)
		plan.countdown = -1;
	return true;
}

/* Returns SQLITE_OK, or the planned error of this call. */
static int verdict(enum vfs_call call, int io_kind)
{
	int rc = SQLITE_OK;

	pthread_mutex_lock(&lock);
	if (plan.hang & call)
		hang(call);
	if (is_next(call)) {
		if (plan.kills && !(plan.half && call == VFS_WRITE))
			raise(SIGKILL);
		rc = plan.code == SQLITE_IOERR ? io_kind : plan.code;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static sqlite3_file *real_of(sqlite3_file *f)
{
	return ((struct wrapped *)(void *)f)->real;
}

static int wrapped_close(sqlite3_file *f)
{
	return real_of(f)->pMethods->xClose(real_of(f));
}

static int wrapped_read(sqlite3_file *f, void *data, int n, sqlite3_int64 at)
{
	int rc = verdict(VFS_READ, SQLITE_IOERR_READ);

	return rc ? rc : real_of(f)->pMethods->xRead(real_of(f), data, n, at);
}

static bool kills(void)
{
	pthread_mutex_lock(&lock);
	bool ret = plan.kills;

	pthread_mutex_unlock(&lock);
	return ret;
}

/* Writes half of the data before the error, like a full disk or a power loss. */
static int wrapped_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at)
{
	int rc = verdict(VFS_WRITE, SQLITE_IOERR_WRITE);

	if (rc && n > 1)
		real_of(f)->pMethods->xWrite(real_of(f), data, n / 2, at);
	if (rc && kills())
		raise(SIGKILL);
	return rc ? rc : real_of(f)->pMethods->xWrite(real_of(f), data, n, at);
}

static int wrapped_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	int rc = verdict(VFS_TRUNCATE, SQLITE_IOERR_TRUNCATE);

	return rc ? rc : real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int wrapped_sync(sqlite3_file *f, int flags)
{
	int rc = verdict(VFS_SYNC, SQLITE_IOERR_FSYNC);

	return rc ? rc : real_of(f)->pMethods->xSync(real_of(f), flags);
}

static int wrapped_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	return real_of(f)->pMethods->xFileSize(real_of(f), ret);
}

static int wrapped_lock(sqlite3_file *f, int level)
{
	return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int wrapped_unlock(sqlite3_file *f, int level)
{
	return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int wrapped_check_lock(sqlite3_file *f, int *ret)
{
	return real_of(f)->pMethods->xCheckReservedLock(real_of(f), ret);
}

static int wrapped_control(sqlite3_file *f, int op, void *argument)
{
	return real_of(f)->pMethods->xFileControl(real_of(f), op, argument);
}

static int wrapped_sector_size(sqlite3_file *f)
{
	return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int wrapped_characteristics(sqlite3_file *f)
{
	return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static int wrapped_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
	int rc = verdict(VFS_SHARED_MEMORY, SQLITE_IOERR_SHMMAP);

	return rc ? rc : real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, ret);
}

static int wrapped_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
	return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}

static void wrapped_shm_barrier(sqlite3_file *f)
{
	real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int wrapped_shm_unmap(sqlite3_file *f, int delete_too)
{
	return real_of(f)->pMethods->xShmUnmap(real_of(f), delete_too);
}

/* Version 2 of the methods includes shared memory. Version 3 would also include mapping the file,
 * which would bypass the failing calls. */
static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = wrapped_close,
	.xRead = wrapped_read,
	.xWrite = wrapped_write,
	.xTruncate = wrapped_truncate,
	.xSync = wrapped_sync,
	.xFileSize = wrapped_size,
	.xLock = wrapped_lock,
	.xUnlock = wrapped_unlock,
	.xCheckReservedLock = wrapped_check_lock,
	.xFileControl = wrapped_control,
	.xSectorSize = wrapped_sector_size,
	.xDeviceCharacteristics = wrapped_characteristics,
	.xShmMap = wrapped_shm_map,
	.xShmLock = wrapped_shm_lock,
	.xShmBarrier = wrapped_shm_barrier,
	.xShmUnmap = wrapped_shm_unmap,
};

static int wrapped_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags,
	int *ret_flags)
{
	struct wrapped *w = (struct wrapped *)(void *)f;
	int rc = verdict(VFS_OPEN, SQLITE_CANTOPEN);

	(void)v;
	w->file.pMethods = NULL;
	w->real = (sqlite3_file *)(void *)(w + 1);
	if (rc == SQLITE_OK)
		rc = real_vfs->xOpen(real_vfs, name, w->real, flags, ret_flags);
	if (rc == SQLITE_OK)
		w->file.pMethods = &methods;
	return rc;
}

static int wrapped_delete(sqlite3_vfs *v, const char *name, int sync_directory)
{
	int rc = verdict(VFS_DELETE, SQLITE_IOERR_DELETE);

	(void)v;
	return rc ? rc : real_vfs->xDelete(real_vfs, name, sync_directory);
}

void failing_vfs_register(void)
{
	real_vfs = sqlite3_vfs_find(NULL);
	wrapper = *real_vfs;
	wrapper.zName = "failing";
	wrapper.pNext = NULL;
	wrapper.szOsFile = (int)sizeof(struct wrapped) + real_vfs->szOsFile;
	wrapper.xOpen = wrapped_open;
	wrapper.xDelete = wrapped_delete;
	assert_int_equal(sqlite3_vfs_register(&wrapper, 1), SQLITE_OK);
}
