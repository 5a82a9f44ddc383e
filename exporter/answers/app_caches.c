#include "exporter/answers/app_caches.h"

#include <stdlib.h>

#include "exporter/answers/neighbourhood.h"
#include "exporter/answers/result_cache.h"
#include "exporter/catalogue/current.h"

/* A cache is freed after this many seconds without use. A catalogue takes a few MiB, and loading it
 * again takes about 10 ms. Cached results take up to 4 MiB. */
#define IDLE_SECONDS 600.0

void app_caches_tidy(struct app *app)
{
	pthread_mutex_lock(&app->catalogue_lock);
	struct current_catalogue *s = app->current_catalogue;

	pthread_mutex_unlock(&app->catalogue_lock);
	current_catalogue_tidy(s, IDLE_SECONDS);
	result_cache_tidy(app->results, IDLE_SECONDS);
}

void app_caches_done(struct app *app)
{
	result_cache_free(app->results);
	app->results = NULL;
	neighbourhoods_free(app->neighbourhoods);
	app->neighbourhoods = NULL;
	current_catalogue_free(app->current_catalogue);
	free(app->cache_path);
	app->current_catalogue = NULL;
	app->cache_path = NULL;
	pthread_mutex_destroy(&app->catalogue_lock);
}
