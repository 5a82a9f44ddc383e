#include "exporter/history/historian.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/thread.h"
#include "exporter/core/loose_thread.h"
#include "exporter/core/paths.h"
#include "exporter/core/signals.h"
#include "exporter/history/batch_writer.h"

/* Maximum number of events in one transaction. Short transactions let other exporters write in
 * between. */
#define BATCH_EVENTS 512

/* The pause after a failure. It doubles with each failure in a row, up to PAUSE_LAST_SECONDS. The
 * first pause is short, because the usual failure is that another process locks the file for a
 * moment. */
#define PAUSE_FIRST_SECONDS 0.1
#define PAUSE_LAST_SECONDS  5.0

/* After a step of upkeep, the thread waits for UPKEEP_REST times the duration of the step.
 * Meanwhile other processes can use the file and the CPU. */
#define UPKEEP_REST 4

/* Default of historian_config.last_upkeep_seconds. */
#define UPKEEP_AT_STOP_SECONDS 0.5

/* Used instead of UPKEEP_REST and HISTORIAN_UPKEEP_SECONDS while historian.near_limit is true. */
#define FULL_REST           1
#define FULL_UPKEEP_SECONDS 1.0

/* While another process has locked the file, the waiting thread sets historian.locked_at every 1 to
 * 20 ms. If locked_at is older than this many seconds, the thread does not wait for the lock. */
#define LOCKED_SECONDS 0.1

/* While the thread opens the file, the disk counts as working only if the thread uses more than
 * this share of a CPU. A thread that only waits, because another process has locked the file, uses
 * about 0.01 of a CPU. */
#define OPENING_SHARE 0.05

/* Latest deadline, as a time of batch_writer_clock(), about 30 years after boot. It replaces
 * INFINITY, which does not fit into time_t. */
#define LATEST 1e9

/* A call that waits for the historian's thread. The historian's lock guards the members. */
struct historian_call {
	struct historian_call *next;
	int (*function)(struct history *history, void *context, struct err *e);
	void *context;
	struct err e;
	int code;
	bool begun, done;
	bool left; /* the caller stopped waiting; the thread frees the call */
};

struct historian {
	struct historian_config config;
	char *path; /* owns the text of config.path */
	struct loose_thread thread;
	bool loose; /* historian_is_loose */

	pthread_mutex_t lock; /* guards the members up to the next empty line */
	pthread_cond_t wake, progress;
	struct event_queue queue;
	struct historian_call *calls;
	uint64_t handed;        /* number of events queued since the start */
	uint64_t settled;       /* number of events committed, refused or dropped */
	size_t samples_at_hand; /* samples that are being written now */
	bool stop, hurry, gave_up, suspect, ended;
	bool awaited; /* a caller with `hasty` waits until all events are on disk */
	double paused_until, upkeep_at; /* times of batch_writer_clock() */
	/* time of batch_writer_clock() when the last upkeep ended */
	double upkept_at;
	/* `full`: the file is larger than 33/32 of its limit. `near_limit`: it is larger than 31/32
	 * of its limit. See HISTORIAN_FULL_PARTS. */
	bool full, near_limit;
	/* deadlines of historian_stop, as times of batch_writer_clock() */
	double stop_at, upkeep_until;
	double pause;      /* current pause in seconds; 0 = no failure */
	double attempt_at; /* start of the current write; INFINITY = no write */
	double failing_at; /* time of the first failure in a row; INFINITY = none */
	/* last time at which the thread waited for the lock of another process (is_patient) */
	double locked_at;
	/* time at which another process that had locked the file last wrote to it */
	double stuck_at;
	double slowest;     /* longest write so far, in seconds */
	int opened;         /* result of opening the file; -EINPROGRESS = not known yet */
	bool starting;      /* historian_start still waits for the first attempt */
	bool remote;        /* another machine or another program serves the disk */
	struct err failure; /* the last failure */
	struct historian_health health;
	int64_t used_ns; /* CPU time of the thread when silent_seconds was last called */
	double used_at;  /* time when `used_ns` last changed */

