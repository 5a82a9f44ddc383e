/* The history of jobs, runs and samples in one SQLite file. Old data is removed.
 *
 * A handle belongs to one thread. Several handles and several processes, such as a sidecar and a
 * wrapper, may use one file at the same time. The file uses WAL mode, a busy timeout and short
 * transactions. Readers never block the writer.
 *
 * The table `sample` has one column for each metric that the history stores (struct metric.column).
 * When a file is opened for writing, missing columns are added. */
#ifndef EXPORTER_HISTORY_HISTORY_H
#define EXPORTER_HISTORY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/clock.h"
#include "collectors/base/err.h"
#include "collectors/base/mem.h"
#include "collectors/metric.h"
#include "collectors/runs.h"
#include "exporter/core/columns.h"
#include "exporter/core/identity.h"
#include "recommender/run.h"

struct history;

/* Call it once when the program starts, before any other use of SQLite. SQLite then rounds small
 * blocks up to six sizes, which saves memory (open.c). history_open can then also detect that a
 * file was not closed properly. */
void history_setup(void);

enum history_mode {
	/* Opens the file without changing it. -ENOENT = no file or an empty file, -ENOTSUP = an
	 * older schema. */
	HISTORY_READ,
	HISTORY_WRITE, /* creates or migrates the file, or sets a corrupt file aside */
};

/* The `path` ":memory:" is one database for all handles of this process. It lives until the last
 * handle is closed (SQLite's memdb VFS, "file:/rightsize?vfs=memdb").
 *
 * Opening for writing renames a corrupt file, or a file that is not a database, to
 * "PATH.corrupt-YYYYMMDDTHHMMSSZ", together with its -wal and -shm. It then describes the renaming
 * in `notice` and starts a fresh file. A file of up to 32 MiB is checked completely (50 ms) when it
 * was not closed properly and no other process uses it. Damage in a larger file is found later: the
 * call that reads the damaged page returns -EBADMSG (see history_set_aside). Three kinds of files
 * give -ENOTSUP and stay unchanged: a newer schema, a database of another program, and a file that
 * is not a database, does not end in .db, .sqlite or .sqlite3, and has no -wal file. `notice` may
 * be NULL. `columns` may be NULL for reading.
 *
 * Every call may return:
 * - -EBADMSG: the file is corrupt.
 * - -EBUSY: another process locked the file for over 2 s.
 * - -ESTALE: the file or its -wal file was deleted or replaced. Call history_checkpoint, and open
 *   the file again.
 * - -ENOSPC, -EROFS, -EACCES: as usual. */
int history_open(struct history **ret, const char *path, enum history_mode mode,
	const struct columns *columns, struct err *notice, struct err *e);
void history_close(struct history *h);
void history_closep(struct history **h); /* for AUTO */

/* Reads the whole file and checks its structure. Returns -EBADMSG when the file is corrupt. */
int history_check(struct history *h, struct err *e);

/* Copies the -wal file into the database. Does not copy when the database file was deleted or
 * replaced, or when another process uses it. */
void history_checkpoint(struct history *h);

/* Call it after -EBADMSG. Closes the handle without writing. Then renames the file as history_open
 * does, and fills `notice`. If another exporter has already renamed the file, only closes the
 * handle. Frees the handle even on failure. */
int history_set_aside(struct history *take, const char *why, struct err *notice, struct err *e);

/* bytes of the file and its -wal file, or of the database in memory */
uint64_t history_bytes(struct history *h);

struct run_begin {
	const char *run_id;
	const char *job_name; /* key of the job (collectors/base/job_key.h), as everywhere below */
	/* Key that the job had before. history_run_begin moves its runs to `job_name`, if all are
	 * of the same `system` and none is open. NULL = the job had no other key. */
	const char *former_job;
	const char *host;
	double started_at, interval_seconds;
	struct run_root root;
	double requested_cpu_cores, requested_memory_bytes, memory_limit_bytes, input_bytes,
		attempt;
	const char *system, *system_run, *labels; /* see struct run */
	struct run_server server;
	/* The process of the exporter that records the run. If this process is gone while the run
	 * is open, the run is marked as interrupted. */
	pid_t owner_pid;
	uint64_t owner_start_ticks;
};

