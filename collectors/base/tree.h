/* Collectors read files in /proc, in /sys and below the root file system through a tree. A tree is
 * a real directory in production and for --path.procfs fixtures. Tests also use trees in memory and
 * trees that fail (tests/support/).
 *
 * Several threads may use a tree of tree_open at the same time. Any other tree is for one thread at
 * a time. Paths are relative, without a leading slash; "" is the root itself. Return codes are
 * negative errno. -ENOENT and -ESRCH mean "not there (any more)".
 *
 * Below the root of a process ("PID/root/..."), only files of control groups are read. All other
 * files there give -ENOENT, because the process may have put anything there. Only tree_foreign
 * reads them. */
#ifndef COLLECTORS_BASE_TREE_H
#define COLLECTORS_BASE_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/err.h"

struct tree;

struct tree_space { /* space of a file system in bytes; `files` and `files_free`: in inodes */
	uint64_t size, free, available, files, files_free;
	bool read_only;
};

/* A file whose path a process chose. The process may have put anything there: a link to a secret, a
 * device, a file system that does not answer. */
struct foreign {
	/* The start of the path, such as "7/cwd" or "7/root". Opening it may block on a dead file
	 * system. A guarded tree (collectors/base/tree_guard.h) therefore opens it on a thread. */
	const char *folder;
	const char *path; /* below `folder`; links are not followed, ".." is -ENOENT */
	uint64_t uid;     /* user of the process */
	/* Returns true if files on a mount may be read. `mount` is the number of the mount in
	 * mountinfo. The function is called before any file on that mount is accessed. */
	bool (*allows)(void *context, uint64_t mount);
	void *context;
};

/* Numbers about the reads of a guarded tree, which gives up a read that hangs
 * (collectors/base/tree_guard.h). */
struct tree_waits {
	size_t unanswered;  /* processes with a read that has not returned yet */
	uint64_t left_out;  /* reads so far that were given up or not tried (-ETIMEDOUT) */
	uint64_t worked_ns; /* CPU time so far of all threads that read for the caller */
};

/* One call of a tree. TREE_READ has the contract of tree_read below, TREE_LINK that of tree_link,
 * and so on. */
struct tree_request {
	enum tree_call {
		TREE_READ,
		TREE_READ_RECORDS,
		TREE_PART,
		TREE_LIST,
		TREE_LINK,
		TREE_DEVICE,
		TREE_SIZE,
		TREE_SPACE,
		TREE_KEEP,
		TREE_FOREIGN,
	} call;
	const char *path;
	void *out; /* the result: a text, a struct tree_space or a device */
	size_t size;
	uint64_t from;
	int (*each)(void *context, const char *name);
	void *context;
	const struct foreign *foreign; /* for TREE_FOREIGN; `path` is then foreign->folder */
};

struct tree_ops {
	int64_t (*get)(struct tree *, const struct tree_request *r);
	bool (*answers)(struct tree *, const char *path); /* NULL = always true */
	/* Counts the reads that were given up or skipped. NULL = this tree waits for every read.
	 * `ret` is zeroed before the call. */
	void (*waits)(struct tree *, struct tree_waits *ret);
	void (*free)(struct tree *);
};

struct tree {
	const struct tree_ops *ops;
};

/* Opens a directory of this machine as a tree. */
int tree_open(struct tree **ret, const char *directory, struct err *e);
void tree_free(struct tree *t); /* NULL does nothing */

/* Passes a request to the tree. The reading functions below call it, and so does a tree that wraps
 * another tree. */
static inline int64_t tree_get(struct tree *t, const struct tree_request *r)
{
	return t->ops->get(t, r);
}

/* Reads the whole file into `buf`, and adds a NUL. Returns the length without the NUL, or -EFBIG if
 * the file does not fit: the text is never cut. */
ssize_t tree_read(struct tree *t, const char *path, char *buf, size_t size);

/* Like tree_read, but may save one system call: the last read(2), which only finds the end of the
 * file. A record is the text that the kernel prints at once. Use this function in two cases:
 * - The whole file is one record, of any length, as are most files of /proc and of control groups.
 * - Each line of the file is a record, and no line is longer than TREE_RECORD_MAX. The mount table
 *   may have longer lines, so use tree_read for it.
 *
 * The kernel fills a page with whole records and copies the page to the reader (fs/seq_file.c). If
 * the page had room for one more record, the file has no more records. */
#define TREE_RECORD_MAX 1024
ssize_t tree_read_records(struct tree *t, const char *path, char *buf, size_t size);

/* Reads the first bytes of a file, at most `size`, without a NUL. Returns their number. */
ssize_t tree_head(struct tree *t, const char *path, char *buf, size_t size);

/* Like tree_head, but reads from the offset `from`. Returns 0 at the end of the file. The content
 * of a file in /proc may change between two calls. */
ssize_t tree_part(struct tree *t, const char *path, uint64_t from, char *buf, size_t size);

/* Like tree_head, but for a file whose path a process chose. Reads only a regular file on an
 * allowed mount. The file must belong to the user of the process or be readable by everybody;
 * groups and access control lists are not checked. Returns -ENOENT for any other file. */
ssize_t tree_foreign(struct tree *t, const struct foreign *f, char *buf, size_t size);

/* Calls `each` for every name in a directory, except "." and "..". The names have no particular
 * order. If `each` returns non-zero, tree_list stops and returns that value. */
int tree_list(struct tree *t, const char *path, int (*each)(void *context, const char *name),
	void *context);

/* Reads the target of a symbolic link, and adds a NUL. Returns -EFBIG if it does not fit. */
ssize_t tree_link(struct tree *t, const char *path, char *buf, size_t size);

/* Reads st_dev of a path. Links are followed. */
int tree_device(struct tree *t, const char *path, uint64_t *ret);

/* Returns st_size of a path. Since Linux 6.2, st_size of /proc/PID/fd is the number of open
 * descriptors. */
int64_t tree_size(struct tree *t, const char *path);

/* Returns false if a read of `path` may block forever. In this case, a read through a kept
 * descriptor of `path` may block, too. */
bool tree_answers(struct tree *t, const char *path);

struct tree_waits tree_waits(struct tree *t);

/* Reads the space of the file system at `path`. Blocks on a dead network file system: check
 * mounts_reach first. */
int tree_space(struct tree *t, const char *path, struct tree_space *ret);

/* A file that is read repeatedly. The descriptor stays open, and each read begins at the start.
 *
 * A kept descriptor of /proc costs 4 KiB of kernel memory. The descriptor belongs to the process,
 * not to the pid, so reads return -ESRCH after the process is gone. If `path` cannot be opened,
 * `fd` is -1 and kept_read opens the path at each call. */
struct kept {
	int fd; /* KEPT_NONE = no descriptor is kept */
};

#define KEPT_NONE ((struct kept){-1})

struct kept tree_keep(struct tree *t, const char *path);
/* Like tree_read_records, but uses the kept descriptor if there is one. */
ssize_t kept_read(struct kept *k, struct tree *t, const char *path, char *buf, size_t size);
/* Checks a mount table (PID/mountinfo) for changes since it was opened or last checked. Returns 1
 * if the kernel reports a change, and 0 if not. Returns -EOPNOTSUPP if changes cannot be seen: no
 * descriptor is kept, or the table is not a file of the kernel. If a folder that contains mounts is
 * renamed, the kernel reports no change. */
int kept_changed(const struct kept *k);
void kept_done(struct kept *k);

#endif