	/* Only the historian's thread uses the members below. */
	struct batch_writer writer;
	/* samples_dropped and samples_lost of the queue at the last check */
	uint64_t seen_dropped, seen_lost;
	struct complaint joining, losing;
};

/* Waits until `cond` is signalled or batch_writer_clock() reaches `deadline`. */
static void wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, double deadline)
{
	deadline = fmin(deadline, LATEST);
	struct timespec t = {.tv_sec = (time_t)deadline};

	t.tv_nsec = (long)((deadline - (double)t.tv_sec) * 1e9);
	pthread_cond_timedwait(cond, lock, &t);
}

/* ---- the thread ---- */

struct historian_work {
	struct event_queue batch;
	bool suspect, upkeep; /* the file must be checked; a step of upkeep is due */
	bool last;            /* this is the last upkeep, during stop */
	struct batch_written written;
	uint64_t dropped, lost; /* samples_dropped and samples_lost of the queue */
	double upkeep_seconds;
	uint64_t bytes; /* size of the file after the work; 0 = unknown */
};

static int do_work(struct historian *h, struct historian_work *work, struct err *e)
{
	struct batch_writer *w = &h->writer;
	int code = batch_writer_open(w, e);

	if (code == 0 && work->suspect)
		code = batch_writer_check(w, e);
	if (code == 0 && work->batch.n)
		code = batch_writer_write(w, &work->batch, &work->written, e);
	double start = batch_writer_clock();

	if (code == 0 && work->upkeep)
		code = batch_writer_upkeep(w, e);
	work->upkeep_seconds = batch_writer_clock() - start;
	work->bytes = w->history ? history_bytes(w->history) : 0;
	return code;
}

/* Returns true when events can be written or upkeep is due. Ignores the calls of other threads
 * (struct historian_call). */
static bool has_turn(const struct historian *h, double now)
{
	if (h->hurry || h->suspect)
		return true;
	return now >= h->paused_until && (h->queue.n || now >= h->upkeep_at);
}

static bool has_work(const struct historian *h, double now)
{
	return h->calls || has_turn(h, now);
}

/* Notes the size of the file. If the file is near its limit, the next upkeep begins earlier. The
 * caller holds the lock. */
static void note_size(struct historian *h, uint64_t bytes, double now)
{
	uint64_t most = h->config.limits.max_bytes;

	h->health.bytes_on_disk = bytes;
	h->full = most && bytes > most + most / HISTORIAN_FULL_PARTS;
	h->near_limit = most && bytes > most - most / HISTORIAN_FULL_PARTS;
	if (h->near_limit && h->writer.upkeep == UPKEEP_NONE && h->upkeep_at > now)
		h->upkeep_at = fmin(h->upkeep_at, h->upkept_at + FULL_UPKEEP_SECONDS);
}

static bool may_end(const struct historian *h, double now)
{
	if (h->calls)
		return false;
	if (!h->stop || now < h->stop_at)
		return h->stop && h->queue.n == 0 && now >= h->upkeep_until;
	/* After the deadline, continue while writes succeed: the disk is slow, but works. */
	return h->queue.n == 0 || h->pause > 0;
}

static void wait_for_work(struct historian *h)
{
	double now;

	while (now = batch_writer_clock(), !has_work(h, now) && !may_end(h, now)) {
		double deadline = h->queue.n ? h->paused_until : h->upkeep_at;

		if (deadline < h->paused_until)
			deadline = h->paused_until;
		if (h->stop)
			deadline = fmin(deadline, h->queue.n ? h->stop_at : h->upkeep_until);
		wait_until(&h->wake, &h->lock, deadline);
	}
}

