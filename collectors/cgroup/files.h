/*
 * What the kernel counts for one control group, v1 and v2: CPU time and throttling, memory and its events,
 * pressure, tasks and I/O. One table says where each number is.
 */
#ifndef COLLECTORS_CGROUP_FILES_H
#define COLLECTORS_CGROUP_FILES_H

#include <stdint.h>

#include "collectors/cgroup/find.h"

/* In base units: seconds, bytes, counts. */
enum cgroup_value {
	CGROUP_CPU_SECONDS,
	CGROUP_CPU_USER_SECONDS,
	CGROUP_CPU_SYSTEM_SECONDS,
	/* Periods of its CPU quota in which it had work to do, in which it was held back, and how long. */
	CGROUP_CPU_PERIODS,
	CGROUP_CPU_THROTTLED_PERIODS,
	CGROUP_CPU_THROTTLED_SECONDS,
	/* Time in which at least one task waited (PSI "some"); v2 only. */
	CGROUP_CPU_PRESSURE_SECONDS,
	CGROUP_MEMORY_PRESSURE_SECONDS,
	CGROUP_IO_PRESSURE_SECONDS,
	CGROUP_MEMORY_BYTES,      /* with its page cache */
	CGROUP_MEMORY_PEAK_BYTES, /* v2: Linux 5.19 */
	/* Parts of it: the page cache holds shared memory and tmpfs too; huge pages are transparent ones of programs. */
	CGROUP_MEMORY_ANON_BYTES,
	CGROUP_MEMORY_CACHE_BYTES,
	CGROUP_MEMORY_SHMEM_BYTES,
	CGROUP_MEMORY_HUGE_BYTES,
	CGROUP_SWAP_BYTES,
	CGROUP_MEMORY_HIGH_EVENTS, /* reclaim because of memory.high; v2 only */
	CGROUP_MEMORY_MAX_EVENTS,  /* allocations that met the limit */
	CGROUP_MEMORY_OOM_EVENTS,  /* the limit could not be kept by reclaim; v2 only */
	CGROUP_OOM_KILLS,          /* processes killed for it; in v1 those of this very group */
	CGROUP_TASKS,
	CGROUP_IO_READ_BYTES,
	CGROUP_IO_WRITTEN_BYTES,
	CGROUP_VALUES,
};

#define CGROUP_WANT(value) (UINT32_C(1) << (value))
#define CGROUP_WANT_ALL    UINT32_MAX

struct cgroup_file; /* one that is kept open */

struct cgroup_files {
	size_t n;
	struct cgroup_file *file;
};

/*
 * For the values wanted, a CGROUP_WANT of each; the others stay unknown. A place with version 0 is left out. Opened
 * files stay readable after the processes are gone.
 */
void cgroup_files_open(struct cgroup_files *ret, const struct cgroup *group, uint32_t wanted);
/* Right after that: none stays open, each is opened for each reading. */
void cgroup_files_by_path(struct cgroup_files *f);
void cgroup_files_close(struct cgroup_files *f); /* zeroed: nothing */

/*
 * NaN: not known here, because the controller is not enabled, the kernel too old, or the file not readable. The code and the
 * error are of the last file that is there and cannot be read.
 */
int cgroup_files_read(struct cgroup_files *f, const struct host *host, double ret[CGROUP_VALUES],
	struct err *e);

#endif
