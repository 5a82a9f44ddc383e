/* The machine as collectors see it: its files, facts about it, and the time of the current tick. A
 * tick is one round in which all collectors read. Facts never change during a tick. Each sampler
 * thread has one host, and collectors borrow it. */
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
struct helpers;          /* collectors/process/helpers.h */
struct member_limit;     /* collectors/process/member_limit.h */

/* A limit on open descriptors of one kind. `kept`: number of descriptors that all runs together
 * have open now. `most`: the limit. */
struct descriptors {
	size_t kept, most;
};

/* Counts `n` more descriptors. If the limit would be exceeded, counts none of them and returns
 * false. If `d` is NULL, there is no limit. */
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

/* Type and place of this machine, if it is a cloud server. "" = unknown. */
struct host_cloud {
	char vendor[32], instance_type[64], region[64], zone[64], allocation[16];
};

struct host {
	struct tree *proc, *sys, *root; /* --path.procfs, --path.sysfs, --path.rootfs */
	struct tree *root_sys;          /* directory `sys` below `root`; NULL = not there */
	struct now now;                 /* time of the tick */
	/* Reads the clock: the time of a single read may differ from the time of its tick. NULL =
	 * use `now`. */
	struct now (*clock)(void);
	long ticks_per_second; /* USER_HZ, unit of the times in /proc/PID/stat */
	size_t page_size;
	unsigned affinity_cpus; /* CPUs that this process may use, from host_look; 0 = unknown */
	/* True if `proc` shows the PID namespace of this process. A system call with a pid then
	 * finds the same process as /proc/PID. False for fixtures, and for a host's /proc that is
	 * mounted elsewhere. */
	bool own_pid_namespace;
	/* True if `proc` is a real procfs of another PID namespace. A pid in `proc` is then not the
	 * pid of the same process in system calls and in cgroup.procs. False for fixtures, because
	 * all files of a fixture use the same pids. */
	bool other_pid_namespace;
	/* True if `proc` shows the initial PID namespace of the machine, and this process is in it.
	 * That namespace has every process. */
	bool initial_pid_namespace;
	pid_t self; /* the pid of this process in proc; 0 = proc does not show this process */
	struct jobs *jobs;           /* runs that the jobs collector reports; NULL = no runs */
	struct delay_reader *delays; /* reads the waiting times of runs; NULL = not read */
	struct gpus *gpus;           /* which process uses which GPU; NULL = unknown */
	struct host_cloud cloud;     /* written between ticks */
	/* `*processes_kept` is the number of processes whose files are kept open, in all runs.
	 * `processes_kept_max` is its limit. If `processes_kept` is NULL, no files are kept open.
	 * Each process costs three descriptors, and each descriptor costs a page of kernel
	 * memory. */
	unsigned *processes_kept, processes_kept_max;
	/* Limits of open descriptors. `group_files`: files of control groups; beyond this limit, a
	 * file is opened and closed at each read. `root_ends`: pidfds, which report the end of a
	 * run's first process. */
	struct descriptors *group_files, *root_ends;
	struct member_limit *members; /* limit of processes in all runs together; NULL = no limit */
	struct helpers *helpers; /* declared helpers of all runs; NULL = no client declares any */
	struct mount_watch *mounts; /* watches the mount table; NULL = not watched */
	char *scratch;              /* buffer for reading files; any `collect` may use it */
	size_t scratch_size;
	/* Files that are read once per tick for several collectors; NULL = no file is shared. */
	struct kernel_file_text *text;
};

/* Largest file that is read whole into `scratch`. Reading a larger file returns -EFBIG. */
#define HOST_SCRATCH_SIZE (256 * 1024)

struct host_paths {
	const char *proc, *sys, *root;
};

/* Opens the three directories. `jobs`, `delays`, `members`, `helpers` and `gpus` stay NULL. The
 * error names the directory. */
int host_open(struct host *ret, const struct host_paths *paths, struct err *e);
void host_close(struct host *h); /* frees only what host_open made; zeroed memory is allowed */

/* Updates affinity_cpus between ticks: taskset(1), cpusets and CPU hotplug change it. */
void host_look(struct host *h);

/* `status` is the text of a file /proc/PID/status (proc_pid_status(5)). Returns true if its line
 * NSpid has only the number `pid`. The process then lives in the PID namespace that /proc shows,
 * and in no nested namespace. */
bool host_status_is_of(struct scan status, pid_t pid);

#endif
