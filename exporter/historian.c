/* The only writer of the history, on a thread of its own. */
#include "exporter/historian.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "exporter/log.h"
#include "exporter/ring.h"

/* Of one transaction: short ones let other exporters in between. */
#define BATCH_EVENTS 512

/* Between attempts after a failure; the first is short, since most often somebody just held the lock. */
#define PAUSE_FIRST_SECONDS 0.1
#define PAUSE_LAST_SECONDS  5.0

/* After a step of upkeep it rests this many times as long as the step took: others want the file and the CPU, too. */
#define UPKEEP_REST 4

/* A program that ends waits this long at most for the last upkeep. */
#define UPKEEP_AT_STOP_SECONDS 0.5

/* A disk that damages each fresh file at once must not be filled with files set aside. */
#define SET_ASIDE_SECONDS 60

enum upkeep { UPKEEP_NONE, UPKEEP_ORPHANS, UPKEEP_LIMITS };

struct historian {
	struct historian_config config;
	char *path; /* config.path */
	pthread_t thread;

	pthread_mutex_t lock; /* guards what follows, up to the empty line */
	pthread_cond_t wake, progress;
	struct ring ring;
	uint64_t handed, settled; /* events: all that came; all that were committed, refused or dropped */
	size_t samples_at_hand;   /* taken from the ring, and being written */
	bool stop, hurry, suspect;
	double stop_at, paused_until, upkeep_at, upkeep_until; /* on the clock of monotonic(); the last is for the end */
	struct historian_health health;

	/* Of the thread alone. */
	struct history *history;
	struct ring open; /* begins of the runs that are open: a fresh file gets them again */
	bool begin_again;
	enum upkeep upkeep;
	double pause, set_aside_at, checked_at;
	struct complaint complaint, refusals;
};

/* Condition variables cannot wait on the clock of struct mono, which goes on while the machine sleeps. */
static double monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, double deadline)
{
	struct timespec t = {.tv_sec = (time_t)deadline};

	t.tv_nsec = (long)((deadline - (double)t.tv_sec) * 1e9);
	pthread_cond_timedwait(cond, lock, &t);
}

/* ---- the file ---- */

static void say_set_aside(const struct err *notice)
{
	if (notice->code)
		log_line(LOG_LEVEL_ERROR, "history was corrupt; starting a fresh one", "err", notice->text, NULL);
}

static int open_history(struct historian *h, struct err *e)
{
	struct err notice = {0};
	int code = history_open(&h->history, h->config.path, HISTORY_WRITE, h->config.columns, &notice, e);

	say_set_aside(&notice);
	h->begin_again = true;
	return code;
}

static void close_history(struct historian *h)
{
	history_close(TAKE(h->history));
}

static void set_aside(struct historian *h, const char *why)
{
	struct err notice = {0}, e = {0};

	if (monotonic() < h->set_aside_at + SET_ASIDE_SECONDS)
		return;
	h->set_aside_at = monotonic();
	if (history_set_aside(TAKE(h->history), why, &notice, &e))
		log_line(LOG_LEVEL_ERROR, "history is corrupt and cannot be set aside", "err", e.text, NULL);
	say_set_aside(&notice);
}

/* After a failed attempt: what helps before the next. True: try again at once. */
static bool recover(struct historian *h, const struct err *e)
{
	bool memory = strcmp(h->config.path, ":memory:") == 0;

	if (complaint_due(&h->complaint))
		log_line(LOG_LEVEL_WARN, "history cannot be written; samples wait", "err", e->text, NULL);
	if (!h->history)
		return false;
	switch (e->code) {
	case -EBADMSG:
		set_aside(h, e->text);
		return !h->history;
	case -ESTALE:
		close_history(h);
		return true;
	case -EBUSY:
	case -ENOSPC:
	case -ENOMEM:
		return false;
	default:
		/* A descriptor may be what is broken: after a remount, say. Memory would be lost by it. */
		if (!memory)
			close_history(h);
		return false;
	}
}

/* ---- events ---- */

