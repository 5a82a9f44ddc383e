/* Opening and closing the history, and setting a corrupt file aside. */
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

/* With a leading slash all handles of the process share it. */
#define MEMORY_URI "file:/rightsize?vfs=memdb"

#define BUSY_TIMEOUT_MS 2000
#define OPEN_RETRY_MS   20
#define OPEN_SECONDS    3.0
#define PATH_BUF_MAX    8192
#define SET_ASIDE_TRIES 3

/*
 * A file up to this size is checked when it is opened after an unclean end: some 50 ms. A larger
 * one would hold up the start, and the job; what is wrong with it shows as soon as the page is
 * used.
 */
#define CHECK_BYTES_MAX (32 << 20)

/* A small cache, since the whole program is small; secure_delete would write zeros when pruning. */
static const char writer_setup[] = "PRAGMA auto_vacuum = INCREMENTAL;"
				   "PRAGMA journal_mode = WAL;"
				   "PRAGMA synchronous = NORMAL;"
				   "PRAGMA wal_autocheckpoint = 512;"
				   "PRAGMA journal_size_limit = 1048576;"
				   "PRAGMA cache_size = -256;"
				   "PRAGMA temp_store = MEMORY;"
				   "PRAGMA secure_delete = OFF;"
				   "PRAGMA mmap_size = 0;";
static const char reader_setup[] = "PRAGMA query_only = ON;"
				   "PRAGMA cache_size = -256;"
				   "PRAGMA mmap_size = 0;";

/* ---- once in a program ---- */

/*
 * Every thread of glibc keeps seven freed pieces of each of 64 sizes up to 1032 bytes (malloc/malloc.c, tcache), up to
 * 230 KiB, and what lies around them cannot be given back. SQLite asks for nearly all of these sizes, so that hours pass
 * until there are seven of each. Of six sizes there soon are, and they come to 14 KiB.
 */
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

/*
 * SQLite tells in its log when it recovered writes from a -wal: the process that had the file open did not close it, and
 * no other has it open. A -wal alone says nothing: beside a living exporter there always is one. recovered counts from
 * open_patiently on; without history_setup it is true.
 */
static bool is_heard;
static _Thread_local bool recovered;

static void hear_recovery(void *context, int code, const char *message)
{
	(void)context;
	(void)message;
	recovered = recovered || code == SQLITE_NOTICE_RECOVER_WAL;
}

void history_setup(void)
{
	sqlite3_mem_methods m;

	is_heard = sqlite3_config(SQLITE_CONFIG_LOG, hear_recovery, NULL) == SQLITE_OK;
	/* Without it nothing is different but the memory that is used. */
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
	/* "file:x" is a path here, not the URI that SQLite may be built to see in it. */
	struct buf b = BUF_MAX(PATH_BUF_MAX);

	h->memory = strcmp(path, ":memory:") == 0;
	h->columns = columns;
	buf_adds(&b, h->memory || path[0] == '/' ? "" : "./");
	buf_adds(&b, path);
	h->path = buf_take(&b);
	h->file = (struct sql_file){
		.path = h->path, .kind = "history ", .writes = mode == HISTORY_WRITE};
	return h;
}

static void disconnect(struct history *h)
{
	for (unsigned i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(h->statement[i]);
	sqlite3_finalize(h->add_sample);
	sql_close(&h->file);
	for (unsigned i = 0; i < STATEMENT_COUNT; i++)
		h->statement[i] = NULL;
	h->add_sample = NULL;
	h->n_columns = 0;
}

void history_close(struct history *h)
{
	if (!h)
		return;
	disconnect(h);
	arena_done(&h->names);
	free(h->column);
	free(h->path);
	free(h);
}

void history_closep(struct history **h)
{
	history_close(*h);
}

/* SQLite tells why it could not open a file, but not why it could not make it. */
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

/*
 * What jobs used is for those whom the folder's owner lets in, whatever the folder's mode is: SQLite would make a file
 * that everybody may read, and gives to -wal and -shm what the file has. Only where there is none, be it behind a link, as
 * closing one that is open ends all locks of this process; what goes wrong, SQLite says next. The umask is the job's as well, so
 * that it stays.
 */
static void make_file(const struct history *h)
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
		make_file(h);
	int code = sql_open(&h->file, name, flags | SQLITE_OPEN_URI, BUSY_TIMEOUT_MS, e);
	int why = code && flags & SQLITE_OPEN_CREATE && !h->memory ? cannot_create(h, e) : 0;

	return why ? why : code;
}

