/*
 * Who descends from whom, and what the ended ones used: the book that process events and exit accounting are
 * entered in, for the runs that are followed. Pure; the clock of a living process is asked through a function.
 *
 * A run's CPU time is that of its living processes, each read from its own clock, and of its ended ones, each
 * as the kernel told at its end. Nothing is taken from who waited for whom, so it makes no difference whether
 * somebody did. A record does not hold what the end itself takes, when the memory is taken down: that is estimated by
 * the time from the record to the event of the end, or the usual where it is far longer than that, since then others had
 * the CPU, or the whole machine stood still. Of those who share a control group it can be measured (exit_cost.h).
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

/* Most processes in the book; more are not entered, and the runs they belong to are not whole any more. */
#define LINEAGE_MAX 200000

#define LINEAGE_END_NS      1000000
#define LINEAGE_END_PAGE_NS 1000

struct lineage *lineage_new(void);
void lineage_free(struct lineage *l);

/*
 * Begins a run with its root, which may be of another run: then that is around the new one, and what the inner run has is
 * the outer's as well, also once it is forgotten. base_ns: what processes of it that are gone by now had used, as far as is known;
 * added to the result. Returns the run's number, which stays taken until lineage_forget.
 */
unsigned lineage_begin(struct lineage *l, pid_t root, uint64_t base_ns);
/*
 * A process of the run, found by other means; one that is in the book already stays where it is, but for others (below),
 * and runs around this one. The root of another run tells that this is around that.
 */
void lineage_add(struct lineage *l, unsigned run, pid_t pid);
void lineage_forget(struct lineage *l, unsigned run);

/* Events, in the order in which they happened. */
void lineage_event(struct lineage *l, const struct process_event *event);
/* Records, after the events of the same time. */
void lineage_record(struct lineage *l, const struct task_record *record);
/* Is this process in the book, and its record not? */
bool lineage_awaits(const struct lineage *l, pid_t pid);
/* Some events or records were lost: no run in the book is whole any more. */
void lineage_lost(struct lineage *l);

/* CPU time of a living process or zombie in nanoseconds; false when there is none. */
typedef bool lineage_clock(void *context, pid_t pid, uint64_t *ret);

/*
 * Reads the clocks of all processes in the book. Then enter what happened meanwhile (so that the record of one
 * that was gone is in), then lineage_settle: whoever was gone without a record keeps the last reading.
 */
void lineage_read_clocks(struct lineage *l, lineage_clock *clock, void *context);
void lineage_settle(struct lineage *l);

struct lineage_tally {
	uint64_t cpu_ns;  /* living and ended, as the kernel told: never too much */
	uint64_t ends_ns; /* what the ends of these took beyond that: estimated */
	/* Of the ended ones. */
	uint64_t cpu_wait_ns, io_wait_ns, memory_wait_ns;
	uint64_t peak_process_bytes;
	/*
	 * What the ends of these may have cost beyond what is in cpu_ns and ends_ns: at most LINEAGE_END_NS for each and
	 * LINEAGE_END_PAGE_NS for each 4 KiB that it had (0.1 ms and 0.45 us were measured).
	 */
	uint64_t unseen_ns;
	uint64_t born,
		ended; /* processes that events brought, and that were found gone, since the run began */
	/* For sharing out what all ends of a group cost; and from each record to the event of the end, whoever had the CPU. */
	uint64_t ends_weight_ns, ends_most_ns;
	bool whole; /* nothing is known to be missing since the run began */
	/* What the last thread of the root left, as wait(2) gives it: how it ended, once it is gone. */
	bool status_heard;
	int status;
};

/* Calls each with the processes of a run that were not gone when the clocks were last read. */
void lineage_living(const struct lineage *l, unsigned run, void (*each)(void *context, pid_t pid),
	void *context);

/* As of the last lineage_settle; here and below. */
void lineage_tally(const struct lineage *l, unsigned run, struct lineage_tally *ret);

/* How many processes in the book had their record: worth a lineage_settle when they are many. */
size_t lineage_ended(const struct lineage *l);

/*
 * ---- a control group that runs share ----
 *
 * The others in it are a run of their own, without a root, which yields its processes to whatever run claims them. What
 * all of the group used is the sum of both; so what the kernel counted for the group beyond that is what the ends cost.
 */
unsigned lineage_begin_others(struct lineage *l);
/* The run is in the group of these others. Until either is forgotten: the runs first. */
void lineage_share(struct lineage *l, unsigned run, unsigned others);

/* The processes of a group as the kernel listed them, and when, by the monotonic clock. */
struct lineage_listing {
	struct pids pids; /* borrowed, sorted by whoever compares */
	uint64_t at_ns;
};

enum lineage_change {
	LINEAGE_SAME,
	LINEAGE_OTHERS_CHANGED, /* others came in or left, and are in the book, or not any more */
	LINEAGE_RUN_ELSEWHERE,  /* a process of a run is not in the group */
};

/* After a lineage_settle that came after the listing. */
enum lineage_change lineage_compare(struct lineage *l, unsigned others,
	struct lineage_listing *listing, lineage_clock *clock, void *context);

struct lineage_group {
	uint64_t cpu_ns; /* told of all in it; to be compared with earlier ones: */
	uint64_t breaks; /* as long as this is the same */
	uint64_t ends_weight_ns, ends_most_ns;
};

void lineage_group(const struct lineage *l, unsigned others, struct lineage_group *ret);

#endif
