/* Results that one answer keeps for the next one. */
#include "exporter/answers/app_caches.h"

#include <stdlib.h>

#include "exporter/answers/result_cache.h"
#include "exporter/catalogue/current.h"

/* A catalogue takes some MiB, and is loaded in some ten milliseconds; runs that were sized take up to 4 MiB. */
#define IDLE_SECONDS 600.0

void app_tidy(struct app *app)
{
	pthread_mutex_lock(&app->shelf_lock);
	struct shelf *s = app->shelf;

	pthread_mutex_unlock(&app->shelf_lock);
	shelf_tidy(s, IDLE_SECONDS);
	result_cache_tidy(app->results, IDLE_SECONDS);
}

void app_done(struct app *app)
{
	result_cache_free(app->results);
	app->results = NULL;
	shelf_free(app->shelf);
	free(app->cache_path);
	app->shelf = NULL;
	app->cache_path = NULL;
	pthread_mutex_destroy(&app->shelf_lock);
}