struct run_finish {
	const char *run_id;
	double ended_at, duration_seconds;
	enum outcome outcome;
	double exit_code, exit_signal;
	const char *cpu_source, *memory_source, *network_source;
	const char *architecture; /* one of the names in recommender/catalogue/architecture.h */
	const char *cpu_level;    /* see collectors/followed/run_binary.h */
	struct run_server server;
	/* These members have the same meaning as in struct run. */
	double cpu_missed_seconds, cpu_foreign_seconds, machine_cpus, machine_memory_bytes;
	const char *disk_source, *not_measured, *end_reason;
	double address_limit_bytes, address_peak_bytes;
	double machine_vram_bytes; /* memory of all GPUs; 0 or NaN = unknown; not in the file */
	bool killed;               /* SIGKILL ended a process of the run; not stored */
};

/* Initializers for the numbers of a struct run_finish that are unknown. */
#define RUN_FINISH_UNKNOWN                                                                         \
	.cpu_missed_seconds = NAN, .cpu_foreign_seconds = NAN, .machine_cpus = NAN,                \
	.machine_memory_bytes = NAN, .address_limit_bytes = NAN, .address_peak_bytes = NAN

struct sample {
	char run_id[RUN_ID_MAX];
	double at;       /* end of the interval, seconds since 1970 UTC */
	double duration; /* seconds; 0 = a correction of totals (recommender/run.h) */
	double *value;   /* one value for each column; NaN = unknown, stored as NULL */
};

/* ---- writing; the caller has begun a transaction ---- */
int history_transaction(struct history *h, struct err *e);
int history_commit(struct history *h, struct err *e); /* rolls back on failure */
void history_rollback(struct history *h);
/* Commits, or rolls back when `code` is negative. Returns `code`, or the error of a failed
 * commit. */
int history_end(struct history *h, int code, struct err *e);

/* Adds a run and returns 0. If a run with this id is already open, only its owner changes. If a run
 * with this id has ended, nothing changes. */
int history_run_begin(struct history *h, const struct run_begin *b, struct err *e);

/* Returns -ENXIO for an unknown run, and -EINVAL for an unknown time or duration. Samples before
 * the faulty sample are written. */
int history_samples(struct history *h, const struct sample *samples, size_t n, struct err *e);

/* Ends a run: stores statistics of its samples and counts its outcome for the job. A run is stored
 * without statistics and samples if one of its numbers is impossible (recommender/plausible.h), or
 * if `f` says that the run was not measured. The stored `not_measured` then gives the reason. If
 * the duration in `f` is NaN, the sum over the samples is stored.
 *
 * Returns 0. If the run has already ended as `interrupted`, its outcome is corrected. Any other
 * ended run, and an unknown run, is left unchanged. */
int history_run_finish(struct history *h, const struct run_finish *f, struct err *e);

/* Adds an ended run that another exporter recorded and forwarded. Adds its statistics, but no
 * samples. A run that was not measured is added without statistics.
 *
 * Returns 1 when the run was added, or when its outcome `interrupted` was corrected. Returns 0 when
 * the history already has the run. */
int history_run_add(struct history *h, const struct run *r, struct err *e);

/* Finds out which ended runs of a job must not be added, because the limits have removed them
 * before, or would remove them at once. If such a run were added, it would be counted again. Only
 * runs that began after `*ret`, in seconds since 1970, may be added. `*ret` is 0 if all may be
 * added. `runs_per_job` is that of struct history_limits. Which runs this handle removed because of
 * the size of the file is known only until history_close. */
int history_removed_until(struct history *h, const char *job_name, uint64_t runs_per_job,
	double *ret, struct err *e);

