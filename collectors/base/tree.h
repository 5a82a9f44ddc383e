/*
 * The one seam to the kernel's files: everything in /proc, /sys and below the root file system is
 * read through a tree. Real directories in production and for --path.procfs fixtures; memory and
 * failing ones in tests (tests/support/).
 *
 * One thread at a time may use a tree; several may use a tree of tree_open. Paths are relative, without
 * a leading slash; "" is the root itself. Codes are negative errno; -ENOENT and -ESRCH mean "not there
 * (any more)". Below the root of a process ("PID/root/...") only files of control groups are read; others
 * are -ENOENT, because the process may have put anything there. tree_foreign reads those.
 */
#ifndef COLLECTORS_BASE_TREE_H
#define COLLECTORS_BASE_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/err.h"

struct tree;

struct tree_space { /* of the file system that holds a path, in bytes and inodes */
	uint64_t size, free, available, files, files_free;
	bool read_only;
};

/*
 * A file whose path a process chose. The process may have put anything there: a link to a secret, a
 * device, a file system that does not answer.
 */
struct foreign {
	/* The start of the path: "7/cwd", "7/root". May block as tree_space does: call tree_answers. */
	const char *folder;
	const char *path; /* below folder; links in it are not followed, ".." is -ENOENT */
	uint64_t uid;     /* user of the process */
	/* May files on this mount be read? mount: its number in mountinfo. Called before any access. */
	bool (*allows)(void *context, uint64_t mount);
	void *context;
};

/* Reads that a guarded tree gave up (collectors/base/tree_guard.h). */
struct tree_waits {
	size_t unanswered;  /* processes with a read that has not returned yet */
	uint64_t left_out;  /* reads that returned -ETIMEDOUT, so far */
	uint64_t worked_ns; /* CPU time of the threads that read for the caller, so far */
};

/* One call of a tree; each has the contract of the function below with the same name. */
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
	void *out; /* the result: a text, a struct tree_space, a device */
	size_t size;
	uint64_t from;
	int (*each)(void *context, const char *name);
	void *context;
	const struct foreign *foreign; /* path is its folder */
};

struct tree_ops {
	int64_t (*get)(struct tree *, const struct tree_request *r);
	bool (*answers)(struct tree *, const char *path); /* NULL: always true */
	/* NULL: no reads wait; ret is zeroed before the call. */
	void (*waits)(struct tree *, struct tree_waits *ret);
	void (*free)(struct tree *);
};

struct tree {
	const struct tree_ops *ops;
};

/* A directory of this machine. */
int tree_open(struct tree **ret, const char *directory, struct err *e);
void tree_free(struct tree *t); /* NULL does nothing */

/* All functions below use this; trees that wrap another tree call it. */
static inline int64_t tree_get(struct tree *t, const struct tree_request *r)
{
	return t->ops->get(t, r);
}

/*
 * The whole file, NUL-terminated in buf; returns its length without the NUL. A file that does not
 * fit is -EFBIG, never cut.
 */
ssize_t tree_read(struct tree *t, const char *path, char *buf, size_t size);

/*
 * The same with one system call less, for files without records longer than TREE_RECORD_MAX. The kernel
 * fills a page with whole records (fs/seq_file.c): a read that leaves room for one more record has
 * reached the end. A record is the text that the kernel prints at once: a line of a list; most files of
 * /proc and of control groups are one record of any length. The mount table may have longer lines.
 */
#define TREE_RECORD_MAX 1024
ssize_t tree_read_records(struct tree *t, const char *path, char *buf, size_t size);

/* Reads the first bytes of a file, at most size, without a NUL; returns their number. */
ssize_t tree_head(struct tree *t, const char *path, char *buf, size_t size);

/* The same from offset from; 0: end of file. A file of /proc may change between two parts. */
ssize_t tree_part(struct tree *t, const char *path, uint64_t from, char *buf, size_t size);

/*
 * As tree_head, for a regular file that the user of the process owns, or that everybody may read. Any
 * other file, or a file on a mount that is not allowed, is -ENOENT. Rights of groups and access control
 * lists are ignored.
 */
ssize_t tree_foreign(struct tree *t, const struct foreign *f, char *buf, size_t size);

/* Names in a directory, without "." and "..", in no order. A non-zero result of each ends the list and is returned. */
int tree_list(struct tree *t, const char *path, int (*each)(void *context, const char *name),
	void *context);

/* Target of a symbolic link, NUL-terminated; -EFBIG when it does not fit. */
ssize_t tree_link(struct tree *t, const char *path, char *buf, size_t size);

/* st_dev of a path, links followed. */
int tree_device(struct tree *t, const char *path, uint64_t *ret);

/* st_size of a path: Linux 6.2 and later give the number of open descriptors for /proc/PID/fd. */
int64_t tree_size(struct tree *t, const char *path);

/* False: a read, also by a kept descriptor, may block for ever. */
bool tree_answers(struct tree *t, const char *path);

struct tree_waits tree_waits(struct tree *t);

/* Space of the file system at path. Blocks on a dead network file system: check mounts_reach first. */
int tree_space(struct tree *t, const char *path, struct tree_space *ret);

/*
 * A file that is read repeatedly: the descriptor stays open and is read from the start each time. A kept /proc descriptor costs 4 KiB of kernel memory and names the process, not its number:
 * after the process is gone reads give -ESRCH. -1 when path cannot be opened; fall back to tree_read.
 */
struct kept {
	int fd; /* KEPT_NONE: nothing kept */
};

#define KEPT_NONE ((struct kept){-1})

struct kept tree_keep(struct tree *t, const char *path);
/* As tree_read_records, through the kept descriptor when there is one. */
ssize_t kept_read(struct kept *k, struct tree *t, const char *path, char *buf, size_t size);
/*
 * For a mount table (PID/mountinfo): 1 = the kernel reports a change since it was opened or last polled,
 * 0 = no change, -EOPNOTSUPP = unknown: nothing is kept, or the file is not the kernel's. Renaming a
 * folder that contains mounts is not reported.
 */
int kept_changed(const struct kept *k);
void kept_done(struct kept *k);

#endif