static void take_work(struct historian *h, struct historian_work *work)
{
	double now = batch_writer_clock();

	*work = (struct historian_work){
		.suspect = h->suspect,
		.written.seconds = NAN,
		.dropped = h->queue.samples_dropped,
		.lost = h->queue.samples_lost,
	};
	h->suspect = h->hurry = false;
	event_queue_move(&work->batch, &h->queue, BATCH_EVENTS);
	h->samples_at_hand = work->batch.samples;
	work->upkeep = h->stop ? h->queue.n == 0 && now < h->upkeep_until : now >= h->upkeep_at;
	work->last = work->upkeep && h->stop;
	if (work->upkeep && h->writer.upkeep == UPKEEP_NONE)
		h->writer.upkeep = UPKEEP_ORPHANS;
}

static double next_pause(const struct historian *h, bool failed)
{
	double longer = h->pause > 0 ? h->pause * 2 : PAUSE_FIRST_SECONDS;

	if (!failed)
		return 0;
	return fmin(longer, h->stop || h->awaited ? PAUSE_FIRST_SECONDS : PAUSE_LAST_SECONDS);
}

/* Returns true while the historian's thread waits because another process has locked the file. The
 * caller holds h->lock. */
static bool waits_for_lock(const struct historian *h, double now)
{
	return now - h->locked_at < LOCKED_SECONDS;
}

/* The callback of history_wait_while. Called on the historian's thread while another process has
 * locked the file. Returns false, which ends the wait, when a `hasty` historian has given up. */
static bool is_patient(void *context, double stuck_seconds)
{
	struct historian *h = context;

	pthread_mutex_lock(&h->lock);
	h->locked_at = batch_writer_clock();
	h->stuck_at = h->locked_at - stuck_seconds;
	bool ret = !h->gave_up || !h->config.hasty;

	pthread_mutex_unlock(&h->lock);
	return ret;
}

/* The caller holds the lock. */
static void note_failure(struct historian *h, const struct historian_work *work, bool failed,
	const struct err *e)
{
	double now = batch_writer_clock();
	/* true = many other processes wrote one after the other, so that this thread never got the
	 * lock. The disk works, and the timeout is no failure. */
	bool crowded = failed && e->code == -EBUSY && waits_for_lock(h, now) &&
		       now - h->stuck_at < HISTORIAN_GRACE_SECONDS;

	h->attempt_at = INFINITY;
	if (h->writer.history)
		h->opened = 0;
	h->slowest = fmax(h->slowest, work->written.disk_seconds);
	if (!failed || crowded)
		h->failing_at = INFINITY;
	else
		h->failing_at = fmin(h->failing_at, now);
	if (failed)
		h->failure = *e;
}

/* Call it after a batch was written or upkeep was done. Counts the results, and sets the times of
 * the next write and of the next upkeep. `at_once` true = write a failed batch again without a
 * pause. The caller holds the lock. */
static void note_outcome(struct historian *h, struct historian_work *work, bool failed,
	bool at_once, const struct err *e)
{
	double now = batch_writer_clock();

	h->health.samples_written += work->written.samples;
	h->health.samples_dropped += work->written.refused;
	if (!isnan(work->written.seconds))
		h->health.last_commit_seconds = work->written.seconds;
	h->health.errors += failed;
	h->health.losses = h->writer.losses;
	h->samples_at_hand = 0;
	note_failure(h, work, failed && !at_once, e);
	event_queue_put_back(&h->queue, &work->batch);
	h->pause = next_pause(h, failed && !at_once);
	h->paused_until = now + h->pause;
	if (work->upkeep && h->writer.upkeep == UPKEEP_NONE) {
		h->upkeep_at = now + HISTORIAN_UPKEEP_SECONDS;
		h->upkept_at = now;
	} else if (work->upkeep) {
		h->upkeep_at =
			now + work->upkeep_seconds * (h->near_limit ? FULL_REST : UPKEEP_REST);
	}
	if (work->bytes)
		note_size(h, work->bytes, now);
	/* In historian_stop, upkeep ends at the first failure and does not pause between steps. */
	if (work->last && (failed || h->writer.upkeep == UPKEEP_NONE))
		h->upkeep_until = 0;
	else if (h->stop)
		h->upkeep_at = 0;
	h->settled = h->handed - h->queue.n;
	pthread_cond_broadcast(&h->progress);
}

