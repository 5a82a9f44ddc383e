/* Detects that another program truncated, overwrote or deleted files of the open history. SQLite
 * does not detect this, because it trusts its cache and the -shm file. It would continue to add
 * runs to the damaged file. File formats: https://www.sqlite.org/fileformat2.html and
 * https://www.sqlite.org/walformat.html */
#include "exporter/history/tables.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"

#define PATH_BUF_MAX 8192
#define HEADER_BYTES 100 /* size of the header of the database */
/* offset of a byte in the header of the database; in WAL mode, its value is WAL_VERSION */
#define WRITE_VERSION    18
#define WAL_VERSION      2
#define WAL_HEADER_BYTES 32
#define FRAME_BYTES      24 /* size of the header of a frame, which a page follows */
#define WAL_SALT         16 /* offset of the salt in the header of the -wal file */
#define SALT_BYTES       8
#define INDEX_BYTES      32768 /* size of one block of the -shm file */
/* INDEX_PAGE_SIZE, INDEX_FRAMES and INDEX_SALT are offsets in the -shm file */
#define INDEX_PAGE_SIZE 14
#define INDEX_FRAMES    16
#define INDEX_SALT      32

/* ---- a -shm file that became shorter than its mapping ---- */

static atomic_uint torn; /* number of mapped pages of -shm files that were lost so far */

/* The handler of SIGBUS. The kernel sends SIGBUS after an access to a mapped page beyond the end of
 * its file. The signal would end this program and leave the job without its wrapper. This handler
 * maps an empty page at the address instead. SQLite then sees an invalid -shm file and makes a new
 * one. Later, history_check_intact reports the damage. */
static void on_lost_page(int number, siginfo_t *info, void *context)
{
	long size = sysconf(_SC_PAGESIZE);
	char *page = (char *)info->si_addr - (uintptr_t)info->si_addr % (uintptr_t)size;

	(void)context;
	atomic_fetch_add(&torn, 1);
	if (info->si_code != BUS_ADRERR ||
		mmap(page, (size_t)size, PROT_READ | PROT_WRITE,
			MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) {
		signal(number, SIG_DFL);
		raise(number);
	}
}

void history_survive_lost_pages(void)
{
	struct sigaction before, ours = {.sa_sigaction = on_lost_page, .sa_flags = SA_SIGINFO};

	/* If SIGBUS is ignored, the job must inherit this: set no handler. At execve(2), a handler
	 * would become the default action. */
	if (sigaction(SIGBUS, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGBUS, &ours, NULL);
}

unsigned history_lost_pages(void)
{
	return atomic_load(&torn);
}

/* ---- the files ---- */

int history_stat(const struct history *h, const char *suffix, struct stat *ret)
{
	struct buf name AUTO(buf_done) = BUF_MAX(PATH_BUF_MAX);

	/* If the path is a symbolic link, SQLite follows the link. It creates the -wal and -shm
	 * files beside the target of the link. */
	buf_addf(&name, "%s%s", h->file.db ? sqlite3_db_filename(h->file.db, "main") : h->path,
		suffix);
	return stat(buf_text(&name), ret);
}

/* Returns SQLite's own object for a file of the open database, or NULL. Use it to read the file. Do
 * not open the file again: closing a second descriptor would release SQLite's locks. */
static sqlite3_file *file_of(const struct history *h, int which)
{
	sqlite3_file *f = NULL;

	if (sqlite3_file_control(h->file.db, "main", which, &f) != SQLITE_OK || !f || !f->pMethods)
		return NULL;
	return f;
}

static int damaged(const struct history *h, struct err *e, const char *what)
{
	return err_set(e, -EBADMSG, "history %s: %s while it was open", h->path, what);
}

/* Checks the header of the database file. Sets `*wal` to whether the file is in WAL mode. */
static int check_database(const struct history *h, bool *wal, struct err *e)
{
	sqlite3_file *f = file_of(h, SQLITE_FCNTL_FILE_POINTER);
	unsigned char header[HEADER_BYTES];
	int rc = f ? f->pMethods->xRead(f, header, sizeof header, 0) : SQLITE_IOERR;

	if (rc == SQLITE_IOERR_SHORT_READ)
		return damaged(h, e, "the file was truncated");
	if (rc != SQLITE_OK)
		return 0; /* SQLite itself reports a failed read */
	if (memcmp(header, "SQLite format 3", sizeof "SQLite format 3") != 0)
		return damaged(h, e, "the file was overwritten");
	*wal = header[WRITE_VERSION] == WAL_VERSION;
	return 0;
}

/* Compares the -wal file with its index, which is in the -shm file. The caller has the write lock,
 * so no other process changes these two files. */
static int check_wal(const struct history *h, struct err *e)
{
	sqlite3_file *db = file_of(h, SQLITE_FCNTL_FILE_POINTER);
	sqlite3_file *wal = file_of(h, SQLITE_FCNTL_JOURNAL_POINTER);
	void volatile *index = NULL;
	unsigned char header[WAL_HEADER_BYTES], start[INDEX_SALT + SALT_BYTES];
	sqlite3_int64 size = 0;
	struct stat st;
	uint16_t page;
	uint32_t frames;

	if (!wal || wal->pMethods->xFileSize(wal, &size) != SQLITE_OK ||
		db->pMethods->xShmMap(db, 0, INDEX_BYTES, 0, &index) != SQLITE_OK || !index)
		return 0;
	memcpy(start, (const void *)(uintptr_t)index, sizeof start);
	memcpy(&page, start + INDEX_PAGE_SIZE, sizeof page);
	memcpy(&frames, start + INDEX_FRAMES, sizeof frames);
	bool there = history_stat(h, "-wal", &st) == 0;

	if (there ? st.st_size != size : errno != EACCES)
		return err_set(e, -ESTALE,
			"history %s: its -wal file was deleted or replaced while it was open",
			h->path);
	if (frames == 0)
		return 0;
	/* The page size 65536 does not fit into 16 bits and is stored as 1. */
	int64_t frame = FRAME_BYTES + (page == 1 ? 65536 : (int64_t)page);

	if (size < WAL_HEADER_BYTES + frames * frame)
		return damaged(h, e, "its -wal file was truncated");
	if (wal->pMethods->xRead(wal, header, sizeof header, 0) == SQLITE_OK &&
		memcmp(header + WAL_SALT, start + INDEX_SALT, SALT_BYTES) != 0)
		return damaged(h, e, "its -wal file was overwritten");
	return 0;
}

int history_check_intact(const struct history *h, struct err *e)
{
	bool wal = false;

	/* Do not check until history_migrate has created the tables and prepared `add_sample`,
	 * because a new file may be empty until then. */
	if (h->memory || !h->add_sample)
		return 0;
	if (h->lost_pages != history_lost_pages())
		return damaged(h, e, "its -shm file was truncated");
	int code = check_database(h, &wal, e);

	return code || !wal ? code : check_wal(h, e);
}
