/*
 * Whose process NVML means. The driver gives pids of the initial PID namespace, or, in newer
 * versions, of the namespace of whoever asks; runs have those of host->proc. Three cases:
 *
 * - This process lives in the initial namespace and host->proc shows it: the numbers are the same.
 * - Else the process of the same number is taken when it has an NVIDIA device open; otherwise one
 * that has, and that bears the number in a namespace within that of host->proc (NSpid in
 * /proc/PID/status).
 * - None does: the number stays unattributed. Nothing is guessed.
 *
 * One thread (the sampler).
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
	bool wanted;
};

struct gpu_pids { /* zeroed is empty */
	bool asked_namespace, same_numbers;
	struct mono searched; /* all of /proc, for numbers that stayed unattributed */
	bool ever_searched;
	size_t n, room;
	struct gpu_pid *map;
};

/* Between two searches of all of /proc. */
#define GPU_PID_SEARCH_SECONDS 60

/*
 * Brings the map up to date for these numbers: what is known stays, what is no longer asked for
 * goes. Uses host->scratch.
 */
void gpu_pids_update(struct gpu_pids *m, const struct host *h, const uint32_t *driver_pid,
	size_t n);

/* Is it the first of the three cases? */
bool gpu_pids_are_same(struct gpu_pids *m, const struct host *h);

/* 0 = unattributed. */
pid_t gpu_pid_of(const struct gpu_pids *m, uint32_t driver_pid);

void gpu_pids_done(struct gpu_pids *m);

#endif
