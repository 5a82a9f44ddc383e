/* Reads the kernel's numbers for one control group, v1 and v2: CPU time and throttling, memory and
 * its events, pressure, tasks and I/O. A table in files.c lists the file of each number. */
#ifndef COLLECTORS_CGROUP_FILES_H
#define COLLECTORS_CGROUP_FILES_H

#include <stdint.h>

#include "collectors/cgroup/find.h"

/* Values are in base units: seconds, bytes, counts. */
enum cgroup_value {
	CGROUP_CPU_SECONDS,
	CGROUP_CPU_USER_SECONDS,
	CGROUP_CPU_SYSTEM_SECONDS,
	/* Throttling by the CPU quota: number of periods in which the group had work to do, number
	 * of periods in which it was throttled, and total time of throttling. */
	CGROUP_CPU_PERIODS,
	CGROUP_CPU_THROTTLED_PERIODS,
	CGROUP_CPU_THROTTLED_SECONDS,
	/* Time in which at least one task waited (PSI "some"); v2 only. */
	CGROUP_CPU_PRESSURE_SECONDS,
	CGROUP_MEMORY_PRESSURE_SECONDS,
	CGROUP_IO_PRESSURE_SECONDS,
	CGROUP_MEMORY_BYTES,      /* memory in use, with the page cache */
	CGROUP_MEMORY_PEAK_BYTES, /* v2 has it since Linux 5.19 */
	/* Parts of CGROUP_MEMORY_BYTES. CACHE includes shared memory and tmpfs. HUGE counts
	 * transparent huge pages that programs use. */
	CGROUP_MEMORY_ANON_BYTES,
	CGROUP_MEMORY_CACHE_BYTES,
	CGROUP_MEMORY_SHMEM_BYTES,
	CGROUP_MEMORY_HUGE_BYTES,
	CGROUP_SWAP_BYTES,
	CGROUP_MEMORY_HIGH_EVENTS, /* reclaims caused by memory.high; v2 only */
	CGROUP_MEMORY_MAX_EVENTS,  /* times that the group reached its limit */
	/* times that an allocation was about to fail at the limit; v2 only */
	CGROUP_MEMORY_OOM_EVENTS,
	CGROUP_OOM_KILLS, /* processes killed by the OOM killer; v1: of this group only */
	CGROUP_TASKS,
	CGROUP_TASKS_PEAK, /* exists since Linux 6.1 */
	CGROUP_IO_READ_BYTES,
	CGROUP_IO_WRITTEN_BYTES,
	CGROUP_VALUES,
};

#define CGROUP_WANT(value) (UINT32_C(1) << (value))
#define CGROUP_WANT_ALL    UINT32_MAX

struct cgroup_file; /* one open file of a group */

struct cgroup_files {
	size_t n;
	struct cgroup_file *file;
};

/* Opens the files of the values in `wanted`, a set of CGROUP_WANT bits. Values outside the set stay
 * unknown. Skips every place with version 0. Opened files stay readable after the processes have
 * ended. */
void cgroup_files_open(struct cgroup_files *ret, const struct cgroup *group, uint32_t wanted);
/* Closes the files that cgroup_files_open has just opened, to save descriptors. Each reading then
 * opens and closes them itself. */
void cgroup_files_by_path(struct cgroup_files *f);
void cgroup_files_close(struct cgroup_files *f); /* does nothing if `f` is zeroed */

/* Reads all values. A value is NaN if its controller is not enabled, the kernel is too old, or the
 * file cannot be read. Returns 0, or the negative errno of the last file that exists but cannot be
 * read, with the reason in `e`. */
int cgroup_files_read(struct cgroup_files *f, const struct host *host, double ret[CGROUP_VALUES],
	struct err *e);

#endif
