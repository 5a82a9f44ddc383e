/*
 * The rolling history of runs in one SQLite file: jobs, runs, samples.
 *
 * A handle belongs to one thread. Several handles and several processes may use one file (a sidecar
 * and a wrapper): WAL, a busy timeout, short transactions. Readers never block the writer.
 *
 * The columns of the sample table are the history columns of all collectors (struct metric.column);
 * a column the file lacks is added when it is opened for writing.
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
 * At the start of the program, before anything of SQLite is used: from then on it takes memory in few sizes, and tells
 * whether a file was not closed properly.
 */
void history_setup(void);

enum history_mode {
	/* Changes nothing; -ENOENT when there is no file, or nothing in it yet, -ENOTSUP when its schema is older. */
	HISTORY_READ,
	HISTORY_WRITE, /* creates, migrates, sets a corrupt file aside (see below) */
};

/*
 * path ":memory:" lives as long as a handle of this process has it open, and is shared by all of
 * them (SQLite's memdb VFS, "file:/rightsize?vfs=memdb").
 *
 * Opening for writing, a file that is not a database, or is found to be corrupt, is renamed to
 * "PATH.corrupt-YYYYMMDDTHHMMSSZ" (with -wal and -shm), told in *notice, and a fresh one is
 * started. A file of up to 32 MiB that was not closed properly, and that nobody else uses, is checked whole (some 50 ms);
 * damage in a larger one shows when it is used, as -EBADMSG: see history_set_aside. A schema newer
 * than this program, or a database of another program, is -ENOTSUP and left alone. notice may be
 * NULL; columns may be NULL for reading.
 *
 * Codes that callers tell apart, from every call: -EBADMSG = corrupt, -EBUSY = locked by another
 * for over 2 s, -ENOSPC, -EROFS and -EACCES as for any file, -ESTALE = the file was deleted or
 * replaced: open it again.
 */
int history_open(struct history **ret, const char *path, enum history_mode mode,
	const struct columns *columns, struct err *notice, struct err *e);
void history_close(struct history *h);
void history_closep(struct history **h); /* for AUTO */

/* Reads the whole file and checks its structure: -EBADMSG with a sentence. */
int history_check(struct history *h, struct err *e);

/*
 * For -EBADMSG: closes the handle without writing and renames the file as history_open does, unless
 * another exporter already did. notice is set when a file was set aside. The handle is gone also on
 * failure.
 */
int history_set_aside(struct history *take, const char *why, struct err *notice, struct err *e);

uint64_t history_bytes(struct history *h); /* on disk, with the -wal; of ":memory:", in memory */

struct run_begin {
	const char *run_id, *job_name, *host;
	double started_at, interval_seconds;
	struct run_root root;
	double requested_cpu_cores, requested_memory_bytes, memory_limit_bytes, input_bytes,
		attempt;
	const char *system, *system_run, *labels; /* see struct run */
	struct run_server server;
	/* Of the exporter that records the run: when it is gone, the run is interrupted. */
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
	const char *cpu_level;    /* of that architecture: collectors/followed/run_binary.h */
	struct run_server server;
	double cpu_missed_seconds; /* that the CPU time may lack at most; NaN = not known */
	bool killed;               /* a process of it ended by SIGKILL: for the verdict, not kept */
};

struct sample {
	char run_id[RUN_ID_MAX];
	double at;       /* end of the interval, seconds since 1970 UTC */
	double duration; /* its length; 0 = a correction at the same instant (recommender/run.h) */
	double *value;   /* one per column; NaN = unknown = NULL in the file */
};

/* ---- writing: within a transaction of the caller; 0 or negative errno with a sentence ---- */
int history_transaction(struct history *h, struct err *e);
int history_commit(struct history *h, struct err *e); /* rolls back when it fails */
void history_rollback(struct history *h);
/*
 * The end of a transaction in which code was returned: committed, or rolled back when code is negative or the commit
 * fails. Returns code, or why it was not committed.
 */
int history_end(struct history *h, int code, struct err *e);

/* Of a run that is already known and open, only who records it changes; an ended one is left as it is (0). */
int history_run_begin(struct history *h, const struct run_begin *b, struct err *e);

/* -ENXIO: of an unknown run; -EINVAL: time or duration unknown. Those before it were written. */
int history_samples(struct history *h, const struct sample *samples, size_t n, struct err *e);

