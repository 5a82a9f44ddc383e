/*
 * The book: which processes descend from a run's root, and what ended processes used. Process
 * events and exit accounting are entered here. Pure: a callback reads the clocks of living
 * processes.
 * A run's CPU time is the sum of two parts: the clocks of its living processes, and the kernel's
 * records of its ended processes. The sum does not depend on whether a parent waited for its
 * children.
 * A record leaves out the CPU time of the end itself, when the kernel frees the memory. That time
 * is estimated from the delay between the record and the exit event. If the delay is far longer
 * than usual, another task had the CPU or the machine stood still: the usual time is taken instead.
 * For runs in a shared control group it can be measured (exit_cost.h).
 */
#ifndef COLLECTORS_ACCOUNTING_LINEAGE_H
#define COLLECTORS_ACCOUNTING_LINEAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/accounting/proc_connector.h"
#include "collectors/process/pids.h"
#include "collectors/process/taskstats.h"

struct lineage;

/* Limit of processes in the book. A run with a process beyond it is no longer whole. */
#define LINEAGE_MAX 200000

#define LINEAGE_END_NS      1000000
#define LINEAGE_END_PAGE_NS 1000

struct lineage *lineage_new(void);
void lineage_free(struct lineage *l);

/*
 * Begins a run. root may belong to another run: the new run is then inside that one. The outer
 * run's tally includes the inner run, also after lineage_forget of the inner run.
 * base_ns: CPU time of the run's processes that ended before; added to the tally.
 * Returns the run's number, valid until lineage_forget.
 */
unsigned lineage_begin(struct lineage *l, pid_t root, uint64_t base_ns);
/*
 * Adds a process of the run that was found by other means. A process in the book moves only from an
 * outer run or from the others of a group (see below). If pid is the root of another run, run
 * becomes the outer run of that one.
 */
void lineage_add(struct lineage *l, unsigned run, pid_t pid);
void lineage_forget(struct lineage *l, unsigned run);

/* Events must come in the order in which they happened. */
void lineage_event(struct lineage *l, const struct process_event *event);
/* Records must come after the events of the same time. */
void lineage_record(struct lineage *l, const struct task_record *record);
/* True if the process is in the book without its record. */
bool lineage_awaits(const struct lineage *l, pid_t pid);
/* Events or records were lost: no run in the book is whole any more. */
void lineage_lost(struct lineage *l);

/* CPU time of a living process or zombie in nanoseconds; false if there is none. */
typedef bool lineage_clock(void *context, pid_t pid, uint64_t *ret);

/*
 * Reads the clocks of all processes in the book. Next, enter new events and records, then call
 * lineage_settle. A process that is gone without a record keeps its last clock reading.
 */
void lineage_read_clocks(struct lineage *l, lineage_clock *clock, void *context);
void lineage_settle(struct lineage *l);

struct lineage_tally {
	uint64_t cpu_ns;  /* living and ended processes, as the kernel counted: a lower bound */
	uint64_t ends_ns; /* estimated CPU time of their ends beyond cpu_ns */
	/* Ended processes only. */
	uint64_t cpu_wait_ns, io_wait_ns, memory_wait_ns;
	uint64_t peak_process_bytes;
	/*
	 * Upper bound of the cost of ends that is missing from cpu_ns and ends_ns: LINEAGE_END_NS
	 * for each process and LINEAGE_END_PAGE_NS for each 4 KiB of its memory (measured: 0.1 ms
	 * and 0.45 us).
	 */
	uint64_t unseen_ns;
	/* Processes since the run began: born by a fork event, and found gone. */
	uint64_t born, ended;
	/* For exit_cost.c: weight of the ends, and the time from each record to the exit event. */
	uint64_t ends_weight_ns, ends_most_ns;
	bool whole; /* no event or record is known to be missing */
	/* Exit status of the root as wait(2) returns it, once it has ended. */
	bool status_heard;
	int status;
};

/* Calls each for every process of a run that was alive at the last lineage_read_clocks. */
void lineage_living(const struct lineage *l, unsigned run, void (*each)(void *context, pid_t pid),
	void *context);

/* This and the functions below return the state as of the last lineage_settle. */
void lineage_tally(const struct lineage *l, unsigned run, struct lineage_tally *ret);

/* Processes in the book with a record. If they are many, call lineage_settle. */
size_t lineage_ended(const struct lineage *l);

/*
 * ---- a control group that runs share ----
 *
 * The other processes of the group are kept as a run of their own without a root. A process moves
 * from them to the run that claims it. Runs and others together are the whole group: the group's
 * usage beyond their CPU time is the cost of ends.
 */
unsigned lineage_begin_others(struct lineage *l);
/* Puts the run into the group of these others, until either is forgotten. Forget the runs first. */
void lineage_share(struct lineage *l, unsigned run, unsigned others);

/* Processes of a group as the kernel listed them; at_ns: CLOCK_MONOTONIC. */
struct lineage_listing {
	struct pids pids; /* borrowed; lineage_compare sorts it */
	uint64_t at_ns;
};

enum lineage_change {
	LINEAGE_SAME,
	LINEAGE_OTHERS_CHANGED, /* others entered or left the group; the book is updated */
	LINEAGE_RUN_ELSEWHERE,  /* a process of a run is outside the group */
};

/* Compares the book with a listing. Call after a lineage_settle that came after the listing. */
enum lineage_change lineage_compare(struct lineage *l, unsigned others,
	struct lineage_listing *listing, lineage_clock *clock, void *context);

struct lineage_group {
	uint64_t cpu_ns; /* of all processes in it; compare only readings with equal breaks */
	uint64_t breaks;
	uint64_t ends_weight_ns, ends_most_ns;
};

void lineage_group(const struct lineage *l, unsigned others, struct lineage_group *ret);

#endif