/* Receivers of the ended runs of a history. The values are bits. */
enum history_receiver {
	RECEIVER_CENTRAL = 1, /* another exporter (--forward.url) */
	RECEIVER_STORE = 2,   /* a Prometheus-compatible store (--remote-write.url) */
};

/* Lists the ended runs that were not sent yet to the receiver, sorted by the time of their end. A
 * run whose record was corrected is sent again. The limits of the history may remove runs before
 * they are sent. */
int history_unsent(struct history *h, enum history_receiver to, size_t limit, struct arena *arena,
	const char ***ret, size_t *ret_n, struct err *e);
int history_count_unsent(struct history *h, enum history_receiver to, uint64_t *ret, struct err *e);
/* Marks a run as sent. `outcome` is the outcome that was sent. If the run was corrected meanwhile,
 * the run stays unmarked and is sent again. */
int history_run_sent(struct history *h, enum history_receiver to, const char *run_id,
	enum outcome outcome, double at, struct err *e);

/* The facts that decide whether the owner of an open run is gone. The owner is the exporter that
 * records the run. */
struct orphan_rule {
	double now, stale_seconds;
	const struct run_root *here; /* boot id and PID namespace of this machine */
	bool (*alive)(void *context, pid_t pid, uint64_t start_ticks);
	void *context;
	/* The process of the exporter that is ending now. Its runs are closed even if their jobs
	 * still run. 0 = no exporter is ending. */
	pid_t leaving_pid;
	uint64_t leaving_start_ticks;
};

/* Marks an open run as interrupted when its owner is gone. The run then ends at its last sample.
 * The owner is the exporter that records the run. It is gone after a reboot, or when this PID
 * namespace has no process with the owner's pid and start time. `alive` looks up processes of this
 * machine.
 *
 * If no wrapper records a run, the run stays open while its root process lives, because the next
 * exporter continues the run. The owner cannot be looked up if the run is of another or unknown PID
 * namespace. Such a run is closed when its last sample is older than stale_seconds, and also older
 * than three intervals of the run.
 *
 * Closes at most 8 runs. Returns 1 when it must be called again, in a new transaction. */
int history_close_orphans(struct history *h, const struct orphan_rule *rule, struct err *e);

/* Reads the clock of age_clock.h. The file stores the state of this clock. Call it outside of a
 * transaction. */
int history_clock(struct history *h, struct now now, const char *boot_id, double *ret,
	struct err *e);

enum history_limit { /* bits */
	LIMIT_RUNS_PER_JOB = 1,
	LIMIT_RETENTION = 2,
	LIMIT_MAX_BYTES = 4,
	LIMIT_FULL_RATE = 8,
};

/* The limits of a history. 0 = no limit. Every exporter that uses the file enforces limits, and all
 * of them should enforce the same limits. The file therefore stores the limits of the server, and
 * whether an exporter forwards runs. Stored settings are valid for 30 days. */
struct history_limits {
	/* Maximum number of ended runs of a job. The oldest runs above it are removed, except one:
	 * the newest successful run with a memory limit that differs clearly (RUN_LIMITS_DIFFER)
	 * from that of the newest run. If all kept runs had the same limit, it would not be known
	 * that the job's memory follows its limit. */
	size_t runs_per_job;
	double retention_seconds; /* maximum age of a run, counted from its end */
	uint64_t max_bytes;       /* maximum size of the file; see history_prune */
	double full_rate_seconds; /* samples older than this are merged into buckets of a minute */
	/* Keep runs that were not sent yet to these receivers (bits of enum history_receiver),
	 * unless the file exceeds max_bytes. The file stores this setting, so that all exporters
	 * obey it. */
	unsigned keep_unsent;
	/* Bits of enum history_limit: the limits that the user did not set. They are replaced by
	 * the limits that a server stored in the file. */
	unsigned defaults;
	bool serves; /* true = this exporter serves, and stores its limits in the file */
};

