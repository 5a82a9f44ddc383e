/* The state of the sampler, for its loop (sampler.c) and requests of other threads (requests.c). */
#ifndef EXPORTER_SAMPLING_SAMPLER_STATE_H
#define EXPORTER_SAMPLING_SAMPLER_STATE_H

#include <pthread.h>

#include "collectors/base/latest.h"
#include "collectors/host.h"
#include "exporter/history/sample_rows.h"
#include "exporter/sampling/sampler.h"

/* First member of each kind of request from another thread. Guarded by the sampler's lock. */
struct sampler_request {
	struct sampler_request *next;
	void (*function)(struct sampler *s, struct sampler_request *r);
	bool begun, done;
	bool function_returned; /* sampler_find: the callback has returned; the tick may hang */
	bool is_certain;        /* the rest cannot hang, so the caller waits for it */
	bool abandoned;         /* the caller gave up: the sampler thread frees it */
};

/* Why a tick is taken, the most urgent last. */
enum tick_purpose {
	FOR_NOTHING,
	FOR_SCRAPE, /* all collectors, and the runs when their values are stale */
	FOR_ROW,    /* the runs, and the machine values that the history keeps */
	FOR_EVENT,  /* the same, after a change that a scrape should show at once */
	FOR_END,    /* the same, after a run was concluded: read whatever it costs */
};

struct snapshot_age {
	bool any; /* a snapshot exists and is not outdated by an event */
	struct mono at, ended;
};

struct sampler {
	struct app *app;
	struct host host;
	struct enabled_collectors *enabled;
	struct snapshot_pool *pool;
	struct latest runs_now, all_now; /* snapshots with the newest runs, and of all collectors */
	struct sample_rows *sample_rows;
	struct finder *finder; /* NULL: runs are not searched for */
	struct mono next_row;
	uint64_t samples_missed;
	uint64_t rows;       /* taken since the start */
	double cpu_limit;    /* RLIMIT_CPU in seconds; INFINITY: none */
	double look_seconds; /* CPU time of the latest tick for a row */
	bool is_rare;        /* the log said that samples are rarer */
	bool said_rights;    /* the log said that rights are missing */

	int wake; /* eventfd: something below changed */
	pthread_t thread;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t ticked;
	bool stop;
	enum tick_purpose want, doing; /* next tick, current tick */
	struct sampler_request *requests;
	bool silent; /* a request gave up, and the thread did nothing since */
	uint64_t scraped_generation;
	struct mono tick_ended; /* 0 = there was none */
	struct snapshot_age runs, all;
};

/* True: t has no snapshot, or an older one (slow ticks: see SAMPLER_TICKS_APART). */
bool sampler_is_stale(const struct snapshot_age *t, struct mono now, double max_age_seconds);

/* Wakes the thread to look at want and requests. Any thread. */
void sampler_wake(struct sampler *s);

/* ---- on the sampler's own thread ---- */

/* A snapshot of now, which stays valid until the next tick. */
const struct snapshot *sampler_tick(struct sampler *s, enum tick_purpose purpose);

/* Intervals from now to the next row. INFINITY: runs are read no more, ticks repeat them. */
double sampler_slowdown(const struct sampler *s);

/*
 * The kernel kills a process that exceeds its CPU time limit (RLIMIT_CPU), and the limit of a batch
 * job also counts for the wrapper. Samples come at the usual interval until half of CPU_LIMIT_SHARE
 * of the limit is used. From then on they come more and more rarely, so that the share lasts
 * however long the job runs. The rest is kept for the end of the run and for the history.
 */
#define CPU_LIMIT_SHARE 0.8
/* Intervals by which a row is postponed at most. */
#define CPU_LIMIT_STRETCH_MAX 1000

/*
 * Returns the intervals from one sample to the next, at least 1. limit, used, look: CPU seconds
 * allowed, used so far, and of the latest sample. INFINITY: take none, because the share is used or
 * another sample would leave too little for the end.
 */
double cpu_limit_slowdown(double limit, double used, double look);

/*
 * Logs once which rights are missing when some processes of jobs cannot be read completely.
 * rightsize_job_unreadable_processes counts them.
 */
void rights_note(bool *logged, const struct snapshot *s);

/* Hands the rows of one run, or of all when run_id is NULL, to the historian. */
void sampler_write_rows(struct sampler *s, const struct snapshot *snapshot, const char *run_id);

#endif
