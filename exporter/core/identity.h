/* Who and where this process is: what a run's record needs so that another exporter finds the run again. */
#ifndef EXPORTER_IDENTITY_H
#define EXPORTER_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/clock.h"
#include "exporter/history/history.h"

struct identity {
	struct run_root here; /* boot id and PID namespace of this process; pids 0 */
	pid_t pid;            /* of this process, and its start time */
	uint64_t start_ticks;
	char host[256]; /* node name: uname(2) */
};

void identity_read(struct identity *ret);

/* Start time (field 22 of /proc/PID/stat) of a process of our namespace; 0 = no such process. */
uint64_t process_start_ticks(pid_t pid);

/* For historian_config.alive. */
bool process_alive(void *context, pid_t pid, uint64_t start_ticks);

/* "20261121T084512Z-3f9a0c1d": the start in UTC, so that ids sort by time, and 32 random bits. */
void run_id_make(char out[RUN_ID_MAX], struct wall started_at);

#endif