static void name_of(const struct history *h, const char *suffix, struct buf *out)
{
	buf_adds(out, h->path);
	buf_adds(out, suffix);
}

/* Of the path with a suffix; -1: not there. */
static int64_t size_of(const struct history *h, const char *suffix)
{
	struct buf name = BUF_MAX(PATH_BUF_MAX);
	struct stat st;

	name_of(h, suffix, &name);
	int rc = stat(buf_text(&name), &st);

	buf_done(&name);
	return rc == 0 ? (int64_t)st.st_size : -1;
}

uint64_t history_bytes(struct history *h)
{
	if (!h->memory) {
		int64_t file = size_of(h, ""), wal = size_of(h, "-wal");

		return (uint64_t)(file > 0 ? file : 0) + (uint64_t)(wal > 0 ? wal : 0);
	}
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_PAGES, NULL);

	if (sql_row(&q, NULL) <= 0)
		return 0;
	int64_t pages = sql_int(&q);

	sql_int(&q);
	return (uint64_t)(pages * sql_int(&q));
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

/*
 * A file on a read-only disk: without a -wal nothing is waiting in it and nobody writes, so that it
 * can be read as it stands.
 */
static int connect_immutable(struct history *h, struct err *e)
{
	struct buf uri = BUF_MAX(PATH_BUF_MAX);

	if (size_of(h, "-wal") > 0)
		return err_set(e, -EROFS,
			"history %s: it was not closed properly, and on a read-only disk cannot be"
			" recovered",
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
	int code = connect_to(h, buf_text(&uri), SQLITE_OPEN_READONLY, e);

	buf_done(&uri);
	return code;
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
	/* What SQLite says where it can neither find nor make the shared memory of the WAL. */
	if ((code == -EROFS || code == -EACCES || code == -ENOENT) && !h->memory) {
		code = connect_immutable(h, e);
		if (code == 0)
			code = history_check_version(h, &version, e);
	}
	if (code == 0)
		code = sql_exec(&h->file, reader_setup, "set up", e);
	if (code == 0 && version == 0)
		code = err_set(e, -ENOENT, "history %s: there is nothing in it yet", h->path);
	return code ? code : history_check_readable(h, version, e);
}

/* ---- writing ---- */

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
	bool unclean = !h->memory && size_of(h, "-wal") > 0 && size_of(h, "") <= CHECK_BYTES_MAX;
	int64_t version = 0;
	int code = connect_to(h, h->memory ? MEMORY_URI : h->path, flags, e);

	if (code == 0 && sqlite3_db_readonly(h->file.db, "main") == 1)
		code = err_set(e, -EACCES, "history %s: it may not be written", h->path);
	/* Before anything is written: it may be somebody else's. */
	if (code == 0)
		code = history_check_version(h, &version, e);
	/* Whose -wal that is was found out with the first look at the file. */
	if (code == 0 && unclean && recovered)
		code = history_check(h, e);
	if (code == 0)
		code = sql_exec(&h->file, writer_setup, "set up", e);
	return code ? code : history_migrate(h, e);
}

/* Another exporter may be creating it, or be setting it aside, at the same moment. */
static int open_patiently(struct history *h, struct err *e)
{
	struct mono start = now_read().mono;

	recovered = !is_heard;
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

/* Closing must not checkpoint: that would write into the file that is to be kept as it is. */
static void disconnect_untouched(struct history *h)
{
	if (h->file.db)
		sqlite3_db_config(h->file.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	disconnect(h);
}

/* Locked, so that of two who find the same damage none sets the other's fresh file aside. */
static int set_aside(struct history *h, const char *why, struct err *notice, struct err *e)
{
	AUTO(freep) char *copy = xstrdup(h->path);
	const char *directory = dirname(copy);
	AUTO(closep) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_system(e, -errno, "set %s aside: open %s", h->path, directory);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(e, -EBUSY, "history %s: another exporter is setting it aside",
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

static int open_for_writing(struct history *h, struct err *notice, struct err *e)
{
	struct err why = {0};
	int code = h->memory ? 0 : sql_check_place(&h->file, e);

	if (code)
		return code;
	code = open_patiently(h, &why);
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
