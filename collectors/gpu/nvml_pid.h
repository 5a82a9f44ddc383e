/* Maps pids that NVML reports to pids of host->proc. Older drivers report pids of the initial PID
 * namespace. Newer drivers report pids of the caller's namespace. There are three cases:
 *
 * 1. This process is in the initial namespace, and host->proc shows it. The pids are equal.
 * 2. In any other case, search for a process that has an NVIDIA device open and has the pid that
 *    NVML reports. Compare the pids in host->proc first. If none is equal, compare the pids in
 *    inner namespaces (NSpid in /proc/PID/status).
 * 3. No such process is found. The pid of NVML stays without a process (unattributed), because a
 *    guess could be wrong.
 *
 * Only the sampler thread uses this. */
#ifndef COLLECTORS_GPU_NVML_PID_H
#define COLLECTORS_GPU_NVML_PID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/host.h"

struct gpu_pid {
	uint32_t driver_pid;
	pid_t pid; /* pid in host->proc; 0 = the process was not found */
};

struct gpu_pids { /* all zero = empty */
	bool asked_namespace, same_numbers;
	struct mono searched; /* time of the last search of all of /proc */
	bool ever_searched;
	size_t n;
	struct gpu_pid *map;
};

/* Pause between two searches of all of /proc for unattributed pids. */
#define GPU_PID_SEARCH_SECONDS 60

/* Updates the map to these `n` driver pids and removes all others. Uses host->scratch. */
void gpu_pids_update(struct gpu_pids *m, const struct host *h, const uint32_t *driver_pid,
	size_t n);

/* Returns true if the driver and host->proc number the processes alike, so that no map is
 * needed. */
bool gpu_pids_are_same(struct gpu_pids *m, const struct host *h);

/* Returns the pid in host->proc, or 0 when the driver's pid is unattributed. */
pid_t gpu_pid_of(const struct gpu_pids *m, uint32_t driver_pid);

void gpu_pids_done(struct gpu_pids *m);

#endif