/*
 * Ends a run: computes its statistics from its samples, keeps them, counts the outcome for its job.
 * A duration of NaN stands for the sum over its samples. A run that is unknown or already ended is
 * left as it is (0), but one that was only taken for interrupted is corrected.
 */
int history_run_finish(struct history *h, const struct run_finish *f, struct err *e);

/*
 * An ended run that another exporter recorded and handed on, with its statistics but without samples. One
 * that is known already is left as it is (0), but one that was only taken for interrupted is corrected; 1:
 * it was new, or is corrected.
 */
int history_run_add(struct history *h, const struct run *r, struct err *e);

/*
 * Which ended runs were not handed on to another exporter yet: the one that ended first comes first. The
 * limits of the history hold for them, too; a run that is corrected is to be handed on again.
 */
int history_unforwarded(struct history *h, size_t limit, struct arena *arena, const char ***ret,
	size_t *ret_n, struct err *e);
int history_count_unforwarded(struct history *h, uint64_t *ret, struct err *e);
/* outcome: with which it was handed on; one that was corrected meanwhile goes on waiting. */
int history_run_forwarded(struct history *h, const char *run_id, enum outcome outcome, double at,
	struct err *e);

/* When the exporter that records an open run is taken for gone. */
struct orphan_rule {
	double now, stale_seconds;
	const struct run_root *here; /* this machine: boot_id and pid_namespace */
	bool (*alive)(void *context, pid_t pid, uint64_t start_ticks);
	void *context;
	/* This exporter ends for good: its runs end with it, whoever lives. 0 = none does. */
	pid_t leaving_pid;
	uint64_t leaving_start_ticks;
};

/*
 * Marks open runs whose owner is gone (other boot, or no process with that pid and start time in
 * this PID namespace) as interrupted, ended at their last sample. alive answers for this machine. A
 * run that no wrapper records stays open while its root lives: the next exporter continues it.
 * Runs of another PID namespace, or whose place is unknown, are left alone until their last sample
 * is older than stale_seconds and three of their intervals. Closes a few at a time: 1 = call again,
 * in a new transaction.
 */
int history_close_orphans(struct history *h, const struct orphan_rule *rule, struct err *e);

/*
 * What time it is where the age of what is in the file decides: age_clock.h, with what was agreed on kept in the file.
 * The caller has no transaction.
 */
int history_clock(struct history *h, struct now now, const char *boot_id, double *ret,
	struct err *e);

enum history_limit { /* bits */
	LIMIT_RUNS_PER_JOB = 1,
	LIMIT_RETENTION = 2,
	LIMIT_MAX_BYTES = 4,
	LIMIT_FULL_RATE = 8,
};

/*
 * 0 = no limit. Of those who share a file each enforces limits, and runs that another one is to hand on must not go by
 * them: whoever hands runs on, and whoever serves with his limits, is noted in the file, and believed for 30 days.
 */
struct history_limits {
	size_t runs_per_job;      /* ended runs of a job, oldest first */
	double retention_seconds; /* ended runs, by their end */
	uint64_t max_bytes;       /* of the file, whatever the names: below */
	double full_rate_seconds; /* older samples become minutes, 30 times older ones hours */
	/* Ended runs that wait to be handed on go for max_bytes only; noted, and then so for all. */
	bool keep_unforwarded;
	/* enum history_limit: nobody chose these, and those of who serves hold instead. */
	unsigned defaults;
	bool serves; /* we do: these are noted */
};

/*
 * Enforces the limits. Never touches an open run (but thins its samples); the newest ended run of a job
 * goes only for max_bytes, and last: samples of the oldest runs go first, then the runs, then samples of the
 * newest runs and of open ones, then runs that wait to be handed on, and at last the newest runs, those of all jobs that
 * began first. A job that has
 * no run any more is forgotten, with its counts. An open run also has at most its newest 100,000 samples at
 * full rate.
 *
 * Does one bounded step in transactions of its own (the caller has none): 1 = there may be more to
 * do.
 */
int history_prune(struct history *h, const struct history_limits *l, double now, struct err *e);

/* What ever went from the file for max_bytes and is missed, whoever removed it. */
struct history_losses {
	uint64_t jobs; /* forgotten, with their counts */
	uint64_t runs; /* waited to be handed on, and were not */
};
int history_losses(struct history *h, struct history_losses *ret, struct err *e);

