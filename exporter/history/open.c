/* Opens and closes the history. Sets a corrupt file aside. */
#include "exporter/history/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "exporter/history/quarantine.h"

/* All handles of this process share one database, because its name begins with a slash. */
#define MEMORY_URI "file:/rightsize?vfs=memdb"

#define BUSY_TIMEOUT_MS 2000
#define OPEN_RETRY_MS   20
#define SHORT_WAITS     10 /* number of waits of 1 ms; later waits take LONG_WAIT_MS */
#define LONG_WAIT_MS    20
#define OPEN_SECONDS    3.0
#define PATH_BUF_MAX    8192
#define SET_ASIDE_TRIES 3

/* Maximum size of a file that is checked when it was not closed properly. The check takes up to 50
 * ms. Checking a larger file would delay the program and the job too much. Damage in a larger file
 * is found when the damaged page is read. */
#define CHECK_BYTES_MAX (32 << 20)

/* Settings of SQLite. The cache is small (256 KiB) to save memory. secure_delete is off to save
 * time: it would write zeros over all removed data. */
static const char writer_setup[] = "PRAGMA auto_vacuum = INCREMENTAL;"
				   "PRAGMA journal_mode = WAL;"
				   "PRAGMA wal_autocheckpoint = 512;"
				   "PRAGMA journal_size_limit = 1048576;"
				   "PRAGMA cache_size = -256;"
				   "PRAGMA temp_store = MEMORY;"
				   "PRAGMA secure_delete = OFF;"
				   "PRAGMA mmap_size = 0;";
static const char reader_setup[] = "PRAGMA query_only = ON;"
				   "PRAGMA cache_size = -256;"
				   "PRAGMA mmap_size = 0;";

/* ---- once per process ---- */

/* SQLite gets blocks of up to 1024 bytes only in six sizes, which saves memory. For each thread,
 * glibc keeps up to seven freed blocks of each size (the tcache in malloc/malloc.c). Without
 * rounding, SQLite would use nearly all 64 sizes of the tcache, and glibc would keep up to 230 KiB.
 * The memory around these blocks could not be given back to the kernel, and the program would grow
 * for hours. With six sizes, glibc keeps only 14 KiB. */
#define LARGEST_CLASS  1024
#define SMALLEST_CLASS 32

static int round_up(int n)
{
	int class = SMALLEST_CLASS;

	if (n > LARGEST_CLASS)
		return (n + 7) & ~7;
	while (class < n)
		class *= 2;
	return class;
}

/* true = SQLite has logged that it recovered a -wal file. The database was then not closed
 * properly, and no other process has it open. The -wal file alone does not show this, because a
 * running exporter always has one.
 *
 * open_patiently sets `recovered` to false before it opens a file. Without history_setup, SQLite's
 * log is not read: `recovered` is then always true. */
static bool logs_recovery;
static _Thread_local bool recovered;

static void note_recovery(void *context, int code, const char *message)
{
	(void)context;
	(void)message;
	recovered = recovered || code == SQLITE_NOTICE_RECOVER_WAL;
}

void history_setup(void)
{
	sqlite3_mem_methods m;

	history_survive_lost_pages();
	logs_recovery = sqlite3_config(SQLITE_CONFIG_LOG, note_recovery, NULL) == SQLITE_OK;
	/* If SQLite does not allow this, the program works, but uses more memory. */
	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &m) != SQLITE_OK)
		return;
	m.xRoundup = round_up;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &m);
}

/* ---- a handle ---- */

static struct history *history_new(const char *path, enum history_mode mode,
	const struct columns *columns)
{
	struct history *h = xcalloc(1, sizeof *h);
	/* Add "./" to a relative path. Without it, SQLite may read a path such as "file:x" as a
	 * URI. */
	struct buf b = BUF_MAX(PATH_BUF_MAX);

	h->memory = strcmp(path, ":memory:") == 0;
	h->columns = columns;
	buf_adds(&b, h->memory || path[0] == '/' ? "" : "./");
	buf_adds(&b, path);
	h->path = buf_take(&b);
	h->lost_pages = history_lost_pages();
	h->file = (struct sql_file){
		.path = h->path, .kind = "history ", .writes = mode == HISTORY_WRITE};
	return h;
}