static int write_event(struct historian *h, struct event *v, struct err *e)
{
	switch (v->kind) {
	case EVENT_BEGIN:
		return history_run_begin(h->history, &v->begin, e);
	case EVENT_SAMPLE:
		return history_samples(h->history, &v->sample, 1, e);
	case EVENT_FINISH:
		return history_run_finish(h->history, &v->finish, e);
	}
	return 0;
}

/* What is wrong with one event alone must not hold up the others. */
static bool is_refusal(int code)
{
	return code == -ENXIO || code == -EINVAL;
}

static int write_events(struct historian *h, struct ring *batch, struct err *e)
{
	int code = 0;

	for (struct event *v = h->open.first; v && h->begin_again && code == 0; v = v->next)
		code = history_run_begin(h->history, &v->begin, e);
	for (struct event *v = batch->first; v && code == 0; v = v->next) {
		code = write_event(h, v, e);
		v->refused = is_refusal(code);
		if (!v->refused)
			continue;
		code = 0;
		if (complaint_due(&h->refusals))
			log_line(LOG_LEVEL_ERROR, "history refuses an event", "err", e->text, NULL);
	}
	return code;
}

static int write_batch(struct historian *h, struct ring *batch, double *ret_seconds, struct err *e)
{
	double start = monotonic();
	int code = history_transaction(h->history, e);

	if (code)
		return code;
	code = write_events(h, batch, e);
	if (code) {
		history_rollback(h->history);
		return code;
	}
	code = history_commit(h->history, e);
	*ret_seconds = monotonic() - start;
	return code;
}

static void forget_open(struct historian *h, const char *run_id)
{
	struct ring kept = {0};
	struct event *v;

	while ((v = ring_pop(&h->open))) {
		if (strcmp(v->begin.run_id, run_id) == 0)
			free(v);
		else
			ring_push(&kept, v);
	}
	h->open = kept;
}

/* After the commit: frees the batch, but keeps the begins of open runs. Returns how many samples were written. */
static uint64_t settle_batch(struct historian *h, struct ring *batch)
{
	uint64_t written = 0;
	struct event *v;

	while ((v = ring_pop(batch))) {
		if (v->kind == EVENT_BEGIN && !v->refused) {
			ring_push(&h->open, v);
			continue;
		}
		if (v->kind == EVENT_FINISH)
			forget_open(h, v->finish.run_id);
		written += v->kind == EVENT_SAMPLE && !v->refused;
		free(v);
	}
	h->begin_again = false;
	return written;
}

/* ---- upkeep ---- */

static int close_orphans(struct historian *h, struct err *e)
{
	const struct orphan_rule rule = {
		.now = wall_seconds(now_read().wall),
		.stale_seconds = HISTORIAN_STALE_SECONDS,
		.here = &h->config.here,
		.alive = h->config.alive,
		.context = h->config.alive_context,
	};
	int code = history_transaction(h->history, e);

	if (code)
		return code;
	code = history_close_orphans(h->history, &rule, e);
	if (code < 0) {
		history_rollback(h->history);
		return code;
	}
	int failed = history_commit(h->history, e);

	return failed ? failed : code;
}

/* One short step; the ring is looked at between two of them. 1 = there is more to do. */
static int upkeep_step(struct historian *h, struct err *e)
{
	int code = 0;

	if (h->upkeep == UPKEEP_ORPHANS) {
		code = close_orphans(h, e);
		if (code == 0)
			h->upkeep = UPKEEP_LIMITS;
		return code < 0 ? code : 1;
	}
	code = history_prune(h->history, &h->config.limits, wall_seconds(now_read().wall), e);
	if (code == 0)
		h->upkeep = UPKEEP_NONE;
	return code;
}

static int check_suspect(struct historian *h, struct err *e)
{
	if (monotonic() < h->checked_at + SET_ASIDE_SECONDS)
		return 0;
	h->checked_at = monotonic();
	return history_check(h->history, e);
}

/* ---- the thread ---- */

