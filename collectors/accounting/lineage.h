/* A table of processes. It records which processes descend from the root of a run, and how much
 * ended processes used. The caller enters process events and exit records. No function here reads a
 * file. A callback reads the clocks of living processes.
 *
 * The CPU time of a run is the sum of two parts: the clocks of its living processes, and the
 * kernel's records of its ended processes. The sum is complete even if no parent waited for its
 * children.
 *
 * A record lacks the CPU time of the process's end, in which the kernel frees the memory of the
 * process. The CPU time of the end is estimated as the delay between the record and the exit event.
 * If the delay is far longer than usual, another task had the CPU or the machine stood still. The
 * usual delay is then used instead. For runs in a shared control group, exit_cost.h can measure the
 * CPU time of the ends. */
#ifndef COLLECTORS_ACCOUNTING_LINEAGE_H
#define COLLECTORS_ACCOUNTING_LINEAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/accounting/proc_connector.h"
#include "collectors/process/pids.h"
#include "collectors/process/taskstats.h"

struct lineage;

/* Maximum number of processes in the table. If a process of a run does not fit, the tally of the
 * run is not `whole`. */
#define LINEAGE_MAX 200000

#define LINEAGE_END_NS      1000000
#define LINEAGE_END_PAGE_NS 1000

struct lineage *lineage_new(void);
void lineage_free(struct lineage *l);

/* Call this function before the first run if no exit records will arrive. It is then unknown how
 * much CPU time a process uses after the last reading of its clock. `unseen_ns` of the tally
 * includes an upper bound: the time from this reading to the end of the process, times `cpus` if
 * the process may have had several threads. */
void lineage_without_records(struct lineage *l, unsigned cpus);

/* Begins a run and returns its number, which is valid until lineage_forget. If `root` belongs to
 * another run, the new run is inside that outer run. The outer run's tally includes the inner run,
 * even after lineage_forget of the inner run. `base_ns` is the CPU time of processes of the run
 * that ended before this call. The run's tally includes `base_ns`. */
unsigned lineage_begin(struct lineage *l, pid_t root, uint64_t base_ns);
/* Adds to `run` a process that was found in another way than through events, for example in a
 * control group.
 * - A process of another run moves to `run` only if `run` is inside that other run.
 * - A foreign process of a control group (lineage_begin_others) moves to `run`.
 * - If `pid` is the root of another run, that other run is put inside `run`. */
void lineage_add(struct lineage *l, unsigned run, pid_t pid);
void lineage_forget(struct lineage *l, unsigned run);
/* Notes that a process has one thread. Call it for a process that lineage_begin or lineage_add
 * added. Otherwise the process counts as having several threads. Thread events that were entered
 * before the process was added are ignored. */
void lineage_has_one_thread(struct lineage *l, pid_t pid);

/* Enters an event into the table. Enter events in the order in which they happened. */
void lineage_event(struct lineage *l, const struct process_event *event);
/* Enters an exit record. Before this call, enter all events that happened before the process
 * ended. */
void lineage_record(struct lineage *l, const struct task_record *record);
/* Returns true if the process is in the table and has no exit record yet. */
bool lineage_awaits(const struct lineage *l, pid_t pid);
/* Marks the tally of every run as not `whole`. Call this function when events or records were
 * lost. */
void lineage_lost(struct lineage *l);

/* Reads the CPU time of a living process or zombie in ns. Returns false if the process is gone. */
typedef bool lineage_clock(void *context, pid_t pid, uint64_t *ret);

/* Both functions find the processes that ended without an exit record. First, lineage_read_clocks
 * reads the clocks of all processes. Then the caller enters new events and records. Last,
 * lineage_settle closes each process that is gone and still has no record, with the last reading of
 * its clock. `now_ns` is the time on CLOCK_MONOTONIC before the call. */
void lineage_read_clocks(struct lineage *l, uint64_t now_ns, lineage_clock *clock, void *context);
void lineage_settle(struct lineage *l, uint64_t now_ns);