static void log_dropped(struct historian *h, const struct historian_work *work)
{
	bool dropped = work->dropped > h->seen_dropped, lost = work->lost > h->seen_lost;

	h->seen_dropped = work->dropped;
	h->seen_lost = work->lost;
	if (dropped && log_complaint_due(&h->joining))
		log_line(LOG_LEVEL_WARN,
			"too many samples wait for the history: the oldest of each run are merged, totals stay right",
			NULL);
	if (lost && log_complaint_due(&h->losing))
		log_line(LOG_LEVEL_ERROR,
			"too many runs wait for the history: some samples are lost, totals of their runs are too low",
			NULL);
}

/* Makes the calls of other threads (struct historian_call): at least one, and more until events or
 * upkeep are due. The caller holds the lock, which is released during each call. */
static void run_calls(struct historian *h)
{
	for (bool first = true; h->calls && (first || !has_turn(h, batch_writer_clock()));
		first = false) {
		struct historian_call *c = h->calls;

		h->calls = c->next;
		c->begun = true;
		h->attempt_at = batch_writer_clock();
		pthread_mutex_unlock(&h->lock);
		c->code = batch_writer_do(&h->writer, c->function, c->context, &c->e);
		uint64_t bytes = h->writer.history ? history_bytes(h->writer.history) : 0;

		pthread_mutex_lock(&h->lock);
		if (bytes)
			note_size(h, bytes, batch_writer_clock());
		c->done = true;
		h->attempt_at = INFINITY;
		if (c->left)
			free(c);
		pthread_cond_broadcast(&h->progress);
	}
}

/* Returns true when the thread tries again after the error `code` of opening the file, so that
 * historian_start returns 0: the disk does not answer, the file is locked (only with `hasty`), or
 * the disk is full (only without `hasty`). */
static bool may_open_later(const struct historian *h, int code)
{
	return code == -EINPROGRESS || code == (h->config.hasty ? -EBUSY : -ENOSPC);
}

/* Opens the file for the first time. Returns false if historian_start returns an error, so that the
 * thread must end. The caller holds the lock. */
static bool open_first(struct historian *h)
{
	struct err e = {0};

	h->attempt_at = batch_writer_clock();
	pthread_mutex_unlock(&h->lock);
	int code = batch_writer_open(&h->writer, &e);
	uint64_t bytes = code ? 0 : history_bytes(h->writer.history);
	AUTO(freep) char *resolved = realpath(h->path, NULL);
	bool remote = h->remote || (resolved && path_is_remote(resolved));

	pthread_mutex_lock(&h->lock);
	h->attempt_at = INFINITY;
	h->opened = code;
	h->remote = remote;
	h->health.bytes_on_disk = bytes;
	h->health.losses = h->writer.losses;
	if (code) {
		h->failure = e;
		h->failing_at = batch_writer_clock();
	}
	pthread_cond_broadcast(&h->progress);
	return code == 0 || !h->starting || may_open_later(h, code);
}

/* Does the work until historian_stop. The caller holds the lock. */
static void work_until_stop(struct historian *h)
{
	for (;;) {
		struct historian_work work;
		struct err e = {0};
		bool failed, at_once = false;

		wait_for_work(h);
		run_calls(h);
		if (may_end(h, batch_writer_clock()))
			break;
		if (!has_turn(h, batch_writer_clock()))
			continue;
		take_work(h, &work);
		h->attempt_at = batch_writer_clock();
		pthread_mutex_unlock(&h->lock);
		log_dropped(h, &work);
		failed = do_work(h, &work, &e) < 0;
		if (failed)
			at_once = batch_writer_recover(&h->writer, &e);
		else
			batch_writer_note_success(&h->writer);
		pthread_mutex_lock(&h->lock);
		note_outcome(h, &work, failed, at_once, &e);
	}
}

