/*
 * The rolling history of runs in one SQLite file: jobs, runs, samples.
 *
 * A handle belongs to one thread. Several handles and several processes may use one file (a sidecar
 * and a wrapper): WAL, a busy timeout, short transactions. Readers never block the writer.
 *
 * The columns of the sample table are the history columns of all collectors (struct metric.column); a
 * column the file lacks is added when it is opened for writing.
 */
#ifndef EXPORTER_HISTORY_H
#define EXPORTER_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/err.h"
#include "collectors/base/mem.h"
#include "collectors/metric.h"
#include "collectors/runs.h"
#include "recommender/run.h"

struct history;

/* The history's columns, in the order of struct sample.value. Built once at start; never changes. */
struct columns {
	size_t n;
	const struct metric **metric; /* ->column, ->fold, ->unit */
};
void columns_build(struct columns *ret); /* run_metrics first, then all_collectors in order */
void columns_done(struct columns *c);

enum history_mode {
	HISTORY_READ,  /* -ENOENT when there is no file; never writes, nor creates */
	HISTORY_WRITE, /* creates, migrates, sets a corrupt file aside (see below) */
};

/*
 * path ":memory:" lives as long as a handle of this process has it open, and is shared by all of them
 * (SQLite's memdb VFS, "file:/rightsize?vfs=memdb").
 *
 * A file that is not a database, fails its quick check, or is corrupt is renamed to
 * "PATH.corrupt-YYYYMMDDTHHMMSSZ" (with -wal and -shm), told in *notice, and a fresh one is started. A
 * schema newer than this program is -ENOTSUP and left alone. notice may be NULL.
 */
int history_open(struct history **ret, const char *path, enum history_mode mode,
	const struct columns *columns, struct err *notice, struct err *e);
void history_close(struct history *h);

/* Where a run is rooted on this machine: lets another exporter follow it, and find that it is gone. */
struct run_root {
	pid_t pid;            /* of the job's first process */
	uint64_t start_ticks; /* field 22 of /proc/PID/stat */
	pid_t reaper_pid;     /* the wrapper, whose other children are orphans of the job; 0 = none */
	uint64_t reaper_start_ticks;
	uint64_t pid_namespace; /* inode of /proc/self/ns/pid; 0 = unknown */
	char boot_id[40];       /* /proc/sys/kernel/random/boot_id, "" = unknown */
};

struct run_begin {
	const char *run_id, *job_name, *host;
	double started_at, interval_seconds;
	struct run_root root;
	double requested_cpu_cores, requested_memory_bytes, memory_limit_bytes, input_bytes, attempt;
	/* pid and start time of the exporter that records the run: when it is gone, the run is interrupted. */
	pid_t owner_pid;
	uint64_t owner_start_ticks;
};

struct run_finish {
	const char *run_id;
	double ended_at, duration_seconds;
	enum outcome outcome;
	double exit_code, exit_signal;
	const char *cpu_source, *memory_source;
};

struct sample {
	char run_id[RUN_ID_MAX];
	double at, duration; /* end of the interval (Unix time), its length */
	double *value;       /* one per column; NaN = unknown = NULL in the file */
};

/* ---- writing: all within a transaction of the caller; 0 or negative errno with a sentence ---- */
int history_transaction(struct history *h, struct err *e);
int history_commit(struct history *h, struct err *e); /* rolls back when it fails */
void history_rollback(struct history *h);

int history_run_begin(struct history *h, const struct run_begin *b, struct err *e);
int history_samples(struct history *h, const struct sample *samples, size_t n, struct err *e);
/*
 * Ends a run: computes its statistics from its samples, keeps them, counts the outcome for its job.
 * A run that is unknown or already ended is left as it is (0).
 */
int history_run_finish(struct history *h, const struct run_finish *f, struct err *e);

/*
 * Marks open runs whose owner is gone (other boot, or no process with that pid and start time in this PID
 * namespace) as interrupted, ended at their last sample. alive answers for this machine. Runs of another
 * host or PID namespace are left alone until their last sample is older than stale_seconds.
 */
int history_close_orphans(struct history *h, double now, double stale_seconds,
	const struct run_root *here,
	bool (*alive)(void *context, pid_t pid, uint64_t start_ticks), void *context, struct err *e);

/* 0 = no limit. Enforced oldest first: samples before summaries, never the newest run of a job. */
struct history_limits {
	size_t runs_per_job;
	double retention_seconds;
	uint64_t max_bytes;
	double full_rate_seconds; /* samples of ended runs older than this are thinned */
};
int history_prune(struct history *h, const struct history_limits *l, double now, struct err *e);

/* ---- reading; results live in the caller's arena ---- */
struct run_query {
	const char *job_name; /* NULL = all */
	const char *run_id;   /* NULL = any */
	bool open_only;       /* running ones only */
	bool successful_only;
	size_t limit;         /* 0 = all */
};
int history_runs(struct history *h, const struct run_query *q, struct arena *arena,
	struct runs *ret, struct err *e);

struct job_row {
	const char *job_name;
	uint64_t runs;                   /* ever, pruned ones included */
	uint64_t outcomes[OUTCOME_COUNT]; /* ended runs ever, by outcome; [RUNNING] = open now */
	double last_started_at;
	enum outcome last_outcome;
};
/* Newest activity first. */
int history_jobs(struct history *h, struct arena *arena, struct job_row **ret, size_t *ret_n,
	struct err *e);

/* The samples of a run in time order. Thinned rows come as their means. -ENOENT: no such run. */
int history_series(struct history *h, const char *run_id, struct arena *arena, struct series *ret,
	struct err *e);

/* Open runs with where they are rooted, for an exporter that follows runs which others record. */
struct open_run {
	const char *run_id, *job_name;
	double started_at;
	struct run_root root;
	pid_t owner_pid;
};
int history_open_runs(struct history *h, struct arena *arena, struct open_run **ret, size_t *ret_n,
	struct err *e);

/* Changes whenever another connection committed: cheap to poll (PRAGMA data_version). */
int64_t history_version(struct history *h);

#endif
