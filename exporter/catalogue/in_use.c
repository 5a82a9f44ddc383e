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

static void warn(const char *text)
{
	log_line(LOG_LEVEL_WARN, "the cache of the catalogue cannot be read: it is not used", "err",
		text, NULL);
}

static struct current_catalogue *make_current_catalogue(struct app *app)
{
	const struct options *o = app->options;
	struct machine m;

	/* app->cache_path stays NULL when there is no directory for the cache. The catalogue is
	 * then never refreshed. */
	path_default_cache(&app->cache_path, o->catalogue_cache, NULL);
	this_server_now(app, &m);
	return current_catalogue_new(&(struct current_catalogue_config){
		.path = o->catalogue_path,
		.refresh = app->refreshes_catalogue && o->catalogue_refresh,
		.warn = warn,
		.fetcher = {.source = {.url = o->catalogue_url,
				    .cache_path = app->cache_path,
				    .ca_file = o->catalogue_ca_file,
				    .regions = o->catalogue_regions,
				    .home = o->catalogue_regions.n ? NULL :
								     catalogue_home(m.vendor_id,
									     m.region, app->home),
				    .benchmarks = o->catalogue_benchmarks},
			.rates = o->catalogue_rates,
			.refresh_seconds = o->catalogue_refresh_interval,
			.say = say},
	});
}

static struct current_catalogue *current_catalogue_of(struct app *app)
{
	pthread_mutex_lock(&app->catalogue_lock);
	if (!app->current_catalogue)
		app->current_catalogue = make_current_catalogue(app);
	struct current_catalogue *s = app->current_catalogue;

	pthread_mutex_unlock(&app->catalogue_lock);
	return s;
}

int catalogue_use_begin(struct app *app, struct catalogue_use *ret, struct err *e)
{
	*ret = (struct catalogue_use){0};
	return current_catalogue_hold(current_catalogue_of(app), true, &ret->catalogue, &ret->state,
		e);
}

int catalogue_use_once(struct app *app, struct catalogue_use *ret, struct err *e)
{
	*ret = (struct catalogue_use){0};
	return current_catalogue_hold(current_catalogue_of(app), false, &ret->catalogue,
		&ret->state, e);
}

void catalogue_use_done(struct catalogue_use *u)
{
	catalogue_free(u->catalogue);
}
