/* The identity of this process: its boot, PID namespace and PID. The history stores such values for
 * each run, so that another exporter can check whether the run's processes still live. */
#ifndef EXPORTER_CORE_IDENTITY_H
#define EXPORTER_CORE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/clock.h"
#include "collectors/runs.h"

/* The root process of a run. Another exporter needs these values to follow the run. */
struct run_root {
	pid_t pid;            /* the job's first process */
	uint64_t start_ticks; /* field 22 of /proc/PID/stat */
	pid_t reaper_pid;     /* the wrapper, which adopts the job's orphans; 0 = no wrapper */
	uint64_t reaper_start_ticks;
	uint64_t pid_namespace; /* inode of /proc/self/ns/pid; 0 = unknown */
	char boot_id[40];       /* /proc/sys/kernel/random/boot_id, "" = unknown */
};

/* The cloud server on which a run runs. A member is NULL if it is unknown. The server is recorded
 * at the start and again at the end of a run. A member that is known at the end replaces the member
 * from the start. */
struct run_server {
	const char *vendor_id, *instance_type, *region, *zone, *allocation;
};

struct identity {
	/* PID namespace and boot of this process; here.pid and here.reaper_pid are 0 */
	struct run_root here;
	pid_t pid;
	uint64_t start_ticks; /* field 22 of /proc/PID/stat */
	char host[256];       /* node name: uname(2) */
};

void identity_read(struct identity *ret);

/* Returns the start time of a process in clock ticks since the boot (field 22 of /proc/PID/stat).
 * `pid` is a PID of this program's PID namespace. 0 = there is no such process, or /proc shows
 * another PID namespace. */
uint64_t identity_start_ticks(pid_t pid);

/* Returns true while the process `pid` exists and has this start time. If /proc shows another PID
 * namespace, the start time is not checked. `context` is ignored: the function has it to fit
 * historian_config.alive. */
bool identity_is_alive(void *context, pid_t pid, uint64_t start_ticks);

/* Writes an id such as "20261121T084512Z-3f9a0c1d": the start in UTC, then 32 random bits. The ids
 * sort by time. */
void identity_make_run_id(char out[RUN_ID_MAX], struct wall started_at);

#endif