/* Enforces the limits. An open run is never removed, but its samples are thinned when they are old,
 * or when 100,000 newer samples of the run exist. The newest ended run of a job is removed only
 * because of max_bytes.
 *
 * When the file exceeds max_bytes, data is removed in this order:
 * 1. samples of ended runs, oldest run first, except the newest ended run of each job
 * 2. the oldest runs
 * 3. samples of the newest run of each job
 * 4. full-rate samples of open runs
 * 5. runs that were not sent yet
 * 6. the newest run of each job, oldest first
 *
 * A job without runs is then removed with its counts.
 *
 * Does one bounded step in separate transactions. Call it outside of a transaction. Returns 1 when
 * it must be called again. */
int history_prune(struct history *h, const struct history_limits *l, double now, struct err *e);

/* Totals of the data that any exporter removed from the file because of max_bytes. */
struct history_losses {
	uint64_t jobs; /* number of jobs that were removed with their counts */
	uint64_t runs; /* number of runs that were removed before they were sent */
};
int history_losses(struct history *h, struct history_losses *ret, struct err *e);

/* The page of a server that records into the file. */
struct history_page {
	const char *url;        /* URL of the page, without a fragment: "http://127.0.0.1:9877/" */
	const char *address;    /* address on which the server listens: "127.0.0.1:9877" */
	struct run_root server; /* the process of the server; the members reaper_* are 0 */
};
/* Stores the page in the place of an earlier one. Call it within a transaction. */
int history_note_page(struct history *h, const struct history_page *page, struct err *e);
/* Finds the page of the server that started last. Returns 1 when there is one. The server may be on
 * another machine, and may have ended since: the caller must check that its process is alive. */
int history_page(struct history *h, struct arena *arena, struct history_page *ret, struct err *e);

/* ---- reading; results are in the caller's arena ---- */
struct run_query {
	const char *job_name; /* job of the runs; NULL = all jobs */
	const char *run_id;   /* id of the run; NULL = any */
	bool open_only;       /* only running runs */
	bool successful_only;
	/* Include statistics of open runs. This is slow: 0.1 s for a run of a day at one sample a
	 * second. */
	bool open_stats;
	size_t limit; /* largest number of runs; 0 = no limit */
	/* End the list when it contains this many runs that succeeded and were measured. 0 = do not
	 * end it early. */
	size_t enough_measured;
	/* Only ended runs whose memory limit differs clearly (RUN_LIMITS_DIFFER) from this number
	 * of bytes. 0 = runs with any limit. */
	double other_limit_than;
};
/* Returns the newest run first. */
int history_runs(struct history *h, const struct run_query *q, struct arena *arena,
	struct runs *ret, struct err *e);

/* Reads ended runs in the order in which the file got them: the `limit` runs after `*position`,
 * which is 0 before the first call and is moved to the last run that was read. ret->n is 0 at the
 * end. */
int history_runs_after(struct history *h, int64_t *position, size_t limit, struct arena *arena,
	struct runs *ret, struct err *e);

/* A summary of a job's runs that shows changes. Two summaries differ if a run of the job began,
 * ended, was corrected or was removed after the first and before the second. */
struct job_mark {
	uint64_t runs, running, succeeded, interrupted;
	double ids, seconds; /* sum of the runs' ids; sum of their durations */
};
bool history_job_mark_same(const struct job_mark *a, const struct job_mark *b);
/* Summarizes the runs that started at or after `since` (seconds since 1970 UTC). All values are 0
 * for an unknown job. */
int history_job_mark(struct history *h, const char *job_name, double since, struct job_mark *ret,
	struct err *e);

