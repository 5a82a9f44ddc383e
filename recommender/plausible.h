/* Numbers that a run cannot have: more CPU time than its CPUs had, more memory than its machine.
 * The history checks its own runs with this before it keeps their numbers, and POST /runs checks
 * the runs of others.
 *
 * Where the machine is unknown, the bounds are those that no machine passes. A larger bound would
 * let a single wrong number decide the next request. */
#ifndef RECOMMENDER_PLAUSIBLE_H
#define RECOMMENDER_PLAUSIBLE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "recommender/run.h"

/* Linux is built for at most 8192 CPUs (NR_CPUS). */
#define RUN_CPUS_MAX 16384.0
/* 128 TiB. The largest machines that are sold have 64 TiB. It is also the largest request that
 * sizing makes (ALLOCATION_MAX). */
#define RUN_MEMORY_MAX 0x1p47
/* An operating system sees fewer GPUs than this, slices of GPUs included. */
#define RUN_GPUS_MAX 1024.0
/* Linux has at most this many processes and threads (PID_MAX_LIMIT). */
#define RUN_PROCESSES_MAX 4194304.0
/* Total of bytes that a run moved or stored: 1 EiB, which is 36 GB a second for a year. */
#define RUN_TOTAL_MAX 0x1p60
/* Requests are wishes to a scheduler, possibly for many machines, so no machine bounds them. These
 * are the bounds of --request-cpu and --request-memory too. */
#define RUN_REQUEST_CPUS_MAX  1e6
#define RUN_REQUEST_BYTES_MAX 1e18

/* Durations are differences of CLOCK_BOOTTIME, so setting the wall clock changes none. Two
 * differences remain between a duration and the CPU time in it:
 * - chrony lets the clock run slower than CPU time by up to 8.3 % (maxslewrate).
 * - Processes of the run may use CPU time between its end and the last reading, and the start of a
 *   found process is known to 10 ms. */
#define RUN_SLACK_SHARE   0.1
#define RUN_SLACK_SECONDS 1.0

/* Returns 0 when every number of the run is possible. Returns -ERANGE otherwise; `e` then names the
 * first impossible number and its bound. `vram_bytes`: memory of all GPUs of the machine; NaN =
 * unknown.
 *
 * The duration of an interrupted run is that of its samples, which may lack a time when no exporter
 * watched. It therefore bounds no CPU time. */
int run_plausible(const struct run *r, double vram_bytes, struct err *e);

/* Replaces impossible cpu_cores by the rate over the whole run, or removes the column when that is
 * unknown. Two readings of a run of milliseconds may lie closer together than the kernel's steps of
 * CPU time, and their rate then says nothing, although cpu_seconds is right. */
void run_mend_cores(struct run *r);

/* Checks numbers that a reader must not take for granted: min <= mean <= max, p50 <= p95 <= p99, and
 * that all are finite. Returns 0 or -ERANGE, as run_plausible. A mean of rates may be above `max`,
 * because the last reading of a run adds to the growth but not to the time. */
int run_plausible_order(const struct run *r, struct err *e);

/* Returns true when the time from start to end is the duration, apart from the slack. An
 * interrupted run may have lasted longer than its duration. */
bool run_times_agree(const struct run *r);

/* Returns true when the CPU time of the run is too uncertain for sizing: the bound of the time that
 * is missing (cpu_missed_seconds), or that may be others' (cpu_foreign_seconds), is above both
 * UNCERTAIN_CPU_SHARE of cpu_seconds and UNCERTAIN_CPU_SECONDS. An unknown bound counts as 0.
 *
 * Cores are requested in whole numbers for most jobs. A fifth more or less changes the request of a
 * job with up to two busy cores by at most one core. A bound below a second comes from the edges of
 * a run and says little. */
#define UNCERTAIN_CPU_SHARE   0.2
#define UNCERTAIN_CPU_SECONDS 1.0
bool run_cpu_uncertain(const struct run *r);

/* Appends a sentence on the CPU time of these runs: how much may be missing or others', and how many
 * runs are too uncertain for sizing. Returns false and appends nothing when both shares are at most
 * 5 %, a tenth of a core for each two cores, or the bounds together are at most a second. */
#define CPU_DOUBT_MAX 300
bool run_cpu_doubt(struct buf *ret, const struct run *const *runs, size_t n);

#endif
