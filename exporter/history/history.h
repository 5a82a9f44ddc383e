/* The history of jobs, runs and samples in one SQLite file. Old data is removed (history_prune).
 *
 * A handle (struct history) belongs to one thread. Several handles and several processes, such as a
 * sidecar and a wrapper, may use one file at the same time. The file uses WAL mode, a busy timeout
 * and short transactions. Readers never block the writer.
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

/* Call it once when the program starts, before any other use of SQLite. SQLite then allocates small
 * blocks of memory only in six sizes, which saves memory (open.c). The call also lets history_open
 * see whether a file was closed properly. Without it, history_open treats every file with a -wal
 * file as not closed properly. */
void history_setup(void);

enum history_mode {
	/* Opens the file without changing it. -ENOENT = no file or an empty file, -ENOTSUP = an
	 * older schema. */
	HISTORY_READ,
	HISTORY_WRITE, /* creates or migrates the file, or sets a corrupt file aside */
};

/* Opens the file at `path`. The path ":memory:" is one database in memory, which all handles of
 * this process share. It lives until the last handle is closed (SQLite's memdb VFS,
 * "file:/rightsize?vfs=memdb").
 *
 * Opening for writing renames a corrupt file, or a file that is not a database, to
 * "PATH.corrupt-YYYYMMDDTHHMMSSZ", together with its -wal and -shm. It then describes the renaming
 * in `notice` and starts a fresh file. A file of up to 32 MiB is checked completely (50 ms) when it
 * was not closed properly and no other process uses it. Damage in a larger file is found later: the
 * call that reads the damaged page returns -EBADMSG (see history_set_aside). `notice` may be NULL.
 * `columns` may be NULL for reading.
 *
 * Opening for writing returns -ENOTSUP and changes nothing in three cases:
 * - The file has a newer schema.
 * - The file is a database of another program.
 * - The file is not a database, and the user probably named it by mistake: its name does not end in
 *   .db, .sqlite or .sqlite3, and it has no -wal file.
 *
 * Every function here that can fail may return:
 * - -EBADMSG: the file is corrupt.
 * - -EBUSY: another process locked the file for over 2 s.
 * - -ESTALE: the file or its -wal file was deleted or replaced. Call history_checkpoint, and open
 *   the file again.
 * - -ENOSPC, -EROFS, -EACCES: as for open(2) and write(2). */
int history_open(struct history **ret, const char *path, enum history_mode mode,
	const struct columns *columns, struct err *notice, struct err *e);
void history_close(struct history *h);
void history_closep(struct history **h); /* for AUTO */

/* Reads the whole file and checks its structure. Returns -EBADMSG when the file is corrupt. */
int history_check(struct history *h, struct err *e);

/* Copies the -wal file into the database. Does nothing when the database was deleted or replaced,
 * or when another process uses the file. */
void history_checkpoint(struct history *h);

/* Renames a corrupt file; call it after -EBADMSG. Closes and frees the handle without writing to
 * the file, even on failure. Then renames the file as history_open does. `notice` receives a
 * message with the new name and the reason `why`. If another exporter has already renamed the file,
 * does not rename it. */
int history_set_aside(struct history *take, const char *why, struct err *notice, struct err *e);

/* Returns the size of the file and its -wal file, or of the database in memory, in bytes. */
uint64_t history_bytes(struct history *h);

struct run_begin {
	const char *run_id;
	const char *job_name; /* key of the job (collectors/base/job_key.h), as everywhere below */
	/* A key that the job had before; NULL = none. history_run_begin moves the runs of this key
	 * to `job_name`. It moves none if one of them is open, or comes from another batch system
	 * (`system`) than this run. */
	const char *former_job;
	const char *host;
	double started_at, interval_seconds;
	struct run_root root;
	double requested_cpu_cores, requested_memory_bytes, memory_limit_bytes, input_bytes,
		attempt;
	const char *system, *system_run, *labels; /* see struct run */
	struct run_server server;
	/* The process of the exporter that records the run (history_close_orphans). */
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
	const char *gpu_manufacturer, *gpu_model;
	struct run_server server;
	/* These members have the same meaning as in struct run. */
	double cpu_missed_seconds, cpu_foreign_seconds, machine_cpus, machine_memory_bytes;
	const char *disk_source, *not_measured, *end_reason;
	double address_limit_bytes, address_peak_bytes;
	/* memory of all GPUs of the machine; 0 or NaN = unknown; used to check the numbers, not
	 * stored */
	double machine_vram_bytes;
	/* SIGKILL ended a process of the run; used to find the outcome, not stored */
	bool killed;
};

