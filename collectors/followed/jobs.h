/*
 * The runs being followed: the processes of each, and the resources used so far.
 *
 * Membership is permanent. A process found below the root (by parent links of any thread) stays in
 * the run, by pid and start time, whatever its parent becomes. CPU time never falls: the growth of
 * each process counts once. The cutime of parents gives the time of processes that ended between
 * two readings.
 *
 * Sampler thread only. Reads through host->proc.
 */
#ifndef COLLECTORS_FOLLOWED_JOBS_H
#define COLLECTORS_FOLLOWED_JOBS_H

#include "collectors/accounting/accounts.h"
#include "collectors/base/err.h"
#include "collectors/collector.h"
#include "collectors/followed/run_values.h"
#include "collectors/runs.h"

struct jobs;

/* Most runs followed at the same time. host->members limits the processes of all runs together. */
#define JOBS_RUNS_MAX 1000
/* Most job names at /metrics; a new one replaces the least recently used job without runs. */
#define JOBS_MAX 1000

struct run_spec {
	const char *run_id, *job_name;
	pid_t pid;            /* of the root, in the namespace of host->proc */
	uint64_t start_ticks; /* of the root; 0 = accept the process that has that pid now */
	pid_t reaper_pid;     /* its other children belong to the run, it does not; 0 = none */
	struct wall started_at;
	struct mono started_mono; /* 0 = use the start time of the root, a multiple of 10 ms */
	bool from_now;            /* what the root did before now is not part of the run */
	/*
	 * The caller reports end and totals (jobs_conclude). If false, the run ends when its last
	 * process is gone, and the wait status of its root is watched for.
	 */
	bool awaits_conclusion;
	/* The run ends after so long without processes; a new one continues it. */
	double grace_seconds;
	/* Measures CPU time of the run; borrowed until it ends; NULL = none. */
	const struct task_clock *clock;
	double forked_seconds; /* CPU time of the root before it executed the command; not counted */
	bool own_group; /* as in struct account_spec */
	/* pid and reaper_pid are numbers of our own PID namespace: see process_number. */
	bool own_numbers;
	/* The CPU quota before the command; NULL = not read. Borrowed for the call. */
	const struct cpu_quota *quota;
};

/* Sets host->delays and host->members until jobs_free; host may be NULL. */
struct jobs *jobs_new(struct host *host);
void jobs_free(struct jobs *j);

/*
 * -ESRCH: no such process. -EEXIST: the run id is already followed. -ENOSPC: too many runs; ended
 * ones do not count, because they make room. -EDQUOT: too many processes.
 */
int jobs_follow(struct jobs *j, const struct host *host, const struct run_spec *spec,
	struct err *e);

/* Adds a process without a parent link, and its descendants, if the run is followed. */
void jobs_adopt(struct jobs *j, const struct host *host, const char *run_id, pid_t pid);

/* Ends a run, if it is followed: its next reading is the last and uses these figures. */
void jobs_conclude(struct jobs *j, const char *run_id, const double final[RUN_N_METRICS],
	enum final_kind kind);

/* Facts about a run beside its values. False: the run is not followed (any more). */
bool jobs_note(const struct jobs *j, const struct host *host, const char *run_id,
	struct account_note *ret);

/* Readable when the root of a run that awaits no conclusion has ended. -1: never. */
int jobs_ending_fd(const struct jobs *j);

/* Sets how many runs of a job have ever ended with this outcome, from the history. */
void jobs_set_outcome(struct jobs *j, const char *job_name, const char *outcome, uint64_t runs);

/* Sets the last end of a job from the history. NaN and earlier times are ignored. */
void jobs_set_last_end(struct jobs *j, const char *job_name, double at);

/* Reads all runs and fills s->runs: once per look, before the jobs collector collects. */
void jobs_read(struct jobs *j, const struct host *host, struct snapshot *s);

/* Fills s->runs with the results of the latest look. */
void jobs_tell(const struct jobs *j, struct snapshot *s);

/*
 * Forgets ended runs whose last reading is in a snapshot of generation seen or earlier, or is older
 * than so many seconds. Their counters stay in the totals of their job.
 */
void jobs_drop_ended(struct jobs *j, const struct host *host, uint64_t seen, double seconds);

extern const struct collector collector_jobs;

#endif
