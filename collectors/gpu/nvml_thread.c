#include "collectors/gpu/nvml_thread.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/thread.h"

/* The pause between two tables is 9 times the duration of the last reading, but at least
 * PAUSE_SECONDS and at most PAUSE_MOST_SECONDS. It is then adjusted so that the next reading ends
 * shortly before a tick: made longer, or shorter by at most a quarter (PAUSE_LEAST). */
#define PAUSE_SECONDS      1.0
#define PAUSE_MOST_SECONDS 5.0
#define PAUSE_LEAST        0.75
/* A reading starts early enough to end before the tick that uses it. It starts this many seconds,
 * plus twice the duration of the last reading, before that tick. */
#define LEAD_SECONDS 0.05
/* Seconds without an answer after which the library is restarted. Also the pause before another try
 * if the library could not be started. */
#define RESTART_SECONDS 60.0
/* Seconds for which gpu_nvml_stop waits for a call to return. */
#define STOP_SECONDS 1.0

enum nvml_state {
	STARTING,
	WORKING,
	FAILED, /* the last attempt failed; the error may be temporary */
	ABSENT, /* no driver or no GPU: the thread has ended */
};

struct gpu_nvml {
	struct nvml nvml;
	struct nvml_progress progress;
	struct latest latest;
	struct mono started;
	pthread_t thread;

	pthread_mutex_t lock; /* guards all members below */
	pthread_cond_t changed;
	enum nvml_state state;
	struct err failure;
	bool stop, ended, abandoned;
	/* `requested`: number of the last table that a caller requested. `served`: number of the
	 * last table that was finished. */
	uint64_t requested, served;
	/* `tick`: time of the last tick; before the first tick, the time when the thread started.
	 * `ticked`: the first tick has come. `period`: seconds between the last two ticks. */
	struct mono tick;
	bool ticked;
	double period;
};

static void worker_free(struct gpu_nvml *w)
{
	latest_done(&w->latest);
	nvml_close(&w->nvml);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	free(w);
}

/* Waits for a change. Returns false after the deadline. The caller holds the lock. */
static bool wait_for_change(struct gpu_nvml *w, const struct timespec *deadline)
{
	return pthread_cond_timedwait(&w->changed, &w->lock, deadline) != ETIMEDOUT;
}

/* ---- the thread ---- */

struct nvml_connection {   /* state between init and shutdown of the library */
	bool open, worked; /* `worked` = a GPU has answered */
	struct mono last_answer;
	struct nvml_gpu *gpu;
	size_t n_gpus;
};

static void set_state(struct gpu_nvml *w, enum nvml_state state, int code)
{
	struct err failure = {0};

	if (state == FAILED)
		err_set(&failure, -EIO, "start NVML: error %d: %s", code,
			nvml_words(&w->nvml, code));
	pthread_mutex_lock(&w->lock);
	w->state = state;
	w->failure = failure;
	pthread_mutex_unlock(&w->lock);
}

static void connection_close(struct gpu_nvml *w, struct nvml_connection *s)
{
	if (!s->open)
		return;
	atomic_store(&w->progress.call, "shutdown");
	w->nvml.shutdown();
	atomic_store(&w->progress.call, NULL);
	free(s->gpu);
	s->gpu = NULL;
	s->n_gpus = 0;
	s->open = false;
}

/* Starts the library and lists the GPUs. Returns false when there is no driver or no GPU, so that
 * the thread can end. */
static bool connection_open(struct gpu_nvml *w, struct nvml_connection *s)
{
	atomic_store(&w->progress.call, "init");
	int code = w->nvml.init();

	if (code == NVML_OK) {
		s->open = true;
		s->last_answer = now_read().mono;
		code = nvml_read_gpus(&w->nvml, &w->progress, &s->gpu, &s->n_gpus);
		if (code != NVML_OK || s->n_gpus == 0)
			connection_close(w, s);
	}
	atomic_store(&w->progress.call, NULL);
	if (s->open) {
		set_state(w, WORKING, 0);
		return true;
	}
	/* Do not retry when there is no driver, because each init would make the library try to
	 * load one. */
	bool absent =
		!s->worked && (code == NVML_OK || code == NVML_NO_DRIVER || code == NVML_NOT_FOUND);

	set_state(w, absent ? ABSENT : FAILED, code);
	return !absent;
}

static void connection_read(struct gpu_nvml *w, struct nvml_connection *s)
{
	struct nvml_table *t = nvml_read_table(&w->nvml, &w->progress, s->gpu, s->n_gpus);

	for (size_t i = 0; i < t->n_devices; i++)
		if (t->device[i].value[GPU_UP] > 0) {
			s->worked = true;
			s->last_answer = t->at;
		}
	bool is_silent = mono_seconds_between(s->last_answer, t->at) > RESTART_SECONDS;

	latest_set(&w->latest, &t->shared);
	if (is_silent)
		connection_close(w, s);
}