/* Initializers for the numbers of a struct run_finish that are unknown. */
#define RUN_FINISH_UNKNOWN                                                                         \
	.cpu_missed_seconds = NAN, .cpu_foreign_seconds = NAN, .machine_cpus = NAN,                \
	.machine_memory_bytes = NAN, .address_limit_bytes = NAN, .address_peak_bytes = NAN

struct sample {
	char run_id[RUN_ID_MAX];
	double at; /* end of the interval, seconds since 1970 UTC */
	/* length of the interval in seconds; 0 = a correction of totals (recommender/run.h) */
	double duration;
	double *value; /* one value for each column; NaN = unknown, stored as NULL */
};

/* ---- writing; the caller has begun a transaction ---- */
int history_transaction(struct history *h, struct err *e);
int history_commit(struct history *h, struct err *e); /* rolls back on failure */
void history_rollback(struct history *h);
/* Ends the transaction: rolls back if `code` is negative, otherwise commits. Returns `code`, or the
 * error of a failed commit. */
int history_end(struct history *h, int code, struct err *e);

/* Adds a run and returns 0. If a run with this id is already open, only changes its owner, the
 * exporter that records it. If a run with this id has ended, does nothing. */
int history_run_begin(struct history *h, const struct run_begin *b, struct err *e);

/* Writes samples of open runs. Stops at the first faulty sample: returns -ENXIO if its run is
 * unknown, and -EINVAL if its time or duration is unknown. The samples before it are written. */
int history_samples(struct history *h, const struct sample *samples, size_t n, struct err *e);

/* Ends a run: stores statistics of its samples and counts its outcome for the job. If one of the
 * numbers is impossible (recommender/plausible.h), stores the reason as `not_measured`. If
 * `not_measured` is set, drops the statistics and samples. If the duration in `f` is NaN, stores
 * the sum of the samples' durations.
 *
 * Returns 0. A run that already ended as `interrupted` is written again with the real outcome. Does
 * nothing for an unknown run, and for a run that already ended with another outcome. */
int history_run_finish(struct history *h, const struct run_finish *f, struct err *e);

/* Adds an ended run that another exporter recorded and forwarded. Adds its statistics, but no
 * samples. A run that was not measured is added without statistics.
 *
 * Returns 1 when the run was added, or when the history had it as `interrupted` and its outcome was
 * corrected. Returns 0 when the history already has the run and nothing was changed. */
int history_run_add(struct history *h, const struct run *r, struct err *e);

/* Finds out which ended runs of a job must not be added (history_run_add): the limits have removed
 * them, or would remove them at once. A removed run that is added again would be counted twice. Sets `*ret` to a time
 * in seconds since 1970 UTC: runs that began later may be added; 0 = all runs may be added.
 * `runs_per_job` is the member of struct history_limits. Ignores runs that another handle removed
 * because of the size of the file. */
int history_removed_until(struct history *h, const char *job_name, uint64_t runs_per_job,
	double *ret, struct err *e);

/* Other programs to which this exporter sends the ended runs of the history. The values are
 * bits. */
enum history_receiver {
	RECEIVER_CENTRAL = 1, /* another exporter (--forward.url) */
	RECEIVER_STORE = 2,   /* a Prometheus-compatible store (--remote-write.url) */
};

/* Lists the ids of at most `limit` ended runs that were not sent yet to the receiver `to`, earliest
 * end first. A run that was corrected after it was sent is listed again. The limits of the history
 * may remove a run before it is sent. */
int history_unsent(struct history *h, enum history_receiver to, size_t limit, struct arena *arena,
	const char ***ret, size_t *ret_n, struct err *e);
int history_count_unsent(struct history *h, enum history_receiver to, uint64_t *ret, struct err *e);
/* Marks a run as sent to `to` at the time `at` (seconds since 1970 UTC). `outcome` is the outcome
 * that was sent. If the stored outcome was corrected in the meantime, the run stays unmarked: it is
 * sent again. */
