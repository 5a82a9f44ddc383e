/* Who and where this process is: what a run's record needs so that another exporter finds the run again. */
#ifndef EXPORTER_CORE_IDENTITY_H
#define EXPORTER_CORE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/clock.h"
#include "collectors/runs.h"

/* Where a run is rooted on this machine, so that another exporter can follow it. */
struct run_root {
	pid_t pid;            /* of the job's first process */
	uint64_t start_ticks; /* field 22 of /proc/PID/stat */
	pid_t reaper_pid; /* the wrapper, whose other children are orphans of the job; 0 = none */
	uint64_t reaper_start_ticks;
	uint64_t pid_namespace; /* inode of /proc/self/ns/pid; 0 = unknown */
	char boot_id[40];       /* /proc/sys/kernel/random/boot_id, "" = unknown */
};

/* The server that a run runs on; NULL = unknown. Said at the start, at the end, or both: the end wins. */
struct run_server {
	const char *vendor_id, *instance_type, *region, *zone, *allocation;
};

struct identity {
	struct run_root here; /* boot id and PID namespace of this process; pids 0 */
	pid_t pid;            /* of this process, and its start time */
	uint64_t start_ticks;
	char host[256]; /* node name: uname(2) */
};

void identity_read(struct identity *ret);

/* Start time (field 22 of /proc/PID/stat) of a process of our namespace; 0 = no such process. */
uint64_t identity_start_ticks(pid_t pid);

/* For historian_config.alive. */
bool identity_is_alive(void *context, pid_t pid, uint64_t start_ticks);

/* "20261121T084512Z-3f9a0c1d": the start in UTC, so that ids sort by time, and 32 random bits. */
void identity_make_run_id(char out[RUN_ID_MAX], struct wall started_at);

#endif
