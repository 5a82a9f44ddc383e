/*
 * The rolling history of runs in one SQLite file: jobs, runs, samples.
 *
 * A handle belongs to one thread. Several handles and several processes may use one file (a sidecar
 * and a wrapper): WAL mode, a busy timeout, short transactions. Readers never block the writer.
 *
 * The columns of the sample table are the history columns of all collectors (struct metric.column).
 * Opening for writing adds the columns that the file lacks.
 */
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

/*
 * Call it once at the start of the program, before any other use of SQLite. SQLite then allocates
 * few sizes (less memory), and reports files that were not closed properly.
 */
void history_setup(void);

enum history_mode {
	/* Changes nothing. -ENOENT: no file, or an empty one; -ENOTSUP: an older schema. */
	HISTORY_READ,
	HISTORY_WRITE, /* creates, migrates, sets a corrupt file aside */
};

/*
 * path ":memory:" is one database for all handles of this process and lives until the last one is
 * closed (SQLite's memdb VFS, "file:/rightsize?vfs=memdb").
 *
 * Opening for writing renames a corrupt file, or one that is not a database, to
 * "PATH.corrupt-YYYYMMDDTHHMMSSZ" (with -wal and -shm), describes that in *notice, and starts a
 * fresh file. A file of up to 32 MiB that was not closed properly and that no other process uses is
 * checked completely (50 ms). Damage in a larger file is reported later by the call that reads the
 * damaged page, as -EBADMSG: see history_set_aside. A newer schema or a database of another program
 * is -ENOTSUP and stays unchanged. notice may be NULL; columns may be NULL for reading.
 *
 * Codes of every call: -EBADMSG = corrupt, -EBUSY = locked by another process for over 2 s,
 * -ESTALE = the file was deleted or replaced: open it again; -ENOSPC, -EROFS and -EACCES as usual.
 */
int history_open(struct history **ret, const char *path, enum history_mode mode,
	const struct columns *columns, struct err *notice, struct err *e);
void history_close(struct history *h);
void history_closep(struct history **h); /* for AUTO */

/* Reads the whole file and checks its structure: -EBADMSG = corrupt. */
int history_check(struct history *h, struct err *e);

/*
 * After -EBADMSG: closes the handle without writing and renames the file as history_open does,
 * unless another exporter already did. *notice is filled when the file was renamed. The handle is
 * freed even on failure.
 */
int history_set_aside(struct history *take, const char *why, struct err *notice, struct err *e);

uint64_t history_bytes(struct history *h); /* of the file and its -wal, or in memory */

struct run_begin {
	const char *run_id, *job_name, *host;
	double started_at, interval_seconds;
	struct run_root root;
	double requested_cpu_cores, requested_memory_bytes, memory_limit_bytes, input_bytes,
		attempt;
	const char *system, *system_run, *labels; /* see struct run */
	struct run_server server;
	/* The exporter that records the run. When it is gone, the run is interrupted. */
	pid_t owner_pid;
	uint64_t owner_start_ticks;
};

struct run_finish {
	const char *run_id;
	double ended_at, duration_seconds;
	enum outcome outcome;
	double exit_code, exit_signal;
	const char *cpu_source, *memory_source, *network_source;
	const char *architecture; /* a name of recommender/catalogue/catalogue.h */
	const char *cpu_level;    /* see collectors/followed/run_binary.h */
	struct run_server server;
	double cpu_missed_seconds; /* CPU time that may be missing, at most; NaN = unknown */
	bool killed; /* SIGKILL ended one of its processes; for the outcome, not stored */
};

struct sample {
	char run_id[RUN_ID_MAX];
	double at;       /* end of the interval, seconds since 1970 UTC */
	double duration; /* seconds; 0 = a correction at the same instant (recommender/run.h) */
	double *value;   /* one per column; NaN = unknown = NULL in the file */
};

/* ---- writing, within a transaction of the caller ---- */
int history_transaction(struct history *h, struct err *e);
int history_commit(struct history *h, struct err *e); /* rolls back on failure */
void history_rollback(struct history *h);
/* Commits, or rolls back when code is negative or the commit fails. Returns code, or the error. */
int history_end(struct history *h, int code, struct err *e);