int history_run_sent(struct history *h, enum history_receiver to, const char *run_id,
	enum outcome outcome, double at, struct err *e);

/* The facts that decide whether an open run is an orphan: its owner, the exporter that records it,
 * is gone. */
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

/* Marks open runs as interrupted if their owner, the exporter that records the run, is gone. The
 * owner is gone after a reboot, or when rule->alive finds no process with its pid and start time.
 * An interrupted run ends at its last sample. Exceptions:
 * - A run without a wrapper stays open while its root process lives, because the next exporter
 *   continues it.
 * - If the run has another or an unknown PID namespace, its owner cannot be checked. The run is
 *   marked when its last sample is older than stale_seconds and older than three sample intervals.
 *
 * Closes at most 8 runs. Returns 1 when it must be called again, in a new transaction. */
int history_close_orphans(struct history *h, const struct orphan_rule *rule, struct err *e);

/* Sets `*ret` to the time of the clock of age_clock.h, in seconds since 1970 UTC. The file stores
 * the state of this clock. Call it outside of a transaction. */
int history_clock(struct history *h, struct now now, const char *boot_id, double *ret,
	struct err *e);

enum history_limit { /* bits */
	LIMIT_RUNS_PER_JOB = 1,
	LIMIT_RETENTION = 2,
	LIMIT_MAX_BYTES = 4,
	LIMIT_FULL_RATE = 8,
};

/* The limits of a history. 0 = no limit. Several exporters may use one file, and each of them
 * removes old runs. To make all use the same limits, a server (`serves`) stores its limits in the
 * file. The file also stores the receivers of runs (`keep_unsent`), so that no exporter removes a
 * run that was not sent yet. The stored values are valid for 30 days. */
struct history_limits {
	/* Maximum number of ended runs of a job. If a job has more, its oldest runs are removed.
	 * One old run is kept: the newest successful run whose memory limit differs clearly
	 * (RUN_LIMITS_DIFFER) from that of the newest run. Only runs with different limits show
	 * whether the job uses more memory when it gets a higher limit. */
	size_t runs_per_job;
	double retention_seconds; /* maximum age of a run, counted from its end */
	uint64_t max_bytes;       /* maximum size of the file; see history_prune */
	/* samples older than this many seconds are merged into buckets of a minute */
	double full_rate_seconds;
	/* Bits of enum history_receiver. A run that was not yet sent to all these receivers is
	 * removed only if the file exceeds max_bytes. The file stores this setting, so that all
	 * exporters obey it. */
	unsigned keep_unsent;
	/* Bits of enum history_limit: the limits that the user did not set. Each of them gets the
	 * value that a server has stored in the file, if there is one. */
	unsigned defaults;
	bool serves; /* true = this exporter serves, and stores its limits in the file */
};

/* Enforces the limits. An open run is never removed. Its samples are thinned (merged into buckets)
 * when they are old, or when the run has 100,000 newer samples. The newest ended run of a job is
 * removed only because of max_bytes.
 *
 * When the file exceeds max_bytes, data is removed in this order:
 * 1. samples of ended runs, oldest run first; the newest ended run of each job keeps its samples
 * 2. the oldest runs, except the newest ended run of each job
 * 3. samples of the newest ended run of each job
 * 4. samples of open runs, by thinning them
 * 5. runs that were not sent yet
 * 6. the newest ended run of each job, oldest first
 *
 * A job that loses its last run is removed, too, with the counts of its outcomes.
 *
 * Does one short step, in transactions of its own. Call it outside of a transaction. Returns 1 when
 * it must be called again. */
int history_prune(struct history *h, const struct history_limits *l, double now, struct err *e);

/* Totals of the data that was removed from the file because of max_bytes, by all exporters that use
 * the file. */
struct history_losses {
	uint64_t jobs; /* number of removed jobs */
	uint64_t runs; /* number of runs that were removed before they were sent */
};
int history_losses(struct history *h, struct history_losses *ret, struct err *e);

/* The web page of a server that records into the file. A wrapper with the same file prints the
 * address of this page. */