static void *historian_loop(void *context)
{
	struct historian *h = context;

	pthread_mutex_lock(&h->lock);
	if (open_first(h))
		work_until_stop(h);
	h->attempt_at = batch_writer_clock();
	pthread_mutex_unlock(&h->lock);
	/* Close the file in this thread. Closing may write to the disk, and other threads must
	 * never wait for the disk. */
	batch_writer_done(&h->writer);
	pthread_mutex_lock(&h->lock);
	h->ended = true;
	pthread_cond_broadcast(&h->progress);
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

/* ---- called by other threads ---- */

static void init(struct historian *h, const struct historian_config *c)
{
	h->config = *c;
	h->config.path = h->path = xstrdup(c->path);
	h->queue.max_samples = HISTORIAN_QUEUE_SAMPLES;
	h->queue.max_runs = HISTORIAN_QUEUE_RUNS;
	h->queue.columns = c->columns;
	h->health.last_commit_seconds = NAN;
	h->upkeep_at = c->upkeep_waits ? INFINITY : 0;
	h->attempt_at = h->failing_at = INFINITY;
	h->opened = -EINPROGRESS;
	h->starting = true;
	h->locked_at = -INFINITY;
	batch_writer_init(&h->writer, &h->config);
	h->writer.patient = is_patient;
	h->writer.patient_context = h;
	pthread_mutex_init(&h->lock, NULL);
	thread_cond_init(&h->wake);
	thread_cond_init(&h->progress);
}

static void historian_free(struct historian *h)
{
	batch_writer_done(&h->writer);
	event_queue_done(&h->queue);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->wake);
	pthread_cond_destroy(&h->progress);
	free(h->path);
	free(h);
}

/* Returns how long, in seconds, the thread has waited for the disk without using CPU time; 0 = it
 * does not wait. The caller holds the lock. */
static double silent_seconds(struct historian *h, double now)
{
	int64_t used = loose_thread_cpu_ns(&h->thread);

	if (used != h->used_ns)
		h->used_at = now;
	h->used_ns = used;
	/* `attempt_at` is INFINITY while there is no work. */
	return waits_for_lock(h, now) ? 0 : fmax(now - fmax(h->attempt_at, h->used_at), 0);
}

/* Returns true while historian_start may wait longer for the file to open. The caller holds the
 * lock. */
static bool opens_in_time(struct historian *h, double begun, double now)
{
	if (h->config.hasty)
		return now < begun + HISTORIAN_OPEN_SECONDS;
	return !h->loose || silent_seconds(h, now) <= HISTORIAN_HANG_SECONDS;
}

/* Waits until the file is open or the attempt to open it has failed. Returns 0 after an error that
 * may pass (may_open_later), because the thread tries again. */
static int wait_for_opening(struct historian *h, struct err *e)
{
	pthread_mutex_lock(&h->lock);
	double begun = batch_writer_clock(), now;

	while (now = batch_writer_clock(),
		h->opened == -EINPROGRESS && opens_in_time(h, begun, now))
		wait_until(&h->progress, &h->lock, now + HURRY_SECONDS);
	h->starting = false;
	int code = h->opened;

	if (may_open_later(h, code))
		code = 0;
	if (code && e)
		*e = h->failure;
	pthread_mutex_unlock(&h->lock);
	return code;
}

bool historian_is_loose(const struct historian *h)
{
	return h && h->loose;
}

bool historian_is_opening(struct historian *h)
{
	if (!h)
		return false;
	pthread_mutex_lock(&h->lock);
	bool ret = h->opened == -EINPROGRESS;

	pthread_mutex_unlock(&h->lock);
	return ret;
}

int historian_start(struct historian **ret, const struct historian_config *c, struct err *e)
{
	struct historian *h = xcalloc(1, sizeof *h);

	init(h, c);
	h->remote = path_is_remote(h->path);
	h->loose = h->remote;
	int code = loose_thread_start(&h->thread, h->loose, "historian", historian_loop, h, e);

	if (code == 0 && (code = wait_for_opening(h, e)))
		loose_thread_join(&h->thread);
	if (code)
		historian_free(h);
	else
		*ret = h;
	return code;
}

