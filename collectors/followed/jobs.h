/*
 * The runs being followed: which processes belong to each, and what they have used so far.
 *
 * Membership is sticky: a process found below the root (by parent links of any thread) stays in the run by
 * (pid, start time), whatever its parent becomes. CPU time never falls: each process's growth is added once,
 * and what died between two readings is taken from its parents' cutime.
 *
 * One thread (the sampler). Reads through host->proc.
 */
#ifndef COLLECTORS_FOLLOWED_JOBS_H
#define COLLECTORS_FOLLOWED_JOBS_H

#include "collectors/accounting/accounts.h"
#include "collectors/base/err.h"
#include "collectors/collector.h"
#include "collectors/followed/run_values.h"
#include "collectors/runs.h"

struct jobs;

/* Most runs followed at the same time. The most processes of all of them together: host->members. */
#define JOBS_RUNS_MAX 1000
/* Most job names at /metrics; the one that was active the longest ago makes room. */
#define JOBS_MAX 1000

struct run_spec {
	const char *run_id, *job_name;
	pid_t pid;            /* of the root, in the namespace of host->proc */
	uint64_t start_ticks; /* of the root; 0 = whoever has that pid now */
	pid_t reaper_pid;     /* its other children belong to the run; it does not; 0 = none */
	struct wall started_at;
	struct mono started_mono; /* 0 = from the start time of the root, a multiple of 10 ms */
	bool from_now;            /* the root did other things before, which are not of the run */
	/*
	 * Whoever waits for it tells its end and its totals (jobs_conclude). Otherwise it ends when its last
	 * process is gone, and what the kernel tells of ends is listened to.
	 */
	bool awaits_conclusion;
	double grace_seconds; /* it ends only when it had no process for so long, and goes on when it gets one */
	const struct task_clock
		*clock; /* counts for it; NULL = none; borrowed until the run ended if it is used */
	double forked_seconds; /* CPU time of the root before it became the command: not counted */
	const struct cpu_quota
		*quota; /* as it was before the command; borrowed for the call; NULL = not read */
	struct group_remainder **rest; /* as in struct account_spec */
};

/*
 * host, unless it is NULL, gets what runs need of a machine until jobs_free: how waits are read (delays), and the count of
 * all members. The caller puts the jobs into it.
 */
struct jobs *jobs_new(struct host *host);
void jobs_free(struct jobs *j);

/*
 * -ESRCH: no such process; -EEXIST: that run id is followed already; -ENOSPC: too many runs, ended ones, which make room,
 * not counted.
 */
int jobs_follow(struct jobs *j, const struct host *host, const struct run_spec *spec,
	struct err *e);

/* Takes a process that no parent link leads to, and what comes of it, into a run. Not followed: nothing. */
void jobs_adopt(struct jobs *j, const struct host *host, const char *run_id, pid_t pid);

/* The run is over: its next reading is its last, with these figures. An unknown run_id does nothing. */
void jobs_conclude(struct jobs *j, const char *run_id, const double final[RUN_N_METRICS],
	enum final_kind kind);

/* What is known of a followed run beside its values; false when it is not followed (any more). */
bool jobs_note(const struct jobs *j, const struct host *host, const char *run_id,
	struct account_note *ret);

/* Readable when the root of a run ended that ends by itself: look at once. -1: never. */
int jobs_ending_fd(const struct jobs *j);

/* How many runs of a job have ever ended with this outcome, as the history counts them. */
void jobs_set_outcome(struct jobs *j, const char *job_name, const char *outcome, uint64_t runs);

/* When a run of the job ended that the history knows of; NaN and what is earlier than what is known do nothing. */
void jobs_set_last_end(struct jobs *j, const char *job_name, double at);

/*
 * Reads all runs; fills s->runs. Called at each look at them, before the jobs collector turns them into points; what that
 * tells is of the latest look.
 */
void jobs_read(struct jobs *j, const struct host *host, struct snapshot *s);

/* Fills s->runs as the latest look found them. */
void jobs_tell(const struct jobs *j, struct snapshot *s);

/*
 * Forgets ended runs whose last reading is in a snapshot of a generation up to seen, or was taken so many seconds ago;
 * their counters stay in their job's totals.
 */
void jobs_drop_ended(struct jobs *j, const struct host *host, uint64_t seen, double seconds);

extern const struct collector collector_jobs;

#endif
