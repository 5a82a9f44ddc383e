/* The identity of this process. A run's record stores it so that another exporter finds the run. */
#ifndef EXPORTER_CORE_IDENTITY_H
#define EXPORTER_CORE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/clock.h"
#include "collectors/runs.h"

/* The root process of a run, so that another exporter can follow the run. */
struct run_root {
	pid_t pid;            /* the job's first process */
	uint64_t start_ticks; /* field 22 of /proc/PID/stat */
	pid_t reaper_pid;     /* the wrapper: its other children are orphans of the job; 0 = none */
	uint64_t reaper_start_ticks;
	uint64_t pid_namespace; /* inode of /proc/self/ns/pid; 0 = unknown */
	char boot_id[40];       /* /proc/sys/kernel/random/boot_id, "" = unknown */
};

/* The server of a run; NULL = unknown. Recorded at the start and end of a run; the end wins. */
struct run_server {
	const char *vendor_id, *instance_type, *region, *zone, *allocation;
};

struct identity {
	struct run_root here; /* of this process; both pids are 0 */
	pid_t pid;
	uint64_t start_ticks; /* field 22 of /proc/PID/stat */
	char host[256];       /* node name: uname(2) */
};

void identity_read(struct identity *ret);

/* Start time of a process in our PID namespace; 0 = no such process, or /proc shows another one. */
uint64_t identity_start_ticks(pid_t pid);

/* True while the process with this start time exists. The type fits historian_config.alive. */
bool identity_is_alive(void *context, pid_t pid, uint64_t start_ticks);

/* "20261121T084512Z-3f9a0c1d": the start in UTC, then 32 random bits. Ids sort by time. */
void identity_make_run_id(char out[RUN_ID_MAX], struct wall started_at);

#endif