/* Queues a list of events. Unlocks before it signals `wake`, because the woken thread needs the
 * lock at once. */
static void hand_over(struct historian *h, struct event *take)
{
	pthread_mutex_lock(&h->lock);
	for (struct event *next; take; take = next) {
		next = take->next;
		event_queue_push(&h->queue, take);
		h->handed++;
	}
	pthread_mutex_unlock(&h->lock);
	pthread_cond_signal(&h->wake);
}

void historian_run_begin(struct historian *h, const struct run_begin *b)
{
	hand_over(h, event_queue_new_begin(b));
}

void historian_samples(struct historian *h, const struct sample *samples, size_t n)
{
	struct event *first = NULL, **end = &first;

	for (size_t i = 0; i < n; i++) {
		*end = event_queue_new_sample(&samples[i], h->config.columns->n);
		end = &(*end)->next;
	}
	hand_over(h, first);
}

void historian_run_finish(struct historian *h, const struct run_finish *f)
{
	hand_over(h, event_queue_new_finish(f));
}

void historian_page(struct historian *h, const struct history_page *p)
{
	hand_over(h, event_queue_new_page(p));
}

/* The state of a caller that waits until all events are on disk; see historian_settle. */
struct settling {
	double begun;
	double looked_at; /* time of the last check */
	/* last check that found new CPU time of the thread; -INFINITY = none since `begun` */
	double worked_at;
	int64_t used; /* CPU time of the thread in nanoseconds at the last check */
};

/* The caller holds the lock. */
static double patience(const struct historian *h)
{
	if (!h->config.hasty)
		return HISTORIAN_SERVER_SECONDS;
	return h->opened || h->remote ? HISTORIAN_GRACE_SECONDS : HISTORIAN_HANG_SECONDS;
}

static struct settling settling_begin(const struct historian *h)
{
	double now = batch_writer_clock();

	return (struct settling){.begun = now,
		.looked_at = now,
		.worked_at = -INFINITY,
		.used = loose_thread_cpu_ns(&h->thread)};
}

/* Returns the time at which a wait must give up because the disk does not seem to work; INFINITY =
 * never. Follows the rules of historian_settle (historian.h). The caller holds the lock. */
static double hope_ends(const struct historian *h, struct settling *s, double now)
{
	double slow = h->settled < h->handed ? 2 * h->slowest : 0;
	double least = s->begun + HISTORIAN_GRACE_SECONDS;
	double hang = patience(h);
	int64_t used = loose_thread_cpu_ns(&h->thread);

	double share = h->opened ? OPENING_SHARE : 0;

	if ((double)(used - s->used) > share * NS_PER_S * (now - s->looked_at))
		s->worked_at = now;
	s->used = used;
	s->looked_at = now;
	if (!h->config.hasty && (!h->loose || !isinf(h->failing_at) || waits_for_lock(h, now)))
		return INFINITY;
	if (!isinf(h->failing_at))
		return fmax(least, h->failing_at + HISTORIAN_GRACE_SECONDS);
	if (waits_for_lock(h, now))
		return fmax(s->begun, h->stuck_at) + fmax(HISTORIAN_GRACE_SECONDS, slow);
	return fmax(least, fmax(h->attempt_at, s->worked_at) + fmax(hang, slow));
}

/* Returns true when the first `target` events are settled: committed, refused or dropped. A loose
 * thread must also have finished its current work, which shows that the disk answers. The caller
 * holds the lock. */
static bool is_settled(const struct historian *h, uint64_t target)
{
	return h->settled >= target && !(h->loose && (h->hurry || !isinf(h->attempt_at)));
}