/* If the run is already open, changes only its owner. If it has ended, changes nothing (0). */
int history_run_begin(struct history *h, const struct run_begin *b, struct err *e);

/* -ENXIO: unknown run; -EINVAL: unknown time or duration. The samples before are written. */
int history_samples(struct history *h, const struct sample *samples, size_t n, struct err *e);

/*
 * Ends a run: stores statistics of its samples and counts its outcome for the job. A duration of NaN
 * means the sum over the samples. Nothing changes for an unknown or ended run (0), except that the
 * outcome interrupted is corrected.
 */
int history_run_finish(struct history *h, const struct run_finish *f, struct err *e);

/*
 * Adds an ended run that another exporter recorded and forwarded: statistics without samples.
 * 1: added, or corrected from the outcome interrupted; 0: already known, unchanged.
 */
int history_run_add(struct history *h, const struct run *r, struct err *e);

/*
 * Ended runs that were not forwarded yet, in the order of their ends. The limits of the history
 * apply to them. A corrected run is forwarded again.
 */
int history_unforwarded(struct history *h, size_t limit, struct arena *arena, const char ***ret,
	size_t *ret_n, struct err *e);
int history_count_unforwarded(struct history *h, uint64_t *ret, struct err *e);
/* outcome: the forwarded one. A run that was corrected meanwhile stays unforwarded. */
int history_run_forwarded(struct history *h, const char *run_id, enum outcome outcome, double at,
	struct err *e);

/* How to tell that the owner of an open run, the exporter that records it, is gone. */
struct orphan_rule {
	double now, stale_seconds;
	const struct run_root *here; /* this machine: boot_id and pid_namespace */
	bool (*alive)(void *context, pid_t pid, uint64_t start_ticks);
	void *context;
	/* The exporter that is ending: its runs are closed even if they still run. 0 = none. */
	pid_t leaving_pid;
	uint64_t leaving_start_ticks;
};

/*
 * Marks open runs whose owner is gone (other boot, or no process with that pid and start time in
 * this PID namespace) as interrupted, ended at their last sample. alive looks up processes of this
 * machine. A run that no wrapper records stays open while its root lives: the next exporter
 * continues it. A run of another or unknown PID namespace is closed when its last sample is older
 * than stale_seconds and three of its intervals. Closes a few runs: 1 = call again, in a new
 * transaction.
 */
int history_close_orphans(struct history *h, const struct orphan_rule *rule, struct err *e);

/* The time of age_clock.h, whose state is kept in the file. Call it outside a transaction. */
int history_clock(struct history *h, struct now now, const char *boot_id, double *ret,
	struct err *e);

enum history_limit { /* bits */
	LIMIT_RUNS_PER_JOB = 1,
	LIMIT_RETENTION = 2,
	LIMIT_MAX_BYTES = 4,
	LIMIT_FULL_RATE = 8,
};

/*
 * 0 = no limit. Every exporter that shares a file enforces limits. The file therefore stores whether
 * an exporter forwards runs, and the limits of the exporter that serves. Both are valid for 30 days.
 */
struct history_limits {
	size_t runs_per_job;      /* ended runs of a job, oldest first */
	double retention_seconds; /* ended runs, by their end */
	uint64_t max_bytes;       /* of the file; see history_prune */
	double full_rate_seconds; /* older samples become minutes, 30 times older ones hours */
	/* Only max_bytes removes runs that are not forwarded yet. Stored for all exporters. */
	bool keep_unforwarded;
	/* enum history_limit: defaults, which the stored limits of the server replace. */
	unsigned defaults;
	bool serves; /* this exporter serves: its limits are stored */
};

/*
 * Enforces the limits. An open run is never removed; only its samples are thinned, all but the newest
 * 100,000. The newest ended run of a job is removed only for max_bytes. For max_bytes are removed, in
 * this order: samples of the oldest runs, the oldest runs, samples of the newest runs of jobs, full
 * rate samples of open runs, runs that are not forwarded yet, and the newest runs of jobs, oldest
 * first. A job without runs is removed with its counts.
 *
 * Does one bounded step in transactions of its own; call it outside a transaction. 1 = call again.
 */
int history_prune(struct history *h, const struct history_limits *l, double now, struct err *e);

