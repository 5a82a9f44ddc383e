/*
 * The one seam to the kernel's files: everything in /proc, /sys and below the root file system is
 * read through a tree. Real directories in production and for --path.procfs fixtures; memory and
 * failing ones in tests (tests/support/).
 *
 * A tree may be used by one thread at a time, that of tree_open by several. Paths are relative, without a leading slash; "" is the
 * root itself. Codes are negative errno; -ENOENT and -ESRCH mean "not there (any more)", also of a file below a process's
 * root ("PID/root/...") that is not of a control group: that process may have put anything there, and tree_foreign reads it.
 */
#ifndef COLLECTORS_BASE_TREE_H
#define COLLECTORS_BASE_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/err.h"

struct tree;

struct tree_space { /* of the file system that holds a path; bytes and inodes */
	uint64_t size, free, available, files, files_free;
	bool read_only;
};

/* A file that a process names, where that process may have put anything: a link to a secret, a device, a dead file system. */
struct foreign {
	/* Where it begins: "7/cwd", "7/root". May block as tree_space does: ask first. */
	const char *folder;
	const char *path; /* below that; no link in it is followed, and ".." is not there */
	uint64_t uid;     /* whose process it is */
	/* May files on this mount be asked for? Its number in mountinfo; asked before anything of it is looked at. */
	bool (*allows)(void *context, uint64_t mount);
	void *context;
};

/* What a tree that leaves out what does not answer tells of that: collectors/base/tree_guard.h. */
struct tree_waits {
	size_t unanswered; /* processes that are not read, or not all of them, since they do not answer */
	uint64_t left_out;  /* readings that gave -ETIMEDOUT, so far */
	uint64_t worked_ns; /* CPU time of threads that read in the caller's stead, so far */
};

/* Something that is asked of a tree: the function of that name below, whose contract each has. */
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
	void *out; /* what is told beside the code: a text, a struct tree_space, a device */
	size_t size;
	uint64_t from;
	int (*each)(void *context, const char *name);
	void *context;
	const struct foreign *foreign; /* path is its folder */
};

struct tree_ops {
	int64_t (*get)(struct tree *, const struct tree_request *r);
	bool (*answers)(struct tree *, const char *path); /* NULL: yes */
	void (*waits)(struct tree *,
		struct tree_waits *ret); /* NULL: there are none; ret is zeroed */
	void (*free)(struct tree *);
};

struct tree {
	const struct tree_ops *ops;
};

/* A directory of this machine. */
int tree_open(struct tree **ret, const char *directory, struct err *e);
void tree_free(struct tree *t); /* NULL does nothing */

/* All of the following go through this; trees that pass on requests call it. */
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
 * The same in fewer system calls, for a file none of whose records is longer than TREE_RECORD_MAX. The kernel writes
 * whole records, one after the other, into a page (fs/seq_file.c), so what leaves room for one more was all: nothing
 * is asked to say so. A record is what the kernel's code prints at once: most files of /proc and of control groups
 * are one of any length; of lists it is a line. The mount table may have longer lines.
 */
#define TREE_RECORD_MAX 1024
ssize_t tree_read_records(struct tree *t, const char *path, char *buf, size_t size);

/* The first bytes of a file, at most size of them and without a NUL; returns how many. */
ssize_t tree_head(struct tree *t, const char *path, char *buf, size_t size);

/* The same from a place in it on; 0: it ends there. A file of /proc may have become another between two such parts. */
ssize_t tree_part(struct tree *t, const char *path, uint64_t from, char *buf, size_t size);

/*
 * As tree_head, of a regular file that is the process's own, or that it may read as anybody may. What is not, and what is
 * on a mount that is not allowed, is -ENOENT. Neither is a group asked for its rights, nor an access control list.
 */
ssize_t tree_foreign(struct tree *t, const struct foreign *f, char *buf, size_t size);

/* Names in a directory, without "." and "..", in no order; stops when each returns non-zero, and returns it. */
int tree_list(struct tree *t, const char *path, int (*each)(void *context, const char *name),
	void *context);

/* Target of a symbolic link, NUL-terminated; -EFBIG when it does not fit. */
ssize_t tree_link(struct tree *t, const char *path, char *buf, size_t size);

/* st_dev of a path, links followed. */
int tree_device(struct tree *t, const char *path, uint64_t *ret);

/* st_size of a path: Linux 6.2 and later give the number of open descriptors for /proc/PID/fd. */
int64_t tree_size(struct tree *t, const char *path);

/* False: who reads it, by a kept descriptor as well, may wait for ever. */
bool tree_answers(struct tree *t, const char *path);

struct tree_waits tree_waits(struct tree *t);

/* Space of the file system at path. May block for ever on a dead network file system: ask first. */
int tree_space(struct tree *t, const char *path, struct tree_space *ret);

/*
 * A file that is read again and again: the descriptor stays open and is read from the start each
 * time. A kept /proc descriptor costs 4 KiB of kernel memory and names the process, not its number:
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
 * Of a mount table (PID/mountinfo): 1 = the kernel says that it changed since it was opened or last asked about, 0 = it
 * did not, -EOPNOTSUPP = nobody can say, since nothing is kept or the file is not the kernel's. A folder that is renamed
 * with mounts in it is no change.
 */
int kept_changed(const struct kept *k);
void kept_done(struct kept *k);

#endif