/* Like historian_flush, but a signal in `hurry` ends the wait early. `hurry` may be NULL. */
static bool flush(struct historian *h, double timeout_seconds, const sigset_t *hurry)
{
	pthread_mutex_lock(&h->lock);
	double now = batch_writer_clock(), end;
	double deadline = now + (h->gave_up ? 0 : timeout_seconds);
	struct settling s = settling_begin(h);
	uint64_t target = h->handed;

	h->hurry = true;
	/* With `awaited`, a pause after a failure lasts only PAUSE_FIRST_SECONDS, because a `hasty`
	 * caller does not wait for the end of a longer pause. */
	h->awaited = h->config.hasty;
	pthread_cond_signal(&h->wake);
	while (now = batch_writer_clock(), end = fmin(deadline, hope_ends(h, &s, now)),
		!is_settled(h, target) && now < end && !thread_hurry(hurry))
		wait_until(&h->progress, &h->lock, hurry ? fmin(end, now + HURRY_SECONDS) : end);
	h->awaited = false;
	bool done = is_settled(h, target);

	pthread_mutex_unlock(&h->lock);
	return done;
}

bool historian_flush(struct historian *h, double timeout_seconds)
{
	return flush(h, timeout_seconds, NULL);
}

bool historian_settle(struct historian *h, double timeout_seconds)
{
	sigset_t hurry;

	signals_end(&hurry);
	while (thread_hurry(&hurry))
		;
	bool settled = flush(h, timeout_seconds, &hurry);

	if (!settled)
		historian_give_up(h);
	return settled;
}

void historian_give_up(struct historian *h)
{
	pthread_mutex_lock(&h->lock);
	h->gave_up = true;
	pthread_mutex_unlock(&h->lock);
}

double historian_patience(struct historian *h)
{
	pthread_mutex_lock(&h->lock);
	double ret = patience(h);

	pthread_mutex_unlock(&h->lock);
	return ret;
}

bool historian_gave_up(struct historian *h)
{
	if (!h)
		return false;
	pthread_mutex_lock(&h->lock);
	bool ret = h->gave_up;

	pthread_mutex_unlock(&h->lock);
	return ret;
}

void historian_why(struct historian *h, struct err *e)
{
	pthread_mutex_lock(&h->lock);
	double now = batch_writer_clock();

	if (!isinf(h->failing_at))
		*e = h->failure;
	else if (waits_for_lock(h, now))
		err_set(e, -EBUSY, "history %s: another process has locked it", h->path);
	else if (!isinf(h->attempt_at) && h->opened)
		err_set(e, -ETIMEDOUT,
			"history %s: it could not be opened for %.1f s: its disk does not answer, or another process has locked it",
			h->path, now - h->attempt_at);
	else if (!isinf(h->attempt_at))
		err_set(e, -ETIMEDOUT, "history %s: its disk has not answered for %.1f s", h->path,
			now - h->attempt_at);
	else
		err_set(e, -ETIMEDOUT, "history %s: there was no time to write", h->path);
	pthread_mutex_unlock(&h->lock);
}

/* Returns the address of the pointer to `c` in the list h->calls; `c` NULL = the pointer at the end
 * of the list. The caller holds the lock. */
static struct historian_call **place_of(struct historian *h, const struct historian_call *c)
{
	struct historian_call **at = &h->calls;

	while (*at != c)
		at = &(*at)->next;
	return at;
}

/* Returns the result of the call and frees `c`. If c->function still runs, the historian's thread
 * frees `c` later. The caller holds the lock. */
static int outcome_of_call(struct historian *h, struct historian_call *c, struct err *e)
{
	int code = c->done ? c->code : c->begun ? -EINPROGRESS : -ETIMEDOUT;

	if (!c->done) {
		h->gave_up = true;
		err_set(e, code, "the history's disk does not answer; retry later");
	} else if (code && e) {
		*e = c->e;
	}
	if (code == -EINPROGRESS && !c->done) {
		c->left = true;
		return code;
	}
	if (!c->done)
		*place_of(h, c) = c->next;
	free(c);
	return code;
}

int historian_do_within(struct historian *h,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	double seconds, struct err *e)
{
	struct historian_call *c = xcalloc(1, sizeof *c);
	double deadline = batch_writer_clock() + seconds;

	c->function = function;
	c->context = context;
	pthread_mutex_lock(&h->lock);
	*place_of(h, NULL) = c;
	pthread_cond_signal(&h->wake);
	while (!c->done && batch_writer_clock() < deadline)
		wait_until(&h->progress, &h->lock, deadline);
	int code = outcome_of_call(h, c, e);

	pthread_mutex_unlock(&h->lock);
	return code;
}