struct history_page {
	const char *url;        /* URL of the page, without a fragment: "http://127.0.0.1:9877/" */
	const char *address;    /* address on which the server listens: "127.0.0.1:9877" */
	struct run_root server; /* the process of the server; the members reaper_* are 0 */
};
/* Stores the page. Replaces the page that was stored before. Call it within a transaction. */
int history_note_page(struct history *h, const struct history_page *page, struct err *e);
/* Reads the stored page. Returns 1 when there is one. The server of the page may be on another
 * machine, and may have ended: the caller must check that its process is alive. */
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
	/* End the list as soon as it contains this many runs that succeeded and were measured. 0 =
	 * list all runs. */
	size_t enough_measured;
	/* Read only ended runs whose memory limit differs clearly (RUN_LIMITS_DIFFER) from this
	 * number of bytes. 0 = read runs with any limit. */
	double other_limit_than;
};
/* Reads the runs that `q` selects, newest first. */
int history_runs(struct history *h, const struct run_query *q, struct arena *arena,
	struct runs *ret, struct err *e);

/* Reads ended runs in the order in which they were added to the file: at most `limit` runs after
 * `*position`. Set `*position` to 0 before the first call. Each call moves it to the last run that
 * was read. ret->n is 0 when no run is left. */
int history_runs_after(struct history *h, int64_t *position, size_t limit, struct arena *arena,
	struct runs *ret, struct err *e);

/* A summary of a job's runs, which is fast to read. If two summaries of a job differ, a run of the
 * job began, ended, was corrected or was removed between them. */
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
	/* exit[outcome]: exit code and signal of the newest run with this outcome. NaN = unknown,
	 * there is no such run, or the outcome is a success. */
	struct job_exit {
		double code, signal;
	} exit[OUTCOME_COUNT];
};
/* Reads at most `limit` jobs; `limit` 0 = all. The job with the newest run comes first. */
int history_jobs(struct history *h, size_t limit, struct arena *arena, struct job_row **ret,
	size_t *ret_n, struct err *e);
int history_count_jobs(struct history *h, size_t *ret, struct err *e);

/* Finds the job of a key that a user gave without its cluster, or without its namespace and
 * cluster. If a job has exactly the key `key`, finds this job. Otherwise finds the job whose key
 * has all parts of `key`. Returns 1 and writes the full key of the job to `ret`. Returns 0 if there
 * is no such job, or if there are several. */
int history_find_key(struct history *h, const char *key, char ret[static JOB_KEY_MAX],
	struct err *e);

/* Reads the names of the jobs that come next to `job_name` in sorted order: at most `limit` names
 * before it and at most `limit` names after it. */
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

/* The facts of a job that are needed to search, filter and sort a list of jobs. Reading them for
 * 10,000 jobs takes 10 ms, and up to 70 ms with `value`. Reading the 12 newest runs of each job
 * would take 600 ms. */
struct job_head {
	int64_t id; /* id of the job in this file */
	const char *job_name;
	uint64_t runs;          /* number of runs that the job ever had */
	uint64_t running;       /* number of open runs */
	double last_started_at; /* NaN = no run is left */
	enum outcome last_outcome;
	/* true = the newest run requested CPU or memory, for example from a batch system */
	bool requests;
	double value; /* see enum head_value; NaN = unknown */
};

/* The meaning of job_head.value:
 * - HEAD_NOTHING: `value` is not read.
 * - HEAD_FAILURES: how many of the 12 newest ended runs failed or were oom_killed.
 * - HEAD_DURATION: the duration of the newest successful run, in seconds.
 * - HEAD_MEMORY: the peak memory of the newest successful run, in bytes. */
enum head_value { HEAD_NOTHING, HEAD_FAILURES, HEAD_DURATION, HEAD_MEMORY };

/* Reads all jobs in the order of their ids. */
int history_job_heads(struct history *h, enum head_value value, struct arena *arena,
	struct job_head **ret, size_t *ret_n, struct err *e);

/* Adds to outcomes[i] the number of the job's runs with outcome i. Runs that were removed from the
 * history count, too. outcomes[RUNNING] is the number of open runs. */
int history_job_outcomes(struct history *h, const struct job_head *job,
	uint64_t outcomes[OUTCOME_COUNT], struct err *e);

