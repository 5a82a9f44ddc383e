/*
 * What the parts of one running program share. Filled by main before threads start; the pointers
 * do not change afterwards. In the command-line answers (recommend, stats, ...) only columns,
 * history_path and options are set.
 */
#ifndef EXPORTER_CORE_APP_H
#define EXPORTER_CORE_APP_H

#include <pthread.h>

#include "exporter/core/columns.h"
#include "exporter/options/options.h"

struct identity;
struct sampler;
struct historian;
struct this_server;
struct current_catalogue;
struct run_forecasts;
struct result_cache;

struct app {
	const struct options *options;
	const struct identity *self; /* exporter/core/identity.h; NULL: runs are not looked for */
	struct columns columns;
	const char *history_path;
	struct sampler *sampler;             /* NULL without one */
	struct historian *historian;         /* NULL without one */
	struct this_server *machine;         /* NULL: only options say which server this is */
	struct run_forecasts *run_forecasts; /* NULL without */
	struct result_cache
		*results; /* NULL: each result is for one answer; freed by app_caches_done */
	size_t n_sockets; /* to serve on, given by systemd: exporter/lifecycle/systemd.h */
	bool refreshes_catalogue; /* may fetch it in the background */
	/* Private to exporter/catalogue/in_use.c. */
	pthread_mutex_t catalogue_lock; /* guards the making of shelf */
	struct current_catalogue *current_catalogue;
	char *cache_path;
	char home[100]; /* region of this server, CATALOGUE_HOME_MAX */
};

#define APP_INIT ((struct app){.catalogue_lock = PTHREAD_MUTEX_INITIALIZER})

#endif