/* ---- reading; results live in the caller's arena ---- */
struct run_query {
	const char *job_name; /* NULL = all */
	const char *run_id;   /* NULL = any */
	bool open_only;       /* running ones only */
	bool successful_only;
	/*
	 * Statistics of open runs so far. They are computed from the samples at each call (some 0.1
	 * s for a run of a day at one a second), so an open run has none unless asked for.
	 */
	bool open_stats;
	size_t limit; /* 0 = all */
};
/* Newest first. */
int history_runs(struct history *h, const struct run_query *q, struct arena *arena,
	struct runs *ret, struct err *e);

/* What changes when one of a job's runs begins, ends, is corrected or removed. */
struct job_mark {
	uint64_t runs, running, succeeded;
	double ids, ended; /* sums */
};
bool history_job_mark_same(const struct job_mark *a, const struct job_mark *b);
/* Of the runs that started at since (seconds since 1970 UTC) or later; all 0 of an unknown job. */
int history_job_mark(struct history *h, const char *job_name, double since, struct job_mark *ret,
	struct err *e);

struct job_row {
	const char *job_name;
	uint64_t runs;                    /* ever, pruned ones included */
	uint64_t outcomes[OUTCOME_COUNT]; /* ended runs ever, by outcome; [RUNNING] = open now */
	double last_started_at;
	double last_ended_at; /* of those that ended the one that began last; NaN = none is known */
	enum outcome last_outcome;
};
/* Newest activity first. */
int history_jobs(struct history *h, struct arena *arena, struct job_row **ret, size_t *ret_n,
	struct err *e);

/* A run in a line; NaN = unknown, and so is a text that is NULL. */
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
/* The newest so many runs of every job, newest first; jobs by newest activity. */
int history_overview(struct history *h, size_t runs, struct arena *arena, struct job_brief **ret,
	size_t *ret_n, struct err *e);

/*
 * The samples of a run in the order they were taken; at may step back where the clock did. columns:
 * names, NULL-terminated (one that the file lacks is all unknown), or NULL for all that the file
 * has. A thinned bucket is one sample: the means over it, its growth, its highest marks. -ENOENT:
 * no such run; n = 0: its samples were pruned.
 *
 * At most HISTORY_SERIES_MAX: of a run with more, which has gone on for weeks or was written by somebody else,
 * neighbours are joined as in a bucket, so many that it suffices; the newest are as they were taken. So are they
 * for statistics: sums, means and high-water marks stay as they are, lowest and highest values come closer to the mean.
 */
#define HISTORY_SERIES_MAX (1u << 17)
int history_series(struct history *h, const char *run_id, const char *const *columns,
	struct arena *arena, struct series *ret, struct err *e);

/*
 * The same behind *position, which is 0 at first and is moved to the last sample that was read: at
 * most limit samples (0 = all). 1 = more may come, because the run goes on or the limit was met.
 */
int history_series_after(struct history *h, const char *run_id, int64_t *position, size_t limit,
	const char *const *columns, struct arena *arena, struct series *ret, struct err *e);

/* Open runs with where they are rooted, for an exporter that follows runs which others record. */
struct open_run {
	const char *run_id, *job_name;
	int64_t id; /* in this file */
	double started_at;
	double last_sample_at; /* started_at when there is none */
	struct run_root root;
	pid_t owner_pid;
	uint64_t owner_start_ticks;
};
int history_open_runs(struct history *h, struct arena *arena, struct open_run **ret, size_t *ret_n,
	struct err *e);

/*
 * What is read by this handle from now on is given up, with a negative errno, once over says so: it is asked every now and
 * then, also within one question of another.
 */
void history_give_up_when(struct history *h, bool (*over)(void));

/* What is read from now on, until it is closed, is as the file was at the first reading. */
int history_hold(struct history *h, struct err *e);

/*
 * Changes whenever another connection committed: cheap to poll (PRAGMA data_version). Negative
 * errno when it cannot be told; -ESTALE: the file was deleted or replaced.
 */
int64_t history_version(struct history *h);

/* Grows whenever a run begins, ends, or turns out to have ended otherwise; negative errno. Samples do not matter. */
int64_t history_activity(struct history *h);

#endif
