/*
 * A mount table, /proc/PID/mountinfo (proc_pid_mountinfo(5)), and which of its mounts a path
 * reaches.
 */
#ifndef COLLECTORS_MOUNTS_H
#define COLLECTORS_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/err.h"
#include "collectors/base/tree.h"

/* Longest table and most mounts that are read. */
#define MOUNTS_TEXT_MAX (8u * 1024 * 1024)
#define MOUNTS_MAX      16384

/* Texts may have any bytes but NUL: escapes such as \040 are decoded. */
struct mount {
	uint64_t id, parent;
	uint64_t device;   /* as st_dev; not that of the files on btrfs */
	const char *root;  /* mounted folder of the file system: "/", or another for a bind mount */
	const char *point; /* mount point, from the root of the process whose table this is */
	const char *type, *source;
	const char *options; /* of the file system; for cgroup v1 the controllers are among them */
};

/* Zeroed memory is an empty table. All texts live in text and die with the next read. */
struct mounts {
	size_t n, room, text_room;
	struct mount *mount;
	char *text;
	uint64_t hash; /* of the text as it was read */
};

/* What the space of its file system means, and whether asking for it may block. */
enum mount_kind {
	MOUNT_LOCAL,   /* on a disk of this machine: measured */
	MOUNT_LAYERED, /* shows the space of the file system below it */
	MOUNT_PSEUDO,  /* in memory, or a read-only image that is always full: harmless */
	MOUNT_REMOTE,  /* may never answer */
};
enum mount_kind mount_kind_of(const struct mount *m);

/*
 * Reads path, such as "self/mountinfo"; a line that is no mount is left out. -EFBIG: over
 * MOUNTS_TEXT_MAX.
 */
int mounts_read(struct mounts *m, struct tree *proc, const char *path, struct err *e);
void mounts_done(struct mounts *m);

/* Is path the mount point or below it? Other mounts may still cover it. */
bool mount_holds(const struct mount *m, const char *path);

/* Watches the mount table of this process for changes. */
struct mount_watch {
	struct kept table;
	uint64_t changes;
};

struct mount_watch *mount_watch_new(struct tree *proc);
void mount_watch_free(struct mount_watch *w); /* NULL does nothing */

/* A number that changes when the table may have changed. 0 = unknown, also for NULL. */
uint64_t mount_watch_changes(struct mount_watch *w);

/*
 * Does the path m->point lead to m, without meeting a file system that may never answer (MOUNT_REMOTE)? Walks from m up to
 * the root of the table; no other mount may cover it.
 */
bool mounts_reach(const struct mounts *all, const struct mount *m);

#endif
