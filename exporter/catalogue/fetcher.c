/* The thread that fetches the catalogue, then waits until the next fetch is due. */
#include "exporter/catalogue/fetcher.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/catalogue/rates.h"
#include "exporter/core/random_share.h"

#define FIRST_DELAY   300.0 /* seconds to wait after the first failure; doubles each time */
#define LONGEST_DELAY 21600.0

struct fetcher {
	const struct fetcher_options *options;
	struct latest uncached; /* newest struct catalogue that could not be written to the cache */
	pthread_mutex_t lock;   /* guards `state` */
	struct fetcher_state state;
	double delay; /* seconds to wait after the next failure */
	struct worker worker;
};

struct catalogue *fetcher_catalogue(struct fetcher *f)
{
	return (struct catalogue *)(void *)latest_get(&f->uncached);
}

void fetcher_state(struct fetcher *f, struct fetcher_state *ret)
{
	pthread_mutex_lock(&f->lock);
	*ret = f->state;
	pthread_mutex_unlock(&f->lock);
}

/* Publishes the result of a successful update. `take` is the fetched catalogue; NULL = the cached
 * catalogue is still the newest. Takes over the reference. `cached` true = the catalogue was
 * written to the cache, so it does not stay in memory. */
static void publish(struct fetcher *f, struct catalogue *take, bool cached)
{
	pthread_mutex_lock(&f->lock);
	f->state.fetched_at = now_read().wall;
	pthread_mutex_unlock(&f->lock);
	if (!take)
		return;
	/* Set the rates before latest_set, because other threads may read the catalogue after that
	 * call. Ignore an error in the rates: it is reported when a catalogue is loaded. */
	catalogue_set_rates(take, &f->options->rates, NULL);
	latest_set(&f->uncached, cached ? NULL : &take->shared);
	if (cached)
		catalogue_free(take);
	/* Building a catalogue takes several times its size. Give the freed memory back to the
	 * kernel, because the next fetch is hours away. */
	malloc_trim(0);
}

/* Records the result of an attempt. `error` is the message of the failure; "" = success. Calls
 * options->say for a failure after a success, and for a success after a failure. */
static void note_result(struct fetcher *f, const char *error)
{
	pthread_mutex_lock(&f->lock);
	bool failed = f->state.error[0] != '\0', changed = failed != (*error != '\0');

	f->state.tried_at = now_read().wall;
	f->state.fetches++;
	f->state.failures += *error != '\0';
	snprintf(f->state.error, sizeof f->state.error, "%s", error);
	pthread_mutex_unlock(&f->lock);
	if (changed && f->options->say)
		f->options->say(f->options->say_context, !*error,
			*error ? error : "the catalogue is up to date");
}

static int update_cache(struct fetcher *f)
{
	struct catalogue *c = NULL;
	struct keeper_report report;
	struct err e = {0}, notice = {0};
	int code = catalogue_update(&f->options->source, &f->worker, &c, &report, &notice, &e);

	if (code && notice.code == -EUCLEAN && f->options->say)
		f->options->say(f->options->say_context, false, notice.text);
	if (code == -ECANCELED)
		return code;
	if (code == 0)
		publish(f, c, notice.code == 0 || notice.code == -EUCLEAN);
	note_result(f, code ? e.text : notice.text);
	return code;
}

/* Returns the seconds until the next fetch; 0 or less = now. The age of the catalogue is read from
 * the cache, because another process may have fetched into the same cache. */
static double seconds_left(struct fetcher *f)
{
	const struct catalogue_source *source = &f->options->source;
	double refresh = f->options->refresh_seconds;
	struct cache_origin origin = {0};
	struct fetcher_state state;

	if (catalogue_cache_origin(&origin, source->cache_path, NULL) == 0 &&
		!catalogue_is_url(origin.source))
		return refresh; /* a user imported the catalogue: do not replace it */
	pthread_mutex_lock(&f->lock);
	if (catalogue_is_from(source, &origin) && origin.at.ns > f->state.fetched_at.ns)
		f->state.fetched_at = origin.at;
	state = f->state;
	pthread_mutex_unlock(&f->lock);
	double age = wall_seconds(now_read().wall) - wall_seconds(state.fetched_at);

	/* If the fetch time is in the future, a clock was wrong, and the real age is unknown: fetch
	 * now. */
	return state.fetched_at.ns && age >= 0 ? refresh - age : 0;
}

static void note_next(struct fetcher *f, int64_t at_ns)
{
	pthread_mutex_lock(&f->lock);
	f->state.next_at.ns = at_ns;
	pthread_mutex_unlock(&f->lock);
}

static double run(void *context)
{
	struct fetcher *f = context;

	note_next(f, 0);
	double wait = seconds_left(f);

	if (!(wait > 0)) {
		int code = update_cache(f);

		if (code == -ECANCELED)
			return WORKER_END;
		/* Vary the wait by up to a quarter, so that exporters started together do not fetch
		 * at the same moment. */
		wait = (code ? f->delay : f->options->refresh_seconds) *
		       (0.75 + 0.5 * random_share());
		f->delay = code ? fmin(f->delay * 2, LONGEST_DELAY) : FIRST_DELAY;
	}
	note_next(f, now_read().wall.ns + (int64_t)(wait * 1e9));
	return wait;
}

void fetcher_stop(struct fetcher *f)
{
	if (!f)
		return;
	worker_done(&f->worker);
	latest_done(&f->uncached);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

int fetcher_start(struct fetcher **ret, const struct fetcher_options *options, struct err *e)
{
	struct fetcher *f = xcalloc(1, sizeof *f);

	f->options = options;
	f->uncached = LATEST_INIT;
	f->delay = FIRST_DELAY;
	pthread_mutex_init(&f->lock, NULL);
	worker_init(&f->worker);
	int code = worker_start(&f->worker, "fetcher", run, f, e);

	if (code)
		fetcher_stop(f);
	else
		*ret = f;
	return code;
}
