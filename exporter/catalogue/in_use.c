/* The catalogue that a running program answers from. */
#include "exporter/catalogue/in_use.h"

#include "exporter/catalogue/update.h"
#include "exporter/core/log.h"
#include "exporter/core/paths.h"
#include "exporter/this_server/this_server.h"

static void say(void *context, bool works, const char *text)
{
	(void)context;
	log_line(works ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
		works ? "the catalogue of servers" : "the catalogue of servers cannot be refreshed",
		works ? "state" : "err", text, NULL);
}

static struct words words_of(const struct texts *t)
{
	return (struct words){t->n, t->text};
}

static struct shelf *make_shelf(struct app *app)
{
	const struct options *o = app->options;
	struct machine m;

	/* Without a place for it there is no cache, and so nothing to refresh. */
	cache_default_path(&app->cache_path, o->catalogue_cache, NULL);
	machine_now(app, &m);
	return shelf_new(&(struct shelf_config){
		.path = o->catalogue_path,
		.refresh = app->refreshes_catalogue && o->catalogue_refresh,
		.fetcher = {.source = {.url = o->catalogue_url,
				    .cache_path = app->cache_path,
				    .regions = words_of(&o->catalogue_regions),
				    .home = o->catalogue_regions.n ? NULL :
								     catalogue_home(m.vendor_id,
									     m.region, app->home),
				    .benchmarks = words_of(&o->catalogue_benchmarks)},
			.rates = words_of(&o->catalogue_rates),
			.refresh_seconds = o->catalogue_refresh_interval,
			.say = say},
	});
}

static struct shelf *shelf_of(struct app *app)
{
	pthread_mutex_lock(&app->shelf_lock);
	if (!app->shelf)
		app->shelf = make_shelf(app);
	struct shelf *s = app->shelf;

	pthread_mutex_unlock(&app->shelf_lock);
	return s;
}

int app_catalogue(struct app *app, struct catalogue_use *ret, struct err *e)
{
	*ret = (struct catalogue_use){0};
	return shelf_catalogue(shelf_of(app), true, &ret->catalogue, &ret->state, e);
}

int app_catalogue_once(struct app *app, struct catalogue_use *ret, struct err *e)
{
	*ret = (struct catalogue_use){0};
	return shelf_catalogue(shelf_of(app), false, &ret->catalogue, &ret->state, e);
}

void app_catalogue_done(struct catalogue_use *u)
{
	catalogue_free(u->catalogue);
}
