/* Disk space that a run took: the largest growth of used space on the file systems that the run may
 * write to. Other processes write there too, so the growth is limited to the bytes that the run
 * wrote. If these bytes are unknown (processes of another user), the growth is unknown too.
 *
 * Network file systems and FUSE are never queried, because they may hang. A mount may cover another
 * file system at any time, so the mount table is checked before each reading. While a file system
 * does not answer (collectors/base/tree_guard.h), the growth is unknown. A file system counts from
 * its first answer on.
 *
 * Sampler thread only. */
#ifndef COLLECTORS_FOLLOWED_RUN_DISK_H
#define COLLECTORS_FOLLOWED_RUN_DISK_H

#include "collectors/host.h"

/* Maximum number of file systems that are watched for one run. */
#define RUN_DISK_FILESYSTEMS_MAX 16

struct run_disk {         /* zeroed memory = nothing read yet */
	bool found;       /* the file systems were listed */
	pid_t through;    /* paths begin at the root of this process; 0 = our own root */
	uint64_t changes; /* mount_watch_changes at the last listing; 0 = unknown */
	uint64_t hash;    /* hash of the last mount table; 0 = list again, after no answer */
	struct mono due;  /* earliest time to read the mount table again */
	size_t n;
	struct run_filesystem {
		char *path; /* below host->proc */
		uint64_t device, size, used, used_before;
	} filesystem[RUN_DISK_FILESYSTEMS_MAX];
	double most; /* largest growth so far, in bytes */
};

/* `pid` is a live process of the run; 0 = none. `written` is the number of bytes that the run wrote
 * so far; NaN = unknown. Returns the largest growth so far in bytes. Returns NaN when the growth is
 * unknown at this tick. */
double run_disk_look(struct run_disk *d, const struct host *h, pid_t pid, double written);

void run_disk_done(struct run_disk *d);

#endif
