/*
 * Disk space that a run took: the largest growth of used space on the file systems that it may
 * write to. Other processes write there too, so the growth counts up to the bytes that the run
 * wrote. If those are unknown (processes of another user), so is the growth.
 *
 * Network file systems and FUSE are never asked, because they may hang. One may be mounted over
 * another file system at any time, so the mount table is checked before each reading. While a file
 * system does not answer (collectors/base/tree_guard.h) the growth is unknown. A file system counts
 * from its first answer.
 *
 * Sampler thread only.
 */
#ifndef COLLECTORS_FOLLOWED_RUN_DISK_H
#define COLLECTORS_FOLLOWED_RUN_DISK_H

#include "collectors/host.h"

/* Most file systems that are watched for one run. */
#define RUN_DISK_FILESYSTEMS_MAX 16

struct run_disk {         /* zeroed memory: nothing seen yet */
	bool found;       /* its file systems were found */
	pid_t through;    /* process whose root the paths lead through; 0 = our own */
	uint64_t changes; /* mount_watch_changes at that time; 0 = unknown */
	uint64_t hash;    /* of the last mount table read; 0 = some file system did not answer */
	struct mono due;  /* earliest time to read the mount table again */
	size_t n;
	struct run_filesystem {
		char *path; /* below host->proc */
		uint64_t device, size, used, used_before;
	} filesystem[RUN_DISK_FILESYSTEMS_MAX];
	double most; /* bytes */
};

/*
 * pid: a live process of the run; 0 = none. written: bytes that the run wrote so far; NaN =
 * unknown. Returns the most bytes taken at any look so far; NaN = unknown at this look.
 */
double run_disk_look(struct run_disk *d, const struct host *h, pid_t pid, double written);

void run_disk_done(struct run_disk *d);

#endif