static void disconnect(struct history *h)
{
	for (unsigned i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(TAKE(h->statement[i]));
	sqlite3_finalize(TAKE(h->add_sample));
	sql_close(&h->file);
	h->n_columns = 0;
	h->large_cache = false;
	h->wal_pages = 0;
}

/* Disconnects without a checkpoint, because a checkpoint would write into the corrupt file. */
static void disconnect_untouched(struct history *h)
{
	if (h->file.db)
		sqlite3_db_config(h->file.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	disconnect(h);
}

void history_close(struct history *h)
{
	if (!h)
		return;
	if (h->file.db && h->file.writes && history_check_intact(h, NULL) == -EBADMSG)
		disconnect_untouched(h);
	else
		disconnect(h);
	arena_done(&h->names);
	arena_done(&h->adding);
	history_forget_forms(h);
	free(h->form);
	free(h->column);
	free(h->path);
	free(h);
}

void history_closep(struct history **h)
{
	history_close(*h);
}

/* Finds out why SQLite could not create the file, because SQLite's own message does not tell it.
 * Fills `e` and returns the error, or returns 0 when the reason is unknown. */
static int cannot_create(const struct history *h, struct err *e)
{
	AUTO(freep) char *copy = xstrdup(h->path);
	const char *folder = dirname(copy);

	if (access(h->path, F_OK) == 0 || faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0)
		return 0;
	if (errno == ENOENT)
		return err_set(e, -ENOENT, "history %s: there is no folder %s", h->path, folder);
	return err_system(e, -errno, "history %s: user %u may not write into %s", h->path,
		(unsigned)geteuid(), folder);
}

/* Creates a missing file with mode 0660. SQLite itself would create a file that everybody can read.
 * It gives the -wal and -shm files the mode of the database. Errors are ignored here, because
 * SQLite reports them later.
 *
 * A file that exists must not be opened here, because closing it would release all locks of this
 * process on the file. The umask is not changed, because the job inherits it. */
static void create_file(const struct history *h)
{
	struct stat st;

	if (stat(h->path, &st) == 0 || errno != ENOENT)
		return;
	int fd = open(h->path, O_RDWR | O_CREAT | O_CLOEXEC, 0660);

	closep(&fd);
}

static int connect_to(struct history *h, const char *name, int flags, struct err *e)
{
	if (flags & SQLITE_OPEN_CREATE && !h->memory)
		create_file(h);
	int code = sql_open(&h->file, name, flags | SQLITE_OPEN_URI, BUSY_TIMEOUT_MS, e);
	int why = code && flags & SQLITE_OPEN_CREATE && !h->memory ? cannot_create(h, e) : 0;

	return why ? why : code;
}

/* Returns the size in bytes of the file `h->path` with this suffix, or 0 when there is no such
 * file. */
static uint64_t size_of(const struct history *h, const char *suffix)
{
	struct stat st;

	return history_stat(h, suffix, &st) == 0 ? (uint64_t)st.st_size : 0;
}

uint64_t history_wal_bytes(const struct history *h)
{
	return h->memory ? 0 : size_of(h, "-wal");
}

uint64_t history_bytes(struct history *h)
{
	if (!h->memory)
		return size_of(h, "") + history_wal_bytes(h);
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_PAGES, NULL);

	if (sql_row(&q, NULL) <= 0)
		return 0;
	int64_t pages = sql_int(&q);

	sql_int(&q);
	return (uint64_t)(pages * sql_int(&q));
}

/* SQLite calls this function again and again while another process holds the lock of the file. The
 * function waits a moment and returns 1, or returns 0 to give up. A change of the -wal file shows
 * that the other process still works. */
static int wait_for_lock(void *context, int tries)
{
	struct history *h = context;
	struct mono now = now_read().mono;
	struct stat wal = {0};

	if (history_stat(h, "-wal", &wal) < 0)
		wal = (struct stat){0};
	if (tries == 0)
		h->lock_wait.began = now;
	if (tries == 0 || wal.st_size != h->lock_wait.wal.st_size ||
		wal.st_mtim.tv_sec != h->lock_wait.wal.st_mtim.tv_sec ||
		wal.st_mtim.tv_nsec != h->lock_wait.wal.st_mtim.tv_nsec) {
		h->lock_wait.wal = wal;
		h->lock_wait.wrote = now;
	}
	if (mono_seconds_between(h->lock_wait.began, now) >= BUSY_TIMEOUT_MS / 1e3 ||
		!h->lock_wait.patient(h->lock_wait.context,
			mono_seconds_between(h->lock_wait.wrote, now)))
		return 0;
	sqlite3_sleep(tries < SHORT_WAITS ? 1 : LONG_WAIT_MS);
	return 1;
}

void history_wait_while(struct history *h, bool (*patient)(void *context, double stuck_seconds),
	void *context)
{
	h->lock_wait.patient = patient;
	h->lock_wait.context = context;
	sqlite3_busy_handler(h->file.db, wait_for_lock, h);
}

int64_t history_version(struct history *h)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_DATA_VERSION, NULL);

	if (history_moved(h))
		return -ESTALE;
	int code = sql_row(&q, NULL);

	return code > 0 ? sql_int(&q) : code < 0 ? code : -EIO;
}