int historian_do(struct historian *h,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	struct err *e)
{
	return historian_do_within(h, function, context, INFINITY, e);
}

void historian_upkeep(struct historian *h)
{
	pthread_mutex_lock(&h->lock);
	h->upkeep_at = 0;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
}

void historian_suspect(struct historian *h)
{
	pthread_mutex_lock(&h->lock);
	h->suspect = true;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
}

int historian_takes_runs(struct historian *h, struct err *e)
{
	pthread_mutex_lock(&h->lock);
	double silent = silent_seconds(h, batch_writer_clock());
	bool full = h->full, no_room = !isinf(h->failing_at) && h->failure.code == -ENOSPC;
	uint64_t bytes = h->health.bytes_on_disk, most = h->config.limits.max_bytes;

	pthread_mutex_unlock(&h->lock);
	if (silent > HISTORIAN_HANG_SECONDS)
		return err_set(e, -ETIMEDOUT, "the history's disk has not answered for %.0f s",
			silent);
	if (no_room)
		return err_set(e, -ENOSPC, "the history cannot be written: its disk is full");
	if (!full)
		return 0;
	return err_set(e, -EDQUOT,
		"the history has %.1f MB, with a limit of %.1f MB (--history.max-size); old runs are being removed",
		(double)bytes / 1e6, (double)most / 1e6);
}

struct historian_health historian_health(struct historian *h)
{
	pthread_mutex_lock(&h->lock);
	struct historian_health health = h->health;

	health.samples_dropped += h->queue.samples_dropped;
	health.runs_dropped = h->queue.runs_dropped;
	health.events_waiting = h->handed - h->settled;
	health.samples_waiting = h->queue.samples + h->samples_at_hand;
	pthread_mutex_unlock(&h->lock);
	return health;
}

static void log_lost(struct historian *h, const char *message)
{
	char lost[32];
	uint64_t n = historian_health(h).events_waiting;

	snprintf(lost, sizeof lost, "%" PRIu64, n);
	if (n)
		log_line(LOG_LEVEL_ERROR, message, "events_lost", lost, NULL);
}

static double seconds_or(double given, double fallback)
{
	return given > 0 ? given : fallback;
}

int historian_stop(struct historian *h)
{
	if (!h)
		return 0;
	pthread_mutex_lock(&h->lock);
	double stop = seconds_or(h->config.stop_seconds, HISTORIAN_STOP_SECONDS);
	double leave_at =
		batch_writer_clock() +
		(h->gave_up ? stop : seconds_or(h->config.leave_seconds, HISTORIAN_LEAVE_SECONDS));

	h->stop = true;
	h->stop_at = batch_writer_clock() + (h->gave_up ? 0 : stop);
	/* Make the thread try to write at once, even after a failure. */
	h->pause = 0;
	h->upkeep_until = batch_writer_clock() +
			  seconds_or(h->config.last_upkeep_seconds, UPKEEP_AT_STOP_SECONDS);
	h->paused_until = h->upkeep_at = 0;
	pthread_cond_signal(&h->wake);
	struct settling s = settling_begin(h);
	double now, end;

	while (now = batch_writer_clock(), end = fmin(leave_at, hope_ends(h, &s, now)),
		!h->ended && now < end)
		/* Check often: hope_ends only sees that the thread has used CPU time since the last
		 * check, and assumes that it did so until now. */
		wait_until(&h->progress, &h->lock, fmin(end, now + HURRY_SECONDS));
	bool ended = h->ended;

	pthread_mutex_unlock(&h->lock);
	if (!ended) {
		log_lost(h,
			"history could not be written before the end: its disk does not answer");
		return -ETIMEDOUT;
	}
	loose_thread_join(&h->thread);
	log_lost(h, "history could not be written before the end");
	historian_free(h);
	return 0;
}