struct job_row {
	const char *job_name;
	uint64_t runs;                    /* all runs of the job so far, including removed runs */
	uint64_t outcomes[OUTCOME_COUNT]; /* all ended runs, by outcome; [RUNNING] = open runs */
	double last_started_at;
	double last_ended_at; /* end of the newest ended run; NaN = no run has ended */
	enum outcome last_outcome;
	/* Exit code and signal of the newest run with each outcome that is not a success; NaN =
	 * unknown, or there is no such run. */
	struct job_exit {
		double code, signal;
	} exit[OUTCOME_COUNT];
};
/* Returns the job with the newest run first. Reads at most `limit` jobs; `limit` 0 = all. */
int history_jobs(struct history *h, size_t limit, struct arena *arena, struct job_row **ret,
	size_t *ret_n, struct err *e);
int history_count_jobs(struct history *h, size_t *ret, struct err *e);

/* Finds the job for a key that may lack the cluster, or both the namespace and the cluster. A job
 * with exactly this key is preferred. Otherwise the only job that agrees with all parts of the key
 * is found. Returns 1 and writes the full key of the job. Returns 0 if there is no such job, or if
 * there are several. */
int history_find_key(struct history *h, const char *key, char ret[static JOB_KEY_MAX],
	struct err *e);

/* Reads the names of other jobs that are next to this name in sorted order: at most `limit` names
 * before it, and at most `limit` after it. */
int history_names_near(struct history *h, const char *job_name, size_t limit, struct arena *arena,
	const char ***ret, size_t *ret_n, struct err *e);

/* The values of a run that an overview shows. NaN and NULL = unknown. */
struct run_brief {
	const char *run_id;
	enum outcome outcome;
	double started_at, duration_seconds, requested_cpu_cores, requested_memory_bytes,
		memory_peak_bytes, cpu_seconds, network_sent_bytes, disk_grown_bytes;
	const char *host;
	struct run_server server;
};
struct job_brief {
	const char *job_name;
	uint64_t runs; /* number of runs that the job ever had */
	size_t n;      /* number of runs in `run`; 0 = no run of the job is left in the history */
	struct run_brief *run;
};

/* The facts of a job by which a list of jobs is searched, filtered and sorted. Reading them for
 * 10,000 jobs takes 10 ms, and reading `value`, too, takes up to 60 ms more. Reading the 12 newest
 * runs of each job instead would take 600 ms. */
struct job_head {
	int64_t id; /* id of the job in this file */
	const char *job_name;
	uint64_t runs;          /* number of runs that the job ever had */
	uint64_t running;       /* number of open runs */
	double last_started_at; /* NaN = no run is left */
	enum outcome last_outcome;
	bool requests; /* true = the newest run has a request of CPU or memory */
	double value;  /* see enum head_value; NaN = unknown */
};

/* The meaning of job_head.value. HEAD_NOTHING: `value` is not read. HEAD_FAILURES: how many of the
 * 12 newest ended runs are failed or oom_killed. HEAD_DURATION and HEAD_MEMORY: the duration in
 * seconds, and the peak memory in bytes, of the newest successful run. */
enum head_value { HEAD_NOTHING, HEAD_FAILURES, HEAD_DURATION, HEAD_MEMORY };

/* Reads all jobs in the order of their ids. */
int history_job_heads(struct history *h, enum head_value value, struct arena *arena,
	struct job_head **ret, size_t *ret_n, struct err *e);

/* Adds the number of the job's runs with each outcome to `outcomes`. Removed runs count, too.
 * [RUNNING] = open runs. */
int history_job_outcomes(struct history *h, const struct job_head *job,
	uint64_t outcomes[OUTCOME_COUNT], struct err *e);

/* Reads at most the `runs` newest runs of each of these `n` jobs, newest first. ret[i] belongs to
 * job[i]. */
int history_overview(struct history *h, const struct job_head *job, size_t n, size_t runs,
	struct arena *arena, struct job_brief **ret, struct err *e);