struct lineage_tally {
	uint64_t cpu_ns;  /* CPU time of living and ended processes; a lower bound */
	uint64_t ends_ns; /* estimated CPU time of process ends, not in cpu_ns */
	/* Sums and peak of ended processes only. */
	uint64_t cpu_wait_ns, io_wait_ns, memory_wait_ns;
	uint64_t peak_process_bytes;
	uint64_t voluntary, involuntary; /* context switches of ended threads */
	/* Upper bound of the CPU time that cpu_ns and ends_ns do not contain.
	 * - With records: the cost of process ends. One end is assumed to cost at most
	 *   LINEAGE_END_NS, plus LINEAGE_END_PAGE_NS for each 4 KiB of the process's memory. (An
	 *   ordinary end costs 60 us plus 0.45 us for each 4 KiB.)
	 * - Without records: also the CPU time that processes may have used between the last
	 *   reading of their clocks and their end. */
	uint64_t unseen_ns;
	/* Numbers of processes since the run began. `born`: processes seen in a fork event.
	 * `ended`: processes found gone. */
	uint64_t born, ended;
	/* For exit_cost.c. `ends_weight_ns`: estimated CPU time of the process ends. An end counts
	 * with the usual time if it was not timed. `ends_most_ns`: upper bound of the CPU time of
	 * the process ends, which is the elapsed time from each exit record until the process is
	 * gone. */
	uint64_t ends_weight_ns, ends_most_ns;
	bool whole; /* true = as far as is known, no event or record was lost */
	/* Exit status of the ended root, in the format of wait(2). */
	bool status_heard;
	int status;
};

/* Calls `each` for every process of the run that was alive at the last lineage_read_clocks. */
void lineage_living(const struct lineage *l, unsigned run, void (*each)(void *context, pid_t pid),
	void *context);

/* Returns the tally of a run at the time of the last lineage_settle. lineage_group also returns
 * values of that time. */
void lineage_tally(const struct lineage *l, unsigned run, struct lineage_tally *ret);

/* Returns the number of processes in the table. */
size_t lineage_size(const struct lineage *l);

/* Returns the number of processes in the table that have an exit record. If the number is high,
 * call lineage_settle, which removes the processes that are gone. */
size_t lineage_ended(const struct lineage *l);

/* ---- control groups that runs share ----
 *
 * Makes a set for the foreign processes of a control group: those that belong to no run. Returns
 * the number of the set, which other functions call `others`.
 *
 * The set is like a run without a root. lineage_add moves a process from the set to a run. Purpose:
 * the set and the runs of the group together contain all its processes. The group's usage minus the
 * CPU time of all these processes is the cost of process ends. */
unsigned lineage_begin_others(struct lineage *l);
/* Notes that the run is in the control group with the set `others`. The run stays there until
 * lineage_forget. Forget all runs of a group before its set. */
void lineage_share(struct lineage *l, unsigned run, unsigned others);

/* The processes of a group as the kernel listed them at time `at_ns` (CLOCK_MONOTONIC). */
struct lineage_listing {
	struct pids pids; /* borrowed; lineage_compare sorts it */
	uint64_t at_ns;
};

enum lineage_change {
	LINEAGE_SAME,
	LINEAGE_OTHERS_CHANGED, /* foreign processes entered or left the group */
	LINEAGE_RUN_ELSEWHERE,  /* a process of a run is outside the group */
};

/* Finds out whether the processes in the table are those that the kernel listed in a control group.
 * Make the listing first, then call lineage_settle, and then call this function. */
enum lineage_change lineage_compare(struct lineage *l, unsigned others,
	struct lineage_listing *listing, lineage_clock *clock, void *context);

struct lineage_group {
	/* CPU time of the group. Compare it only with a value that has the same `breaks`. `breaks`
	 * grows whenever later values cannot be compared with earlier ones, for example after a
	 * process entered the group or a record was lost. */
	uint64_t cpu_ns;
	uint64_t breaks;
	uint64_t ends_weight_ns, ends_most_ns;
};

void lineage_group(const struct lineage *l, unsigned others, struct lineage_group *ret);

#endif
