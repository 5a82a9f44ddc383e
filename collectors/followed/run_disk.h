/* Disk space that a run took: the most that it had in use at once, beyond the space at its start.
 * The kernel counts space for a whole file system and writes for each process, so the figure is one
 * of these, named by `source`:
 *
 * 	own      the growth of file systems that only the run uses
 * 	written  an upper bound: the bytes that the run wrote to file systems, without those that it
 * 	         deleted before they went to disk. Writes to tmpfs do not count, writes to network
 * 	         file systems do.
 * 	growth   an estimate for a run that wrote far more than its file systems grew, because it
 * 	         overwrote or deleted: the growth of used space since its lowest value, plus
 * 	         RUN_DISK_FREED_BYTES. Too low if other processes deleted more than that of what was
 * 	         there before, just as fast as the run wrote. A fall of used space shows such
 * 	         deletions. All that was written meanwhile then counts as growth.
 *
 * Space that a run reserves without writing (fallocate(2)) counts only in "own". If the writes are
 * unknown (processes of another user), the figure is unknown, except for "own".
 *
 * Network file systems and FUSE are never queried, because they may hang. A mount may cover another
 * file system at any time, so the mount table is checked before each reading. While a file system
 * does not answer (collectors/base/tree_guard.h), all writes count as growth. A file system counts
 * from its first answer on.
 *
 * Sampler thread only. */
#ifndef COLLECTORS_FOLLOWED_RUN_DISK_H
#define COLLECTORS_FOLLOWED_RUN_DISK_H

#include "collectors/host.h"

/* Maximum number of file systems that are watched for one run. */
#define RUN_DISK_FILESYSTEMS_MAX 16
/* Space of earlier files that other processes may free during a run without being noticed. */
#define RUN_DISK_FREED_BYTES (UINT64_C(256) << 20)

/* Bytes so far; NaN = unknown. `cancelled` is the part of `written` that was deleted before it went
 * to disk. */
struct run_disk_writes {
	double written, cancelled;
};

struct run_disk {         /* zeroed memory = nothing read yet */
	bool found;       /* the file systems were listed */
	pid_t through;    /* paths begin at the root of this process; 0 = our own root */
	uint64_t changes; /* mount_watch_changes at the last listing; 0 = unknown */
	uint64_t hash;    /* hash of the last mount table; 0 = list again at the next tick */
	struct mono due;  /* earliest time to read the mount table again */
	size_t n;
	struct run_filesystem {
		char *path; /* below host->proc */
		uint64_t device, size, used, lowest;
		bool own; /* no process outside the run's mount namespace uses it */
	} filesystem[RUN_DISK_FILESYSTEMS_MAX];
	bool read; /* the growth was read once */
	/* Bytes that may have been added before that, or behind the back of the readings. */
	double unseen;
	double fallen; /* bytes by which used space fell below its lowest value; see run_disk.c */
	double written, cancelled; /* at the last look; cancelled without `of_others` */
	double of_others;          /* cancelled bytes that others had written */
	double grown;              /* at the last reading, minus the bytes written until then */
	double most_written, most_grown, most; /* largest values so far, in bytes */
	const char *source;                    /* see above; NULL = unknown */
	bool incomplete;                       /* some writes of the run are unknown */
};

/* `pid` is a live process of the run; 0 = none. `outside` is the parent of the run; 0 = unknown.
 * Returns the most space so far in bytes. Returns NaN when it is unknown at this tick. */
double run_disk_look(struct run_disk *d, const struct host *h, pid_t pid, pid_t outside,
	struct run_disk_writes writes);

void run_disk_done(struct run_disk *d);

#endif