/* Totals that any exporter removed from the file for max_bytes. */
struct history_losses {
	uint64_t jobs; /* removed with their counts */
	uint64_t runs; /* removed before they were forwarded */
};
int history_losses(struct history *h, struct history_losses *ret, struct err *e);

/* ---- reading; results live in the caller's arena ---- */
struct run_query {
	const char *job_name; /* NULL = all */
	const char *run_id;   /* NULL = any */
	bool open_only;       /* running ones only */
	bool successful_only;
	/* Include statistics of open runs. Slow: 0.1 s for a run of a day at a sample a second. */
	bool open_stats;
	size_t limit; /* 0 = all */
};
/* Newest first. */
int history_runs(struct history *h, const struct run_query *q, struct arena *arena,
	struct runs *ret, struct err *e);

/* Differs when a run of the job began, ended, was corrected or removed. */
struct job_mark {
	uint64_t runs, running, succeeded;
	double ids, ended; /* sums */
};
bool history_job_mark_same(const struct job_mark *a, const struct job_mark *b);
/* Covers runs that started at or after since (seconds since 1970 UTC). Unknown job: all 0. */
int history_job_mark(struct history *h, const char *job_name, double since, struct job_mark *ret,
	struct err *e);

struct job_row {
	const char *job_name;
	uint64_t runs;                    /* ever, removed ones included */
	uint64_t outcomes[OUTCOME_COUNT]; /* ended runs ever, by outcome; [RUNNING] = open now */
	double last_started_at;
	double last_ended_at; /* end of the ended run that began last; NaN = none */
	enum outcome last_outcome;
};
/* Newest activity first. */
int history_jobs(struct history *h, struct arena *arena, struct job_row **ret, size_t *ret_n,
	struct err *e);

/* The few values of a run that an overview shows. NaN and NULL = unknown. */
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
	uint64_t runs; /* ever */
	size_t n;      /* at least one */
	struct run_brief *run;
};
/* The newest runs of every job, newest first. Jobs are sorted by their newest run. */
int history_overview(struct history *h, size_t runs, struct arena *arena, struct job_brief **ret,
	size_t *ret_n, struct err *e);

/*
 * The samples of a run in the order they were taken; at may go back when the clock was set back.
 * columns: names, NULL-terminated, or NULL for all columns of the file; a column that the file lacks
 * is all unknown. A thinned bucket is one sample: its means, growth and highest marks. -ENOENT: no
 * such run; n = 0: its samples were removed.
 *
 * Returns at most HISTORY_SERIES_MAX samples. In a longer run, neighbours are merged as in a bucket,
 * except the newest ones. The same holds for statistics: sums, means and high-water marks stay
 * exact, lowest and highest values come closer to the mean.
 */
#define HISTORY_SERIES_MAX (1u << 17)
int history_series(struct history *h, const char *run_id, const char *const *columns,
	struct arena *arena, struct series *ret, struct err *e);

/*
 * history_series for the samples after *position (0 at first), at most limit of them (0 = all).
 * Moves *position to the last sample read. 1 = more may come: the run is open, or limit was reached.
 */
int history_series_after(struct history *h, const char *run_id, int64_t *position, size_t limit,
	const char *const *columns, struct arena *arena, struct series *ret, struct err *e);

/* Open runs and their root processes. */
struct open_run {
	const char *run_id, *job_name;
	int64_t id; /* in this file */
	double started_at, interval_seconds;
	double last_sample_at; /* started_at when there is none */
	struct run_root root;
	pid_t owner_pid;
	uint64_t owner_start_ticks;
};
int history_open_runs(struct history *h, struct arena *arena, struct open_run **ret, size_t *ret_n,
	struct err *e);

/*
 * SQLite calls over regularly during every read of this handle, even within one statement. When over
 * returns true, the read fails with a negative errno.
 */
void history_give_up_when(struct history *h, bool (*over)(void));

/* Begins a read transaction: all reads until history_close see the file as the first one does. */
int history_hold(struct history *h, struct err *e);

/*
 * Changes when another connection commits; cheap to poll (PRAGMA data_version). Or a negative errno;
 * -ESTALE: the file was deleted or replaced.
 */
int64_t history_version(struct history *h);

/* Grows when a run begins, ends or is corrected, not with samples. Or a negative errno. */
int64_t history_activity(struct history *h);

#endif
