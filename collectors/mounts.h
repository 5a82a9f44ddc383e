/* A mount table, /proc/PID/mountinfo (proc_pid_mountinfo(5)). Also finds out which mount a path
 * leads to. */
#ifndef COLLECTORS_MOUNTS_H
#define COLLECTORS_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/err.h"
#include "collectors/base/tree.h"

/* Maximum size in bytes of a table, and maximum number of mounts, that are read. */
#define MOUNTS_TEXT_MAX (8u * 1024 * 1024)
#define MOUNTS_MAX      16384

/* One mount. Its texts may contain any byte except NUL, because escapes such as \040 are
 * decoded. */
struct mount {
	uint64_t id, parent;
	uint64_t device;   /* like st_dev, except on btrfs: its files have a different st_dev */
	const char *root;  /* the mounted folder of the file system; "/" = all of it */
	const char *point; /* mount point, as the process of this table sees it */
	const char *type, *source;
	/* Options of the file system. For cgroup v1 they include the controllers. */
	const char *options;
};

/* A parsed mount table. Zeroed memory is an empty table. All strings point into `text`, and are
 * valid until the next read. */
struct mounts {
	size_t n, room, text_room;
	struct mount *mount;
	char *text;
	uint64_t hash; /* hash of the unparsed text */
};

/* The kind of a mount decides whether the space of its file system is measured, and whether a call
 * on the file system may block. */
enum mount_kind {
	MOUNT_LOCAL,   /* on a disk of this machine: measured */
	MOUNT_LAYERED, /* reports the space of the file system that it writes to */
	MOUNT_PSEUDO,  /* in memory, or a read-only image; never blocks */
	MOUNT_REMOTE,  /* a call may never return */
};
enum mount_kind mount_kind_of(const struct mount *m);

/* Reads the table `path`, such as "self/mountinfo". A line that cannot be parsed is left out.
 * Returns -EFBIG for a table over MOUNTS_TEXT_MAX. */
int mounts_read(struct mounts *m, struct tree *proc, const char *path, struct err *e);
void mounts_done(struct mounts *m);

/* Returns true if `path` is the mount point or is below it. If another mount covers this one, the
 * path leads to the other mount, but the result is true. */
bool mount_holds(const struct mount *m, const char *path);

/* Returns the mount that a path leads to; NULL = none. The path must contain no symbolic links. A
 * later mount covers an earlier mount on the same point. */
const struct mount *mounts_find(const struct mounts *all, const char *path);

/* Watches the mount table of this process for changes. */
struct mount_watch {
	struct kept table;
	uint64_t changes;
};

struct mount_watch *mount_watch_new(struct tree *proc);
void mount_watch_free(struct mount_watch *w); /* NULL does nothing */

/* Returns a number that is different from the previous call if the mount table may have changed.
 * Returns 0 if changes cannot be detected, or if `w` is NULL. */
uint64_t mount_watch_changes(struct mount_watch *w);

/* Returns true if the path m->point leads to `m`. Returns false if another mount covers the path,
 * or if a file system on the path may never answer (MOUNT_REMOTE). Checks `m`, its parent mount,
 * and so on up to the root. */
bool mounts_reach(const struct mounts *all, const struct mount *m);

#endif