/* Reads the newest runs of each of the `n` jobs, newest first: at most `runs` runs of a job.
 * (*ret)[i] belongs to job[i]. */
int history_overview(struct history *h, const struct job_head *job, size_t n, size_t runs,
	struct arena *arena, struct job_brief **ret, struct err *e);

/* Reads the samples of a run in the order in which they were taken. If the clock was set back
 * during the run, a sample may have an earlier time than the sample before it. Returns -ENOENT for
 * an unknown run. `ret->n` is 0 when the samples were removed.
 *
 * `columns` is a list of column names that ends with NULL; `columns` NULL = all columns of the
 * file. The values of a column that the file does not have are NaN.
 *
 * Old samples were merged into buckets. A bucket is read as one sample with the bucket's means,
 * growth and high-water marks. If the run has more than HISTORY_SERIES_MAX samples, neighbouring
 * samples are merged in the same way, except some of the newest. Sums, means and high-water marks
 * of merged samples are exact. Their lowest values are too high, and their highest values are too
 * low. */
#define HISTORY_SERIES_MAX (1u << 17)
int history_series(struct history *h, const char *run_id, const char *const *columns,
	struct arena *arena, struct series *ret, struct err *e);

/* Reads at most `limit` samples of a run after `*position`; `limit` 0 = all. Set `*position` to 0
 * before the first call. Each call moves it to the last sample that was read. `columns` is as in
 * history_series. Returns 1 when there may be more samples, because the run is open or `limit` was
 * reached; otherwise 0. */
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

/* The batch or workflow system that named a run, and the labels of the run; see struct run. NULL =
 * unknown. */
struct run_origin {
	const char *system, *labels;
};
/* Reads the origin of the newest run of a job, whether the run has ended or not. For an unknown
 * job, all members of `ret` are NULL. */
int history_job_origin(struct history *h, const char *job_name, struct arena *arena,
	struct run_origin *ret, struct err *e);

struct recent_job {
	int64_t id; /* id of the job in this file */
	const char *job_name;
	struct run_origin origin; /* origin of the newest ended run */
};
/* Finds the jobs to which the `runs` newest ended runs of the file belong. Returns at most `limit`
 * jobs, the job with the newest ended run first. */
int history_recent_jobs(struct history *h, size_t runs, size_t limit, struct arena *arena,
	struct recent_job **ret, size_t *ret_n, struct err *e);

/* Reads the runs from which the memory request of a job is computed: runs that were measured, and
 * that succeeded or were killed for lack of memory. Returns at most `limit` runs, newest first.
 * Fills only the members that an index contains, because reading them is fast: the outcome, the
 * duration, the memory limit, the input size and the largest value of memory_peak_bytes. All other
 * members are 0. */
int history_memory_runs(struct history *h, int64_t job, size_t limit, struct arena *arena,
	struct runs *ret, struct err *e);

/* Returns the number of runs that have ended so far, or a negative errno. Removed runs count, too.
 * The number is too low only if the newest run was removed. Takes the same time for any number of
 * runs. */
int64_t history_ended(struct history *h);

/* Lets the caller abandon a long read. While this handle reads, SQLite calls `over` regularly, even
 * within one statement. If `over` returns true, the read fails with a negative errno. */
void history_give_up_when(struct history *h, bool (*over)(void));

/* Lets the caller stop waiting for the write lock of the file. While another process holds the
 * lock, this handle calls `patient` every 1 to 20 ms. `stuck_seconds` is the time since a process
 * last wrote to the file. When `patient` returns false, or after 2 s, the call that waits for the
 * lock fails with -EBUSY. */
void history_wait_while(struct history *h, bool (*patient)(void *context, double stuck_seconds),
	void *context);

/* Begins a read transaction. All reads until history_close then see the same state of the file. */
int history_hold(struct history *h, struct err *e);

/* Returns a number that changes whenever another handle or process has committed a change. The call
 * is fast (PRAGMA data_version). Returns a negative errno on failure; -ESTALE = the file was
 * deleted or replaced. */
int64_t history_version(struct history *h);

/* Returns a number that grows whenever a run begins, ends or is corrected, but not when samples are
 * added. Returns a negative errno on failure. */
int64_t history_activity(struct history *h);

#endif