double nvml_pause(double spent, double since_tick, double period)
{
	double pause = fmin(fmax(spent * 9, PAUSE_SECONDS), PAUSE_MOST_SECONDS);
	double lead = LEAD_SECONDS + 2 * spent;

	/* Do not adjust the pause to the ticks in three cases: the last tick was long ago, ticks
	 * are rare, or their times are from another clock (since_tick < 0). */
	if (since_tick < 0 || since_tick > PAUSE_MOST_SECONDS || period > PAUSE_MOST_SECONDS)
		return pause;
	return ceil((since_tick + pause * PAUSE_LEAST + lead) / period) * period - lead -
	       since_tick;
}

/* Waits until `pause` seconds have passed or a table is requested. Returns false when the thread
 * must end. The caller holds the lock. */
static bool next_turn(struct gpu_nvml *w, double pause)
{
	struct timespec deadline = monotonic_after(pause);

	while (!w->stop && w->requested == w->served && wait_for_change(w, &deadline))
		;
	return !w->stop;
}

static void *nvml_loop(void *context)
{
	struct gpu_nvml *w = context;
	struct nvml_connection s = {0};
	bool going = true;

	while (going) {
		struct mono begin = now_read().mono;

		pthread_mutex_lock(&w->lock);
		uint64_t requested = w->requested;

		pthread_mutex_unlock(&w->lock);
		bool refused = false;

		if (!s.open) {
			going = connection_open(w, &s);
			refused = !s.open;
		}
		if (s.open)
			connection_read(w, &s);

		double spent = mono_seconds_between(begin, now_read().mono);

		pthread_mutex_lock(&w->lock);
		w->served = requested;
		pthread_cond_broadcast(&w->changed);
		double since_tick = mono_seconds_between(w->tick, now_read().mono);
		double pause = nvml_pause(spent, since_tick, w->period);

		going = going && next_turn(w, refused ? RESTART_SECONDS : pause);
		pthread_mutex_unlock(&w->lock);
	}
	connection_close(w, &s);
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_cond_broadcast(&w->changed);
	bool abandoned = w->abandoned;

	pthread_mutex_unlock(&w->lock);
	if (abandoned)
		worker_free(w);
	return NULL;
}

/* ---- calls from other threads ---- */

int gpu_nvml_start(struct gpu_nvml **ret, const char *library, struct err *e)
{
	struct gpu_nvml *w = xcalloc(1, sizeof *w);
	int code = nvml_open(&w->nvml, library);

	if (code < 0) {
		free(w);
		return code;
	}
	w->latest = LATEST_INIT;
	w->period = PAUSE_SECONDS;
	w->started = w->tick = now_read().mono;
	pthread_mutex_init(&w->lock, NULL);
	thread_cond_init(&w->changed);
	code = -pthread_create(&w->thread, NULL, nvml_loop, w);
	if (code < 0) {
		worker_free(w);
		return err_system(e, code, "start the thread for NVML");
	}
	*ret = w;
	return 0;
}

static int is_silent(struct gpu_nvml *w, double seconds, struct err *e)
{
	const char *call = atomic_load(&w->progress.call);

	return err_set(e, -ETIMEDOUT, "NVML has not answered for %.0f s (GPU %u, %s)", seconds,
		atomic_load(&w->progress.device), call ? call : "between two calls");
}

int gpu_nvml_table(struct gpu_nvml *w, struct mono now, const struct nvml_table **ret,
	struct err *e)
{
	pthread_mutex_lock(&w->lock);
	enum nvml_state state = w->state;
	struct err failure = w->failure;
	double since = mono_seconds_between(w->tick, now);

	if (since > 0 && w->ticked) /* 0 = the second call in one tick */
		w->period = since;
	w->ticked = true;
	w->tick = now;
	pthread_mutex_unlock(&w->lock);
	if (state == ABSENT)
		return -ENOENT;
	if (state == FAILED)
		return err_set(e, failure.code, "%s", failure.text);

	const struct nvml_table *t = (const struct nvml_table *)(void *)latest_get(&w->latest);
	double age = mono_seconds_between(t ? t->at : w->started, now);

	if (t && age <= NVML_STALE_SECONDS) {
		*ret = t;
		return 0;
	}
	gpu_nvml_table_drop(t);
	return t || age > NVML_STALE_SECONDS ? is_silent(w, age, e) : -EINPROGRESS;
}

bool gpu_nvml_wait(struct gpu_nvml *w, double seconds)
{
	struct timespec deadline = monotonic_after(seconds);

	pthread_mutex_lock(&w->lock);
	uint64_t number = ++w->requested;

	pthread_cond_broadcast(&w->changed);
	while (w->served < number && !w->ended && wait_for_change(w, &deadline))
		;
	bool done = w->served >= number || w->ended;

	pthread_mutex_unlock(&w->lock);
	return done;
}

void gpu_nvml_stop(struct gpu_nvml *w)
{
	struct timespec deadline = monotonic_after(STOP_SECONDS);

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->changed);
	while (!w->ended && wait_for_change(w, &deadline))
		;
	bool ended = w->ended;
	pthread_t thread = w->thread;

	w->abandoned = !ended;
	pthread_mutex_unlock(&w->lock);
	if (!ended) { /* a call still hangs: the thread frees `w` when the call returns */
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	worker_free(w);
}
