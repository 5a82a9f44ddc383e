/* Checks for numbers that a run cannot have, such as more CPU time than its CPUs had, or more
 * memory than its machine has. The history checks its own runs before it stores their numbers. POST
 * /runs checks the runs that clients send.
 *
 * If the machine is unknown, the bounds are those of the largest possible machine. Wider bounds
 * would let through wrong numbers, and a single wrong number can decide the next request. */
#ifndef RECOMMENDER_PLAUSIBLE_H
#define RECOMMENDER_PLAUSIBLE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "recommender/run.h"

/* Linux supports at most 8192 CPUs (NR_CPUS). This bound is twice as large. */
#define RUN_CPUS_MAX 16384.0
/* 128 TiB. The largest machines on sale have 64 TiB. The requests of sizing have the same bound
 * (ALLOCATION_MAX). */
#define RUN_MEMORY_MAX 0x1p47
/* No operating system has this many GPUs, even if each slice of a GPU counts as a GPU. */
#define RUN_GPUS_MAX 1024.0
/* Linux has at most this many processes and threads (PID_MAX_LIMIT). */
#define RUN_PROCESSES_MAX 4194304.0
/* Maximum number of bytes that a run can move or store: 1 EiB, which is 36 GB a second for a
 * year. */
#define RUN_TOTAL_MAX 0x1p60

/* Largest disk space of a run: 16 PiB. The largest file systems for rent have a few PiB. */
#define RUN_DISK_MAX 0x1p54
/* Longest duration of a run: a century. */
#define RUN_SECONDS_MAX 3155760000.0

/* The shortest interval between samples that --sample.interval accepts, seconds. */
#define RUN_INTERVAL_LEAST 0.1

/* Tolerance when a number is compared with a duration: a share of the duration, plus seconds. A
 * correct CPU time can look too large for the duration of its run, for three reasons:
 * - chrony can make the clock slower than CPU time by up to 8.3 % (maxslewrate).
 * - Processes of the run may use CPU time between its end and the last reading.
 * - If a process was already running when it was found, its start is known only to 10 ms.
 *
 * Setting the wall clock changes no duration: durations are differences of CLOCK_BOOTTIME. */
#define RUN_SLACK_SHARE   0.1
#define RUN_SLACK_SECONDS 1.0

/* Returns 0 when every number of the run is possible. Otherwise returns -ERANGE, and `e` names the
 * first impossible number and its bound. `vram_bytes` is the memory of all GPUs of the machine; NaN
 * = unknown.
 *
 * The duration of an interrupted run is the time of its samples. The run may have used more CPU
 * time while no exporter watched it, so its CPU time is checked against RUN_SECONDS_MAX, not
 * against the duration. */
int run_plausible(const struct run *r, double vram_bytes, struct err *e);

/* If a number of the column cpu_cores is impossible, sets all numbers of the column to the mean
 * over the run: cpu_seconds / duration. If that mean is unknown or impossible, the column is
 * removed.
 *
 * cpu_cores can be impossible although cpu_seconds is right. In a run of milliseconds, two readings
 * may lie closer together than the kernel's steps of CPU time, so that their rate has no
 * meaning. */
void run_mend_cores(struct run *r);

/* Checks the order of the statistics, which a client may have computed wrongly. In each column, min
 * <= mean <= max, min <= p50 <= p95 <= p99 <= max, n is at least 1, and no number is infinite. An
 * unknown number (NaN) is never an error. One exception: the mean of a rate may be above `max`.
 * The mean is the growth of a counter / time, and the last reading of a run adds to the growth, but
 * not to the time. Returns 0 or -ERANGE,
 * as run_plausible does. */
int run_plausible_order(const struct run *r, struct err *e);

/* Returns true when ended_at - started_at equals the duration, within the slack above. Also returns
 * true when one of these numbers is unknown. For an interrupted run, ended_at - started_at may be
 * longer than the duration, because the run was not watched until its end. */
bool run_times_agree(const struct run *r);

/* Returns true when the CPU time of the run is too uncertain for sizing. Two bounds measure the
 * uncertainty; an unknown bound counts as 0:
 * - cpu_missed_seconds: CPU time that may be missing.
 * - cpu_foreign_seconds: CPU time that processes outside the run may have used.
 *
 * The larger bound must be above both constants:
 * - UNCERTAIN_CPU_SHARE of cpu_seconds. Most jobs request whole cores. If a job keeps up to two
 *   cores busy, a fifth more or less changes its request by at most one core.
 * - UNCERTAIN_CPU_SECONDS. The start and the end of any run can cause a smaller bound. The bounds of
 *   an exact source are below it: at most 0.04 s for a run of 0.3 s beside busy neighbours
 *   (tests/visibility). */
#define UNCERTAIN_CPU_SHARE   0.2
#define UNCERTAIN_CPU_SECONDS 0.1
bool run_cpu_uncertain(const struct run *r);

/* Appends sentences on the CPU time of these runs: how much of it may belong to other processes,
 * how much more may be missing, and how many runs are too uncertain for sizing. Returns false and
 * appends nothing when no run is too uncertain and both amounts are small. An amount is small if it
 * is at most UNCERTAIN_CPU_SECONDS, or at most 5 % of the CPU time of all these runs. */
#define CPU_DOUBT_MAX 300
bool run_cpu_doubt(struct buf *ret, const struct run *const *runs, size_t n);

#endif