/* ---- reading ---- */

/* Opens a file for reading on a read-only or full disk, without a -shm file and without locks.
 * SQLite then ignores the -wal file. The file is therefore refused if its -wal file has data. */
static int connect_immutable(struct history *h, struct err *e)
{
	struct buf uri AUTO(buf_done) = BUF_MAX(PATH_BUF_MAX);

	if (size_of(h, "-wal") > 0)
		return err_set(e, -EROFS,
			"history %s: it was not closed properly and cannot be recovered on a read-only disk; make it writable",
			h->path);
	disconnect(h);
	buf_adds(&uri, "file:");
	for (const char *p = h->path; *p; p++) {
		bool plain = strchr("/._-", *p) || (*p >= '0' && *p <= '9') ||
			     (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');

		if (plain)
			buf_addc(&uri, *p);
		else
			buf_addf(&uri, "%%%02x", (unsigned char)*p);
	}
	buf_adds(&uri, "?immutable=1");
	return connect_to(h, buf_text(&uri), SQLITE_OPEN_READONLY, e);
}

static int open_for_reading(struct history *h, struct err *e)
{
	int64_t version = 0;
	struct stat st;

	if (!h->memory && stat(h->path, &st) < 0)
		return err_system(e, -errno, "history %s", h->path);
	int code = h->memory ? 0 : sql_check_place(&h->file, e);

	if (code)
		return code;
	code = h->memory ?
		       connect_to(h, MEMORY_URI, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e) :
		       connect_to(h, h->path, SQLITE_OPEN_READONLY, e);
	if (code == 0)
		code = history_check_version(h, &version, e);
	/* SQLite returns one of these errors when there is no -shm file and SQLite cannot create
	 * it. */
	if ((code == -EROFS || code == -EACCES || code == -ENOENT ||
		    (code == -ENOSPC && size_of(h, "-wal") == 0)) &&
		!h->memory) {
		code = connect_immutable(h, e);
		if (code == 0)
			code = history_check_version(h, &version, e);
	}
	if (code == 0)
		code = sql_exec(&h->file, reader_setup, "set up", e);
	if (code == 0 && version == 0)
		code = err_set(e, -ENOENT, "history %s: it is empty; no run was recorded yet",
			h->path);
	return code ? code : history_check_readable(h, version, e);
}

/* ---- writing ---- */

void history_checkpoint(struct history *h)
{
	if (!history_moved(h))
		sqlite3_wal_checkpoint_v2(h->file.db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL,
			NULL);
}

int history_check(struct history *h, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_prepare(&h->file, "PRAGMA quick_check(1)", e);
	int code = sql_row(&q, e);

	if (code <= 0)
		return code;
	const char *verdict = sql_text(&q);

	if (verdict && strcmp(verdict, "ok") == 0)
		return 0;
	return err_set(e, -EBADMSG, "history %s: %s", h->path, verdict ? verdict : "no verdict");
}

static int open_writable(struct history *h, struct err *e)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	/* SQLite writes the first page of a database before it creates the -wal file. An empty
	 * database with a -wal file is therefore damaged. Read the size of the -wal file first,
	 * because another exporter may be creating both files now. */
	bool wal = !h->memory && size_of(h, "-wal") > 0;
	struct stat st = {.st_size = -1};
	bool emptied = wal && history_stat(h, "", &st) == 0 && st.st_size == 0;
	bool unclean = wal && st.st_size <= CHECK_BYTES_MAX;
	int64_t version = 0;
	int code = connect_to(h, h->memory ? MEMORY_URI : h->path, flags, e);

	/* Refuse an empty database with a -wal file: SQLite would delete the -wal file, which may
	 * contain the only copy of some runs. */
	if (code == 0 && emptied)
		code = err_set(e, -EBADMSG, "history %s: it is empty, but has a -wal file",
			h->path);
	if (code == 0 && sqlite3_db_readonly(h->file.db, "main") == 1)
		code = err_set(e, -EACCES, "history %s: user %u may not write into it", h->path,
			(unsigned)geteuid());
	/* Check the version before the first write, because the database may belong to another
	 * program. */
	if (code == 0)
		code = history_check_version(h, &version, e);
	/* history_check_version was the first read of the database. If SQLite had to recover the
	 * -wal file, note_recovery has set `recovered`. */
	if (code == 0 && unclean && recovered)
		code = history_check(h, e);
	/* A new file has no data to lose. Set it up without syncing it to the disk, so that the job
	 * does not wait for the disk. From the first checkpoint on, the file survives a power
	 * failure. */
	if (code == 0 && version == 0)
		code = sql_exec(&h->file, "PRAGMA synchronous = OFF", "set up", e);
	if (code == 0)
		code = sql_exec(&h->file, writer_setup, "set up", e);
	if (code == 0)
		code = history_migrate(h, e);
	return code ? code : sql_exec(&h->file, "PRAGMA synchronous = NORMAL", "set up", e);
}