struct job_at_hand {
	struct ring batch;
	bool suspect, upkeep;
	uint64_t written, refused;
	double commit_seconds, upkeep_seconds;
	uint64_t bytes;
};

static int do_work(struct historian *h, struct job_at_hand *job, struct err *e)
{
	size_t n = job->batch.samples;
	int code = h->history ? 0 : open_history(h, e);

	if (code == 0 && job->suspect)
		code = check_suspect(h, e);
	if (code == 0 && job->batch.n) {
		code = write_batch(h, &job->batch, &job->commit_seconds, e);
		if (code == 0) {
			job->written = settle_batch(h, &job->batch);
			job->refused = n - job->written;
		}
	}
	if (code == 0 && job->upkeep) {
		double start = monotonic();

		code = upkeep_step(h, e);
		job->upkeep_seconds = monotonic() - start;
	}
	if (h->history)
		job->bytes = history_bytes(h->history);
	return code < 0 ? code : 0;
}

static bool has_work(const struct historian *h, double now)
{
	if (h->hurry || h->suspect)
		return true;
	return now >= h->paused_until && (h->ring.n || now >= h->upkeep_at);
}

static bool may_end(const struct historian *h, double now)
{
	if (!h->stop || now >= h->stop_at)
		return h->stop;
	return h->ring.n == 0 && now >= h->upkeep_until;
}

static void wait_for_work(struct historian *h)
{
	double now;

	while (now = monotonic(), !has_work(h, now) && !may_end(h, now)) {
		double deadline = h->ring.n ? h->paused_until : h->upkeep_at;

		if (deadline < h->paused_until)
			deadline = h->paused_until;
		if (h->stop)
			deadline = fmin(deadline, h->ring.n ? h->stop_at : h->upkeep_until);
		wait_until(&h->wake, &h->lock, deadline);
	}
}

static void take_work(struct historian *h, struct job_at_hand *job)
{
	double now = monotonic();

	*job = (struct job_at_hand){.suspect = h->suspect, .commit_seconds = NAN};
	h->suspect = h->hurry = false;
	ring_move(&job->batch, &h->ring, BATCH_EVENTS);
	h->samples_at_hand = job->batch.samples;
	job->upkeep = h->stop ? h->ring.n == 0 && now < h->upkeep_until : now >= h->upkeep_at;
	if (job->upkeep) {
		if (h->upkeep == UPKEEP_NONE)
			h->upkeep = UPKEEP_ORPHANS;
	}
}

/* With the lock: counts what became of the batch, and says when to try or to look again. */
static void note_outcome(struct historian *h, struct job_at_hand *job, bool failed, bool at_once)
{
	double now = monotonic();

	h->health.samples_written += job->written;
	h->health.samples_dropped += job->refused;
	if (!isnan(job->commit_seconds))
		h->health.last_commit_seconds = job->commit_seconds;
	h->health.bytes_on_disk = job->bytes;
	h->health.errors += failed;
	h->samples_at_hand = 0;
	ring_put_back(&h->ring, &job->batch);
	h->pause = !failed || at_once ? 0 : h->pause > 0 ? fmin(h->pause * 2, PAUSE_LAST_SECONDS) : PAUSE_FIRST_SECONDS;
	if (h->stop)
		h->pause = fmin(h->pause, PAUSE_FIRST_SECONDS);
	h->paused_until = now + h->pause;
	if (job->upkeep)
		h->upkeep_at = now + (h->upkeep == UPKEEP_NONE ? HISTORIAN_UPKEEP_SECONDS
							       : job->upkeep_seconds * UPKEEP_REST);
	/* The last upkeep is tried once, and does not rest. */
	if (h->stop && job->upkeep && (failed || h->upkeep == UPKEEP_NONE))
		h->upkeep_until = 0;
	else if (h->stop)
		h->upkeep_at = 0;
	h->settled = h->handed - h->ring.n;
	pthread_cond_broadcast(&h->progress);
}

