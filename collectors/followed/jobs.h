/* The runs that are followed: the processes of each run and the resources that they have used so
 * far.
 *
 * A process belongs to the run if it is the root process or a descendant of the root. Descendants
 * are found through the children of every thread. A process stays in the run even if its parent
 * changes later. A process is identified by pid and start time.
 *
 * The CPU time of a run never falls: a smaller reading leaves it unchanged. If a process ends
 * between two readings, its CPU time is found in the `cutime` of the parent that waited for it.
 * collectors/accounting/README.md explains the other cases.
 *
 * Sampler thread only. Reads through host->proc. */
#ifndef COLLECTORS_FOLLOWED_JOBS_H
#define COLLECTORS_FOLLOWED_JOBS_H

#include "collectors/accounting/accounts.h"
#include "collectors/base/err.h"
#include "collectors/collector.h"
#include "collectors/followed/run_values.h"
#include "collectors/runs.h"

struct jobs;

/* Maximum number of runs followed at the same time. host->members limits the processes of all runs
 * together. */
#define JOBS_RUNS_MAX 1000
/* Maximum number of job names at /metrics. A new job replaces the least recently used job that has
 * no runs. */
#define JOBS_MAX 1000

struct run_spec {
	const char *run_id, *job_name;
	pid_t pid;            /* root process, in the PID namespace of host->proc */
	uint64_t start_ticks; /* start of the root; 0 = accept any process with that pid */
	/* The wrapper that starts and waits for the run's processes: its children belong to the
	 * run, but it does not. 0 = there is no such process. */
	pid_t reaper_pid;
	struct wall started_at;
	struct mono started_mono; /* 0 = use the start time of the root, a multiple of 10 ms */
	bool from_now;            /* the usage of the root before now does not count */
	/* true: the caller ends the run with jobs_conclude, which gets the totals of the run.
	 * false: the run ends when its last process is gone, and the exit status of the root is
	 * watched. */
	bool awaits_conclusion;
	/* The run ends when it has had no process for this many seconds. If a new process appears
	 * earlier, the run continues. */
	double grace_seconds;
	/* Clock that measures the CPU time of the run; NULL = no clock. Borrowed until the run
	 * ends. */
	const struct task_clock *clock;
	double forked_seconds; /* see struct account_spec */
	bool own_group;        /* see struct account_spec */
	/* True if `pid` and `reaper_pid` are numbers of our own PID namespace (see process_number).
	 * jobs_follow fails if --path.procfs does not show the process `pid`. The exception is a
	 * run with awaits_conclusion: only its CPU time is then known, from its account and from
	 * jobs_conclude. */
	bool own_numbers;
	/* The throttling counters of the CPU quota, read before the command started; NULL = not
	 * read. jobs_follow keeps no pointer to them. */
	const struct cpu_quota *quota;
};

/* Makes an empty set of runs. If `host` is not NULL, sets host->delays, host->members and
 * host->helpers, which are valid until jobs_free. */
struct jobs *jobs_new(struct host *host);
void jobs_free(struct jobs *j);

/* Begins to follow a run. Returns 0 or a negative errno:
 * -ESRCH: there is no such process.
 * -EEXIST: the run id is already followed.
 * -ENOSPC: too many runs are followed. Ended runs do not count, because they are removed first.
 * -EDQUOT: too many processes are followed, or the root is already in MEMBER_LIMIT_NESTED_MAX runs.
 * -ENXIO: `own_numbers` is true, and host->proc does not show the process. */
int jobs_follow(struct jobs *j, const struct host *host, const struct run_spec *spec,
	struct err *e);

/* Adds a process to a run, with its descendants. Needed for a process that is not a descendant of
 * the root. Does nothing when the run is not followed. */
void jobs_adopt(struct jobs *j, const struct host *host, const char *run_id, pid_t pid);

/* Declares a process as a helper (process/helpers.h), in all runs that are followed now or later.
 * -ESRCH: there is no such process. -ENOSPC: too many processes are declared. */
int jobs_declare_helper(struct jobs *j, const struct host *host, pid_t pid, struct err *e);

/* Ends a run. The next reading of the run is the last one. It uses the figures in `final`. enum
 * final_kind explains which values they replace. Does nothing when the run is not followed. */
void jobs_conclude(struct jobs *j, const char *run_id, const double final[RUN_N_METRICS],
	enum final_kind kind);

/* Reads facts about a run, such as its CPU source and exit status, but not its values. Returns
 * false when the run is not followed. */
bool jobs_note(const struct jobs *j, const struct host *host, const char *run_id,
	struct account_note *ret);

/* Returns a descriptor that is readable when the root of a run has ended. The root is the first
 * process of the run. Runs with awaits_conclusion are left out, because jobs_conclude ends them.
 * Returns -1 if the kernel refused the descriptor. */
int jobs_ending_fd(const struct jobs *j);

/* Sets the number of runs of a job that have ended with this outcome so far. The caller knows it
 * from the history. */
void jobs_set_outcome(struct jobs *j, const char *job_name, const char *outcome, uint64_t runs);

/* Sets the exit code and the signal of the newest run of a job with this outcome; NaN = unknown.
 * Call jobs_set_outcome for the same outcome first. */
void jobs_set_exit(struct jobs *j, const char *job_name, const char *outcome, double exit_code,
	double exit_signal);

/* Sets the time at which a run of the job last ended, in seconds since 1970. The caller knows it
 * from the history. Ignores NaN, and a time before the stored time. */
void jobs_set_last_end(struct jobs *j, const char *job_name, double at);

/* Samples all runs and fills s->runs. Call it once per tick, before the jobs collector collects. */
void jobs_read(struct jobs *j, const struct host *host, struct snapshot *s);

/* Fills s->runs with the results of the last jobs_read, without sampling again. */
void jobs_tell(const struct jobs *j, struct snapshot *s);

/* Removes ended runs after their last reading was delivered, in a snapshot of generation `seen` or
 * earlier. Also removes ended runs whose last reading is older than `seconds`. The counters of a
 * removed run stay in the totals of its job. */
void jobs_drop_ended(struct jobs *j, const struct host *host, uint64_t seen, double seconds);

extern const struct collector collector_jobs;

#endif