/* Reads the samples of a run in the order they were taken. Times decrease where the clock was set
 * back. `columns` is a list of column names that ends with NULL. If `columns` is NULL, all columns
 * of the file are read. A column that the file does not have is all NaN. A thinned bucket is one
 * sample with the bucket's means, growth and high-water marks. Returns -ENOENT for an unknown run.
 * `ret->n` is 0 when the samples were removed.
 *
 * Returns at most HISTORY_SERIES_MAX samples. If a run has more samples, neighbouring samples are
 * merged as in a bucket. Some of the newest samples are not merged. Statistics of such a run are
 * computed from the merged samples. Sums, means and high-water marks stay exact, but lowest and
 * highest values come closer to the mean. */
#define HISTORY_SERIES_MAX (1u << 17)
int history_series(struct history *h, const char *run_id, const char *const *columns,
	struct arena *arena, struct series *ret, struct err *e);

/* Reads the samples after `*position`, at most `limit` of them; `limit` 0 = all. `*position` is 0
 * before the first call, and is moved to the last sample that was read. Returns 1 when more samples
 * may come, because the run is open or `limit` was reached. */
int history_series_after(struct history *h, const char *run_id, int64_t *position, size_t limit,
	const char *const *columns, struct arena *arena, struct series *ret, struct err *e);

/* An open run and its root process. */
struct open_run {
	const char *run_id, *job_name;
	int64_t id; /* id of the run in this file */
	double started_at, interval_seconds;
	struct run_root root;
	pid_t owner_pid;
	uint64_t owner_start_ticks;
};
int history_open_runs(struct history *h, struct arena *arena, struct open_run **ret, size_t *ret_n,
	struct err *e);

/* ---- runs of other jobs, to learn from ---- */

/* The system that named a run, and its labels; see struct run. NULL = unknown. */
struct run_origin {
	const char *system, *labels;
};
/* Finds the origin of the newest run of a job, even if that run still runs. For an unknown job, all
 * members of `ret` are NULL. */
int history_job_origin(struct history *h, const char *job_name, struct arena *arena,
	struct run_origin *ret, struct err *e);

struct recent_job {
	int64_t id; /* id of the job in this file */
	const char *job_name;
	struct run_origin origin; /* origin of the newest ended run */
};
/* Finds the jobs of the newest `runs` ended runs of the file. Returns at most `limit` jobs, the job
 * with the newest ended run first. */
int history_recent_jobs(struct history *h, size_t runs, size_t limit, struct arena *arena,
	struct recent_job **ret, size_t *ret_n, struct err *e);

/* Reads the newest runs of a job from which its need of memory can be learnt: runs that were
 * measured, and that succeeded or were killed for lack of memory. Returns at most `limit` runs,
 * newest first. Sets the outcome, the duration, the memory limit, the input size and the largest
 * value of memory_peak_bytes, because only these are in indexes. All other members are 0. */
int history_memory_runs(struct history *h, int64_t job, size_t limit, struct arena *arena,
	struct runs *ret, struct err *e);

/* Returns the number of runs that have ended so far, including removed runs, or a negative errno.
 * Takes the same time for any number of ended runs. The number falls when the newest run is
 * removed. */
int64_t history_ended(struct history *h);

/* While this handle reads, SQLite calls `over` regularly, even within one long statement. If `over`
 * returns true, the read fails with a negative errno. */
void history_give_up_when(struct history *h, bool (*over)(void));

/* While another process holds the write lock, this handle calls `patient` every 1 to 20 ms.
 * `stuck_seconds` is the time since that process last wrote something. The call that waits for the
 * lock fails with -EBUSY after 2 s, or when `patient` returns false. */
void history_wait_while(struct history *h, bool (*patient)(void *context, double stuck_seconds),
	void *context);

/* Begins a read transaction. All reads until history_close then see the same state of the file. */
int history_hold(struct history *h, struct err *e);

/* Returns a number that changes when another connection commits, or a negative errno. It is cheap
 * to poll (PRAGMA data_version). -ESTALE: the file was deleted or replaced. */
int64_t history_version(struct history *h);

/* Returns a number that grows when a run begins, ends or is corrected. New samples do not change
 * it. Returns a negative errno on failure. */
int64_t history_activity(struct history *h);

#endif