static void *historian_loop(void *context)
{
	struct historian *h = context;

	pthread_mutex_lock(&h->lock);
	for (;;) {
		struct job_at_hand job;
		struct err e = {0};
		bool failed, at_once = false;

		wait_for_work(h);
		if (may_end(h, monotonic()))
			break;
		take_work(h, &job);
		pthread_mutex_unlock(&h->lock);
		failed = do_work(h, &job, &e) < 0;
		if (failed)
			at_once = recover(h, &e);
		else if (complaint_over(&h->complaint))
			log_line(LOG_LEVEL_INFO, "history can be written again", NULL);
		pthread_mutex_lock(&h->lock);
		note_outcome(h, &job, failed, at_once);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

/* ---- for others ---- */

static void init(struct historian *h, const struct historian_config *c)
{
	pthread_condattr_t attributes;

	h->config = *c;
	h->config.path = h->path = xstrdup(c->path);
	h->ring.max_samples = HISTORIAN_RING_SAMPLES;
	h->ring.max_runs = HISTORIAN_RING_RUNS;
	h->health.last_commit_seconds = NAN;
	h->set_aside_at = h->checked_at = -INFINITY;
	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&h->wake, &attributes);
	pthread_cond_init(&h->progress, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void historian_free(struct historian *h)
{
	history_close(h->history);
	ring_done(&h->ring);
	ring_done(&h->open);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->wake);
	pthread_cond_destroy(&h->progress);
	free(h->path);
	free(h);
}

int historian_start(struct historian **ret, const struct historian_config *c, struct err *e)
{
	struct historian *h = xcalloc(1, sizeof *h);

	init(h, c);
	int code = open_history(h, e);

	if (code == 0) {
		h->health.bytes_on_disk = history_bytes(h->history);
		code = -pthread_create(&h->thread, NULL, historian_loop, h);
		if (code)
			err_system(e, code, "start the historian's thread");
	}
	if (code)
		historian_free(h);
	else
		*ret = h;
	return code;
}

static void hand_over(struct historian *h, struct event *take)
{
	pthread_mutex_lock(&h->lock);
	ring_push(&h->ring, take);
	h->handed++;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
}

void historian_run_begin(struct historian *h, const struct run_begin *b)
{
	hand_over(h, event_of_begin(b));
}

void historian_samples(struct historian *h, const struct sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hand_over(h, event_of_sample(&samples[i], h->config.columns->n));
}

void historian_run_finish(struct historian *h, const struct run_finish *f)
{
	hand_over(h, event_of_finish(f));
}

bool historian_flush(struct historian *h, double timeout_seconds)
{
	double deadline = monotonic() + timeout_seconds;

	pthread_mutex_lock(&h->lock);
	uint64_t target = h->handed;

	h->hurry = true;
	pthread_cond_signal(&h->wake);
	while (h->settled < target && monotonic() < deadline)
		wait_until(&h->progress, &h->lock, deadline);
	bool done = h->settled >= target;

	pthread_mutex_unlock(&h->lock);
	return done;
}

void historian_suspect(struct historian *h)
{
	pthread_mutex_lock(&h->lock);
	h->suspect = true;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
}

struct historian_health historian_health(struct historian *h)
{
	pthread_mutex_lock(&h->lock);
	struct historian_health health = h->health;

	health.samples_dropped += h->ring.samples_dropped;
	health.runs_dropped = h->ring.runs_dropped;
	health.samples_waiting = h->ring.samples + h->samples_at_hand;
	pthread_mutex_unlock(&h->lock);
	return health;
}

void historian_stop(struct historian *h)
{
	char lost[32];

	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->stop = true;
	h->stop_at = monotonic() + HISTORIAN_STOP_SECONDS;
	h->paused_until = h->upkeep_at = 0;
	h->upkeep_until = monotonic() + UPKEEP_AT_STOP_SECONDS;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
	if (h->ring.n) {
		snprintf(lost, sizeof lost, "%zu", h->ring.n);
		log_line(LOG_LEVEL_ERROR, "history could not be written before the end", "events_lost", lost, NULL);
	}
	historian_free(h);
}
