/* The state of the sampler, shared by its loop (sampler.c) and the requests of other threads
 * (requests.c). */
#ifndef EXPORTER_SAMPLING_SAMPLER_STATE_H
#define EXPORTER_SAMPLING_SAMPLER_STATE_H

#include <pthread.h>

#include "collectors/base/latest.h"
#include "collectors/host.h"
#include "exporter/history/sample_rows.h"
#include "exporter/sampling/sampler.h"

/* A request from another thread to the sampler thread. Each kind of request is a struct that begins
 * with this struct. sampler.lock guards the members. */
struct sampler_request {
	struct sampler_request *next;
	void (*function)(struct sampler *s, struct sampler_request *r);
	bool begun, done;
	/* only for sampler_find: true = the caller's function has returned; the tick after it may
	 * still hang */
	bool function_returned;
	/* true = the rest of the work cannot hang, so the caller waits for it without a timeout */
	bool is_certain;
	bool abandoned; /* the caller gave up; the sampler thread frees the request */
};

/* The purpose of a tick. A later one in this list is more urgent. */
enum tick_purpose {
	FOR_NOTHING,
	FOR_SCRAPE, /* read all collectors, and the runs if their values are too old */
	FOR_ROW,    /* read the runs, and the machine values that the history keeps */
	FOR_EVENT,  /* as FOR_ROW, because a run began or ended; the next scrape must show this */
	/* as FOR_EVENT, after a run ended; taken even if the CPU time limit is nearly used up */
	FOR_END,
};

struct snapshot_age {
	/* true = there is a snapshot, and no event since, such as the end of a run, has made it
	 * obsolete */
	bool any;
	struct mono at, ended; /* time of the snapshot's readings; end of its tick */
};

struct sampler {
	struct app *app;
	struct host host;
	struct enabled_collectors *enabled;
	struct snapshot_pool *pool;
	/* The newest snapshot with the runs, and the newest snapshot with all collectors. */
	struct latest runs_now, all_now;
	struct sample_rows *sample_rows;
	struct finder *finder; /* NULL = this process does not search for runs */
	struct mono next_row;
	uint64_t samples_missed;
	uint64_t rows;       /* number of history rows since the start */
	double cpu_limit;    /* RLIMIT_CPU in seconds; INFINITY = no limit */
	double look_seconds; /* CPU time of the latest tick that wrote history rows */
	bool is_rare;        /* true = it was logged that samples are rarer */
	bool said_rights;    /* true = it was logged that rights are missing (rights_note) */

	int wake; /* eventfd that is written when a member below has changed */
	pthread_t thread;
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t ticked;
	bool stop;
	enum tick_purpose want, doing; /* purpose of the next tick and of the current tick */
	struct sampler_request *requests;
	bool silent; /* a request timed out; cleared when a tick or a request finishes */
	uint64_t scraped_generation;
	struct mono tick_ended; /* end of the last tick; 0 = no tick yet */
	struct snapshot_age runs, all;
};

/* Returns true when there is no snapshot, or when it is too old: over `max_age_seconds`, or over
 * the longer time that SAMPLER_TICKS_APART allows after a slow tick. */
bool sampler_is_stale(const struct snapshot_age *t, struct mono now, double max_age_seconds);

/* Wakes the thread, which then checks `want` and `requests`. Any thread. */
void sampler_wake(struct sampler *s);

/* ---- on the sampler thread ---- */

/* Takes a snapshot, which stays valid until the next tick. */
const struct snapshot *sampler_tick(struct sampler *s, enum tick_purpose purpose);

/* Returns how many sample intervals to wait until the next row. INFINITY = write no more rows,
 * because the CPU time limit is nearly used up. Ticks then do not read the runs, and repeat their
 * latest values. */
double sampler_slowdown(const struct sampler *s);

/* Share of the CPU time limit (RLIMIT_CPU) that samples may use. The limit of a batch job also
 * applies to the wrapper, and the kernel kills a process that exceeds it. The rest of the limit is
 * kept for the end of the run and for writing the history.
 *
 * Samples come at the usual interval until half of the share is used. After that they come more and
 * more rarely, so that the share lasts for a job of any length. */
#define CPU_LIMIT_SHARE 0.8
/* Maximum number of sample intervals between two rows. */
#define CPU_LIMIT_STRETCH_MAX 1000

/* Returns how many sample intervals to wait until the next sample, at least 1. INFINITY = take no
 * more samples, because the rest of the limit is needed for the end of the run. The arguments are
 * seconds of CPU time: the limit, the time used so far, and the time of the latest sample
 * (`look`). */
double cpu_limit_slowdown(double limit, double used, double look);

/* Logs a warning once if some processes of a job cannot be read completely
 * (rightsize_job_unreadable_processes). The warning names the rights that this program lacks, or
 * tells why its rights are not enough. `*logged`: true = the warning was logged; set by this
 * function. */
void rights_note(bool *logged, const struct snapshot *s);

/* Passes the rows of one run to the historian; run_id NULL = the rows of all runs. */
void sampler_write_rows(struct sampler *s, const struct snapshot *snapshot, const char *run_id);

#endif