/* Opens the file for writing. Tries again while another exporter creates the file or renames a
 * corrupt file. */
static int open_patiently(struct history *h, struct err *e)
{
	struct mono start = now_read().mono;

	recovered = !logs_recovery;
	int code = open_writable(h, e);

	while (code == -EBUSY && mono_seconds_between(start, now_read().mono) < OPEN_SECONDS) {
		disconnect(h);
		sqlite3_sleep(OPEN_RETRY_MS);
		code = open_writable(h, e);
	}
	return code;
}

static int move_all(const struct history *h, struct err *notice, const char *why, struct err *e)
{
	struct buf aside AUTO(buf_done) = BUF_MAX(PATH_BUF_MAX);
	int code = quarantine_file(&aside, h->path, e);

	if (code == 0)
		err_set(notice, -EBADMSG, "corrupt history set aside as %s: %s", buf_text(&aside),
			why);
	return code;
}

/* Renames a corrupt file while it has a lock on the folder. Without the lock, two exporters could
 * do this at the same time: the second would rename the fresh file of the first. */
static int set_aside(struct history *h, const char *why, struct err *notice, struct err *e)
{
	AUTO(freep) char *copy = xstrdup(h->path);
	const char *directory = dirname(copy);
	AUTO(closep) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_system(e, -errno, "set %s aside: open %s", h->path, directory);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(e, -EBUSY,
			"history %s: it is corrupt, and another exporter is setting it aside; try again",
			h->path);
	bool moved = history_moved(h);

	disconnect_untouched(h);
	return moved ? 0 : move_all(h, notice, why, e);
}

int history_set_aside(struct history *take, const char *why, struct err *notice, struct err *e)
{
	int code = take->memory ? 0 : set_aside(take, why, notice, e);

	disconnect_untouched(take);
	history_close(take);
	return code;
}

/* Returns true when the user probably named a file of another kind, such as notes.txt, by mistake.
 * Such a file must not be renamed. A history with a damaged first page does not look like a
 * database either. It is recognised by its name (".db") or its -wal file. */
static bool is_named_by_mistake(const struct history *h)
{
	static const char *const ends[] = {".db", ".sqlite", ".sqlite3"};
	const char *end = strrchr(h->path, '.');

	for (size_t i = 0; end && i < ARRAY_LEN(ends); i++)
		if (strcmp(end, ends[i]) == 0)
			return false;
	return size_of(h, "-wal") == 0 && sql_is_no_database(h->path);
}

static int open_for_writing(struct history *h, struct err *notice, struct err *e)
{
	struct err why = {0};
	int code = h->memory ? 0 : sql_check_place(&h->file, e);

	if (code)
		return code;
	code = open_patiently(h, &why);
	if (code == -EBADMSG && !h->memory && is_named_by_mistake(h))
		return err_set(e, -ENOTSUP,
			"history %s: it is not a database, so it stays as it is; give another path",
			h->path);
	for (int i = 0; code == -EBADMSG && !h->memory && i < SET_ASIDE_TRIES; i++) {
		code = set_aside(h, why.text, notice, &why);
		if (code == 0 || code == -EBUSY)
			code = open_patiently(h, &why);
	}
	if (code && e)
		*e = why;
	return code;
}

int history_open(struct history **ret, const char *path, enum history_mode mode,
	const struct columns *columns, struct err *notice, struct err *e)
{
	AUTO(history_closep) struct history *h = history_new(path, mode, columns);
	int code = mode == HISTORY_READ ? open_for_reading(h, e) : open_for_writing(h, notice, e);

	if (code == 0)
		*ret = TAKE(h);
	return code;
}
