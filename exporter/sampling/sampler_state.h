/* The state of the sampling thread: the loop (sampler.c), and what other threads ask of it (requests.c), have it in common. */
#ifndef EXPORTER_SAMPLING_SAMPLER_STATE_H
#define EXPORTER_SAMPLING_SAMPLER_STATE_H

#include <pthread.h>

#include "collectors/base/latest.h"
#include "collectors/host.h"
#include "exporter/history/sample_rows.h"
#include "exporter/sampling/sampler.h"

/* What another thread wants done on this one; what it needs lies behind it. Guarded by the sampler's lock. */
struct sampler_request {
	struct sampler_request *next;
	void (*function)(struct sampler *s, struct sampler_request *r);
	bool begun, done;
	bool function_returned; /* the function that was asked for has returned; the rest may hang */
	bool is_certain;        /* what is left of it cannot hang, and is waited for */
	bool abandoned;         /* nobody waits for it any more: freed when it is done */
};

/* What a tick is for, the most urgent last. */
enum tick_purpose {
	FOR_NOTHING,
	FOR_SCRAPE, /* all collectors, and the runs if they were looked at too long ago */
	FOR_ROW,    /* the runs, and what the history keeps of the machine */
	FOR_EVENT,  /* the same, because of something that a scrape should tell at once */
	FOR_END,    /* the same, with what a run that was concluded came to: never put off */
};

/* When what is published was taken. */
struct snapshot_age {
	bool any;
	struct mono at, ended;
};

struct sampler {
	struct app *app;
	struct host host;
	struct enabled_collectors *enabled;
	struct snapshot_pool *pool;
	struct latest runs_now, all_now; /* of the latest look at the runs, and of all collectors */
	struct sample_rows *sample_rows;
	struct finder *finder; /* NULL: runs are not looked for */
	struct mono next_row;
	uint64_t samples_missed;
	uint64_t rows;       /* asked for */
	double cpu_limit;    /* of what looks may cost, in seconds; INFINITY: none */
	double look_seconds; /* CPU time of the latest look for a row */
	bool is_rare;        /* looks are, which was said */
	bool said_rights;    /* by rights_note */

	int wake; /* eventfd: something below changed */
	pthread_t thread;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t ticked;
	bool stop;
	enum tick_purpose want, doing; /* of the next tick, and of the one that goes on */
	struct sampler_request *requests;
	bool silent; /* somebody gave up waiting, and nothing was done since */
	uint64_t scraped_generation;
	struct mono tick_ended; /* 0 = there was none */
	struct snapshot_age runs, all;
};

/* Is it max_age_seconds old, and for longer than it takes to do it again some times? Or was it never taken? */
bool sampler_is_stale(const struct snapshot_age *t, struct mono now, double max_age_seconds);

/* Makes the thread see what it is wanted for. Any thread. */
void sampler_wake(struct sampler *s);

/* ---- on the sampler's own thread ---- */

/* A snapshot of now, which stays valid until the next tick. */
const struct snapshot *sampler_tick(struct sampler *s, enum tick_purpose purpose);

/* Intervals from now to the next row; INFINITY: there are no looks any more, and ticks tell what the latest found. */
double sampler_slowdown(const struct sampler *s);

/*
 * The kernel ends a process that used too much CPU time (RLIMIT_CPU). A wrapper that is killed leaves its job unwatched,
 * and the CPU limit of a batch job would kill every wrapper that watches for long enough. Until half of CPU_LIMIT_SHARE
 * of the limit is used, looks come at the usual interval; from then on ever more rarely, so that the share lasts however
 * long the job does. The rest of the limit is for the end and for the history.
 */
#define CPU_LIMIT_SHARE 0.8
/* Most intervals that a row is put off by. */
#define CPU_LIMIT_STRETCH_MAX 1000

/*
 * Intervals from one look to the next, at least 1, when so many seconds were used; INFINITY: no more looks, because the
 * share is used, or because another look as long as the latest would leave too little for the end.
 */
double cpu_limit_slowdown(double limit, double used, double look);

/*
 * Logs once which right is missing, when some processes of jobs may not be read whole. Their number at any time is
 * rightsize_job_unreadable_processes.
 */
void rights_note(bool *logged, const struct snapshot *s);

/* Hands the rows of that run, NULL = of all, to the historian. */
void sampler_write_rows(struct sampler *s, const struct snapshot *snapshot, const char *run_id);

#endif
