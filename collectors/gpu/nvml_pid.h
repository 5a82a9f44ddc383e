/*
 * Maps pids of NVML to those of host->proc. The driver reports pids of the initial PID namespace
 * or, in newer versions, of the caller's namespace. Three cases:
 *
 * - This process is in the initial namespace and host->proc shows it: the numbers are the same.
 * - Else the process of the same number, if it has an NVIDIA device open. Otherwise one that has,
 *   and that has this number in an inner namespace (NSpid in /proc/PID/status).
 * - None: the number stays unattributed. Nothing is guessed.
 *
 * Sampler thread only.
 */
#ifndef COLLECTORS_GPU_NVML_PID_H
#define COLLECTORS_GPU_NVML_PID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/host.h"

struct gpu_pid {
	uint32_t driver_pid;
	pid_t pid; /* 0 = unattributed */
};

struct gpu_pids { /* zeroed is empty */
	bool asked_namespace, same_numbers;
	struct mono searched; /* last search of all of /proc for unattributed numbers */
	bool ever_searched;
	size_t n;
	struct gpu_pid *map;
};

/* Pause between two searches of all of /proc. */
#define GPU_PID_SEARCH_SECONDS 60

/* Updates the map to these numbers; the others are removed. Uses host->scratch. */
void gpu_pids_update(struct gpu_pids *m, const struct host *h, const uint32_t *driver_pid,
	size_t n);

/* Is this the first of the three cases? */
bool gpu_pids_are_same(struct gpu_pids *m, const struct host *h);

/* 0 = unattributed. */
pid_t gpu_pid_of(const struct gpu_pids *m, uint32_t driver_pid);

void gpu_pids_done(struct gpu_pids *m);

#endif
