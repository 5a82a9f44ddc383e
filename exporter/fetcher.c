/* Load, fetch, publish, wait. */
#include "exporter/fetcher.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_DELAY   300.0 /* seconds after a failure; doubles with each one after it */
#define LONGEST_DELAY 21600.0

struct fetcher {
	const struct fetcher_options *options;
	struct latest newest; /* struct catalogue */
	pthread_mutex_t lock; /* guards state */
	struct fetcher_state state;
	struct pause pause;
	pthread_t thread;
};

struct catalogue *fetcher_catalogue(struct fetcher *f)
{
	return (struct catalogue *)(void *)latest_get(&f->newest);
}

void fetcher_state(struct fetcher *f, struct fetcher_state *ret)
{
	pthread_mutex_lock(&f->lock);
	*ret = f->state;
	pthread_mutex_unlock(&f->lock);
}

static void publish(struct fetcher *f, struct catalogue *take, struct wall at)
{
	if (take)
		latest_set(&f->newest, &take->shared);
	pthread_mutex_lock(&f->lock);
	f->state.fetched_at = at;
	pthread_mutex_unlock(&f->lock);
}

static void load_cache(struct fetcher *f)
{
	struct catalogue *c = NULL;
	struct cache_origin origin;

	if (catalogue_cache_load(&c, &origin, f->options->source.cache_path, NULL) == 0)
		publish(f, c, origin.at);
}

/* Notes how an attempt ended, and says it when that changed. */
static void note(struct fetcher *f, const char *error)
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

static int update(struct fetcher *f)
{
	struct catalogue *c = NULL;
	struct keeper_report report;
	struct err e = {0}, notice = {0};
	int code = catalogue_update(&f->options->source, &f->pause, &c, &report, &notice, &e);

	if (code == -ECANCELED)
		return code;
	if (code == 0)
		publish(f, c, now_read().wall);
	note(f, code ? e.text : notice.text);
	return code;
}

static double age(struct fetcher *f)
{
	struct fetcher_state state;

	fetcher_state(f, &state);
	return state.fetched_at.ns ?
		       wall_seconds(now_read().wall) - wall_seconds(state.fetched_at) :
		       INFINITY;
}

static void *run(void *context)
{
	struct fetcher *f = context;
	double refresh = f->options->refresh_seconds, delay = FIRST_DELAY, wait = refresh - age(f);

	while (!(wait > 0) || pause_wait(&f->pause, wait)) {
		int code = update(f);

		if (code == -ECANCELED)
			break;
		/* A quarter more or less, so that many who began together do not stay together. */
		wait = (code ? delay : refresh) * (0.75 + 0.5 * catalogue_update_random());
		delay = code ? fmin(delay * 2, LONGEST_DELAY) : FIRST_DELAY;
	}
	return NULL;
}

int fetcher_start(struct fetcher **ret, const struct fetcher_options *options, struct err *e)
{
	struct fetcher *f = xcalloc(1, sizeof *f);

	f->options = options;
	f->newest = LATEST_INIT;
	pthread_mutex_init(&f->lock, NULL);
	pause_init(&f->pause);
	load_cache(f);
	int code = pthread_create(&f->thread, NULL, run, f);

	if (code == 0) {
		*ret = f;
		return 0;
	}
	latest_done(&f->newest);
	pause_done(&f->pause);
	pthread_mutex_destroy(&f->lock);
	free(f);
	return err_system(e, -code, "start the thread that fetches the catalogue");
}

void fetcher_stop(struct fetcher *f)
{
	if (!f)
		return;
	pause_stop(&f->pause);
	pthread_join(f->thread, NULL);
	latest_done(&f->newest);
	pause_done(&f->pause);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
