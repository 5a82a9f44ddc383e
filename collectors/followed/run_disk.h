/*
 * Disk space that a run took: how much more is in use on the file systems that it may write to than when it was
 * first seen, at most. Others write there too, so no more than what the run itself wrote is taken for its own; where
 * that is not known (processes of another user), nothing is. Network file systems and FUSE are never asked: they may
 * hang. As one may be mounted over another at any time, the mount table is looked at again before each asking. While one of those
 * that are asked does not answer (collectors/base/tree_guard.h), nothing is known; one that never did counts from when it does.
 *
 * Sampler thread only.
 */
#ifndef COLLECTORS_FOLLOWED_RUN_DISK_H
#define COLLECTORS_FOLLOWED_RUN_DISK_H

#include "collectors/host.h"

/* Most file systems that are looked at for one run. */
#define RUN_DISK_FILESYSTEMS_MAX 16

struct run_disk {         /* zeroed memory: nothing seen yet */
	bool found;       /* its file systems */
	pid_t through;    /* whose root the paths lead through; 0 = ours */
	uint64_t changes; /* of our mount table by then (mount_watch_changes), 0 = unknown */
	uint64_t hash;    /* of the mount table that they were found in, 0 = not all answered */
	struct mono due;  /* a long one is not read again before */
	size_t n;
	struct run_filesystem {
		char *path; /* below host->proc */
		uint64_t device, size, used, used_before;
	} filesystem[RUN_DISK_FILESYSTEMS_MAX];
	double most; /* bytes */
};

/*
 * pid: a process of the run that was there at this look, 0 = there is none. written: bytes that the run wrote so far,
 * NaN = not known. The most bytes that it had taken at any look, NaN = not known at this one.
 */
double run_disk_look(struct run_disk *d, const struct host *h, pid_t pid, double written);

void run_disk_done(struct run_disk *d);

#endif
