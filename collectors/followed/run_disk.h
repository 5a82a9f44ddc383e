/* Disk space that a run took: the most space that it used at one time, beyond the space used at its
 * start. The kernel counts used space for a whole file system, not for each run. It counts written
 * bytes for each process. The figure comes from one of three sources, which `source` names:
 *
 * 	own      the growth of file systems that only the run uses
 * 	written  an upper bound: the bytes that the run wrote to file systems, without the bytes
 * 	         that it deleted before they went to disk. Writes to network file systems count,
 * 	         writes to tmpfs do not.
 * 	growth   an estimate for a run that overwrote or deleted files, and therefore wrote far
 * 	         more than its file systems grew: the growth of used space since its lowest
 * 	         value, plus RUN_DISK_FREED_BYTES
 *
 * Other processes may delete files from before the run. This hides growth in the source "growth".
 * If used space falls below its lowest value by more than RUN_DISK_FREED_BYTES, all bytes written
 * since the last reading count as growth. If other processes delete as fast as the run writes, used
 * space neither grows nor falls, and the estimate is too low.
 *
 * Space that a run reserves without writing (fallocate(2)) counts only in "own". If the writes are
 * unknown (processes of another user), only "own" gives a figure.
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
/* Other processes may delete files that were there before the run. This many deleted bytes may
 * remain unnoticed during a run. */
#define RUN_DISK_FREED_BYTES (UINT64_C(256) << 20)

/* Bytes so far; NaN = unknown. `cancelled` is the part of `written` that was deleted before it went
 * to disk. */
struct run_disk_writes {
	double written, cancelled;
};

struct run_disk {      /* zeroed memory = nothing read yet */
	bool found;    /* the file systems were listed */
	pid_t through; /* the process in whose root the paths begin; 0 = the exporter's own root */
	uint64_t changes; /* mount_watch_changes at the last listing; 0 = unknown */
	uint64_t hash;    /* hash of the last mount table; 0 = list again at the next tick */
	struct mono due;  /* earliest time to read the mount table again */
	size_t n;
	struct run_filesystem {
		char *path; /* path of a folder of the file system, below host->proc */
		uint64_t device, size, used, lowest;
		bool own; /* only the run's mount namespace has this file system */
	} filesystem[RUN_DISK_FILESYSTEMS_MAX];
	bool read; /* the growth has been read at least once */
	/* Growth that readings of the used space cannot show: bytes written before the first
	 * reading, and bytes that deletions by other processes hide. */
	double unseen;
	double fallen; /* bytes by which used space fell below its earlier lowest value */
	double written, cancelled; /* values of the last call; `cancelled` excludes `of_others` */
	double of_others;          /* cancelled bytes that other processes had written */
	/* Growth of the used space at the last reading, minus the bytes that the run had written
	 * until then. The growth now is estimated as `grown` + `written`. */
	double grown;
	double most_written, most_grown, most; /* largest values so far, in bytes */
	const char *source;                    /* "written", "growth" or "own"; NULL = unknown */
	bool incomplete;                       /* some writes of the run are unknown */
};

/* Returns the most disk space that the run has used so far, in bytes. Returns NaN if the space is
 * unknown at this tick. `pid` is a live process of the run; 0 = there is none. `outside` is the
 * parent of the run's first process; 0 = unknown. Their mount namespaces are compared: if they
 * differ, the run has file systems of its own. */
double run_disk_look(struct run_disk *d, const struct host *h, pid_t pid, pid_t outside,
	struct run_disk_writes writes);

void run_disk_done(struct run_disk *d);

#endif
