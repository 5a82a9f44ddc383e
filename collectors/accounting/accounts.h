/* Finds the CPU time of a run from the best source available, and an upper bound of the CPU time
 * that this source lacks. Also reads the kernel's numbers for the run's own control group.
 *
 * Each source may miss CPU time, but usually none counts too much. Therefore the largest value is
 * reported. `cpu_foreign_seconds` is the most by which this value may be too high. `cpu_source`
 * names the first source of this list that explains nearly all of the reported value:
 *
 * 	cgroup      the kernel's account of the run's own group, minus earlier use by others
 * 	taskstats   exit accounting on a privileged host, plus the cost of ends (exit_cost.h)
 * 	task-clock  perf counters that child processes inherit; they lack process ends
 * 	rusage      getrusage(2) of the process that waits for the run's processes
 * 	proc        readings of /proc, including the CPU time of children that a parent waited for
 *
 * Sampler thread only. */
#ifndef COLLECTORS_ACCOUNTING_ACCOUNTS_H
#define COLLECTORS_ACCOUNTING_ACCOUNTS_H

#include "collectors/base/err.h"
#include "collectors/cgroup/find.h"
#include "collectors/process/tree.h"
#include "collectors/cgroup/cpu_quota.h"
#include "collectors/runs.h"
#include "collectors/accounting/task_clock.h"

/* State that the accounts of all runs share. */
struct accounts;

struct accounts *accounts_new(void);
void accounts_free(struct accounts *a); /* close every account first */
/* Reads the machine's CPU counters. Call once per tick before the runs are sampled. If a sample
 * finds a run without processes, call this function again, and then sample the run again. The
 * counters then include the run's last process. */
void accounts_tick(struct accounts *a, const struct host *h);
/* Returns the number of processes and threads that were created until the last tick; 0 = unknown.
 * The count begins at boot. Outside the initial PID namespace, it begins at the first tick. */
uint64_t accounts_births(const struct accounts *a);

struct account;

struct account_spec {
	pid_t root;
	/* The task clock of the run; NULL = no clock. The clock must stay open during account_open.
	 * If account_note reports `uses_clock`, the clock must stay open until account_close. */
	const struct task_clock *clock;
	double forked_seconds;         /* CPU time of the root before exec; not part of the run */
	const struct cpu_quota *quota; /* throttling before the run; NULL = not read */
	/* True if the run begins in the middle of the root's life. For such a run, the numbers of
	 * the control group and the exit records are not used, because they cover the root's whole
	 * life. */
	bool from_now;
	bool ours;      /* this exporter is the wrapper that waits for the run's processes */
	bool own_group; /* the wrapper made a group, and the root is the first process in it */
};

/* Opens the account of a run that just began. `tree` has the run's processes, and account_open may
 * sample it. Never fails. A source that is not available is left out. */
struct account *account_open(struct accounts *a, const struct host *h,
	const struct account_spec *spec, struct process_tree *tree);
void account_close(struct account *a); /* NULL does nothing */
/* Closes the files of an ended run, but keeps the account. account_note still works afterwards. */
void account_let_go(struct account *a);

/* Adds processes of the run to `tree` that are not found as children of its members: processes in
 * the run's own control group, and orphans known from process events. Call before each sample of
 * the tree. */
void account_find_members(struct account *a, const struct host *h, struct process_tree *tree);

/* Updates the account. Call after each sample of the tree. Raises the CPU times in `value` to the
 * values of the best source. Fills in the numbers of the control group. CPU times never fall. */
void account_look(struct account *a, const struct host *h, const struct process_tree *tree,
	double value[RUN_N_METRICS]);

/* Raises the memory peak in `value` if a process was killed at the group's memory limit. The kill
 * proves a lower bound of the run's memory (memory_kills.h). Call this function after the last
 * sample. */
void account_end(struct account *a, const struct host *h, const struct process_tree *tree,
	double value[RUN_N_METRICS]);

/* Raises two values to those that the parent got from wait4(2), if these are larger: the run's
 * total CPU time (`total_seconds`), and the memory peak of its largest process
 * (`peak_process_bytes`; NaN = unknown). */
void account_waited(struct account *a, double total_seconds, double peak_process_bytes);

struct account_note {
	const char *cpu_source; /* see the list at the top of this file */
	/* Upper bound of the CPU time that cpu_seconds lacks; NaN = unknown. In a wrapper, the
	 * bound may be too low, because the kernel drops the CPU time of a child in two cases: its
	 * parent set SA_NOCLDWAIT (sigaction(2)), or its parent ignored SIGCHLD only between two
	 * samples. */
	double cpu_missed_seconds;
	/* Upper bound of the part of cpu_seconds that processes outside the run used. NaN =
	 * unknown; 0 = certainly none. */
	double cpu_foreign_seconds;
	/* `machine_cpus`: the most CPUs that the machine had during the run.
	 * `machine_memory_bytes`: the memory of the machine when the run began. NaN = unknown. */
	double machine_cpus, machine_memory_bytes;
	/* Memory of all GPUs of the machine, filled in by jobs_note; NaN = unknown. */
	double machine_vram_bytes;
	const char *disk_source; /* see collectors/followed/run_disk.h; filled in by jobs_note */
	/* filled in by jobs_note: host->proc does not show the run, so only its CPU time is
	 * known */
	bool not_shown;
	double cpu_seconds;
	/* Source of the memory peak, filled in by jobs_note; NULL = no peak.
	 * - "vmhwm": the kernel's peak of one process, plus memory of the run's other processes:
	 *   the part that they had both before and after this peak.
	 * - "samples": the sum of all processes at one sample.
	 * - "taskstats", "rusage": the kernel's peak of a process that ended before it was sampled.
	 * - "limit": the memory limit at which a process of the run was killed, minus the memory of
	 *   foreign processes in the group. */
	const char *memory_source;
	/* largest memory peak of one process that the exit records reported so far, bytes; NaN =
	 * the run gets no exit records */
	double peak_told_at_ends;
	double peak_told_by_limit; /* peak found by account_end, bytes; NaN = no kill */
	/* Processes that the OOM killer killed since the run began. `oom_kills`: in the run's own
	 * group. `shared_oom_kills`: in the nearest group that counts kills or, if there is no such
	 * group, on the whole machine. NaN = unknown. */
	double oom_kills, shared_oom_kills;
	/* The lowest limit of the run's group and the groups above it; NaN = no limit. */
	double memory_limit_bytes, cpu_limit_cores;
	/* the clock of struct account_spec must stay open until account_close: it counts children
	 * for which no parent waits */
	bool uses_clock;
	/* See collectors/followed/run_place.h; filled in by jobs_note. NULL = unknown. */
	const char *network_source, *architecture, *cpu_level;
	/* See struct gpu_kind; filled in by jobs_note. "" = unknown, none or several. */
	char gpu_manufacturer[GPU_MANUFACTURER_MAX], gpu_model[GPU_NAME_MAX];
	/* See collectors/followed/run_addresses.h; filled in by jobs_note. NaN = no limit, or
	 * unknown. */
	double address_limit_bytes, address_peak_bytes;
	/* Exit status of the root in the format of wait(2), if an exit event delivered it. */
	bool status_known;
	int status;
};

void account_note(const struct account *a, const struct host *h, struct account_note *ret);

#endif
