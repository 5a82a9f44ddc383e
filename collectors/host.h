/*
 * The machine as a collector sees it: where its files are, what time this tick is, and the few facts
 * that never change, or are looked at anew before each tick. One per sampler thread; collectors borrow it.
 */
#ifndef COLLECTORS_HOST_H
#define COLLECTORS_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collectors/base/clock.h"
#include "collectors/base/err.h"
#include "collectors/base/scan.h"
#include "collectors/base/tree.h"

struct delay_reader;     /* collectors/process/delays.h */
struct gpus;             /* collectors/gpu/gpu.h */
struct kernel_file_text; /* collectors/kernel_file.h */
struct jobs;             /* collectors/followed/jobs.h */
struct mount_watch;      /* collectors/mounts.h */
struct member_limit;     /* collectors/process/member_limit.h */

/* Descriptors of one kind that runs keep open, all of them together, and the most that they may. */
struct descriptors {
	size_t kept, most;
};

/* False: so many more are too many, and none are taken. NULL has no bound. */
static inline bool descriptors_take(struct descriptors *d, size_t n)
{
	if (d && n > d->most - d->kept)
		return false;
	if (d)
		d->kept += n;
	return true;
}

static inline void descriptors_give(struct descriptors *d, size_t n)
{
	if (d)
		d->kept -= n;
}

/* Which cloud server this is, as far as is known; empty texts are unknown. */
struct host_cloud {
	char vendor[32], instance_type[64], region[64], zone[64], allocation[16];
};

struct host {
	struct tree *proc, *sys, *root; /* --path.procfs, --path.sysfs, --path.rootfs */
	struct tree *root_sys; /* sys below root: a container's own is another; NULL = none */
	struct now now;        /* read once per tick */
	/* For what must be told at the instant of a reading; NULL = time stands still within a tick. */
	struct now (*clock)(void);
	long ticks_per_second; /* USER_HZ, unit of the times in /proc/PID/stat */
	size_t page_size;
	unsigned affinity_cpus; /* CPUs this process may use, by host_look; 0 = unknown */
	/*
	 * proc shows this process's own PID namespace, so system calls that take a pid mean the same
	 * process that /proc/PID does. False for fixtures and for a host's /proc mounted elsewhere.
	 */
	bool own_pid_namespace;
	struct jobs *jobs;           /* what the jobs collector reports on; NULL = nothing */
	struct delay_reader *delays; /* how waiting times of runs are read; NULL = they are not */
	struct gpus *gpus;           /* who uses which GPU; NULL = nothing is known of GPUs */
	struct host_cloud cloud;     /* filled by whoever found out, between ticks */
	/*
	 * Processes whose files are kept open, of all runs together, and the most that may be: each costs three
	 * descriptors, and the kernel a page for each. NULL = none are.
	 */
	unsigned *processes_kept, processes_kept_max;
	/* Files of control groups: those beyond are opened for each reading. And what tells of ends of roots (pidfd). */
	struct descriptors *group_files, *root_ends;
	struct member_limit
		*members; /* of all runs (collectors/process/member_limit.h); NULL = no bound */
	struct mount_watch *mounts; /* NULL: what is mounted is read whenever it matters */
	char *scratch; /* for reading files; a collector may use all of it in collect */
	size_t scratch_size;
	struct kernel_file_text
		*text; /* of a file that several read in a tick; NULL = each reads it */
};

/* Largest file that is read whole through scratch; a longer one is -EFBIG. */
#define HOST_SCRATCH_SIZE (256 * 1024)

struct host_paths {
	const char *proc, *sys, *root;
};

/* This machine, as these directories show it; jobs, delays, members and gpus are left NULL. The error names what cannot be opened. */
int host_open(struct host *ret, const struct host_paths *paths, struct err *e);
void host_close(struct host *h); /* nothing that others hung in; zeroed memory: nothing */

/* Between ticks: what changes without a file that says so, by taskset(1), cpusets and CPUs that come and go. */
void host_look(struct host *h);

/*
 * Is this the /proc/PID/status of the process that has this number in the PID namespace that /proc shows, and in none
 * below it? By its NSpid (proc_pid_status(5)).
 */
bool host_status_is_of(struct scan status, pid_t pid);

#endif
