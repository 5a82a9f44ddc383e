/* The objects that the whole program shares. main() sets the pointers before it starts threads.
 * They do not change afterwards. Commands that only query the history (recommend, stats, ...) set
 * only `columns`, `history_path` and `options`. */
#ifndef EXPORTER_CORE_APP_H
#define EXPORTER_CORE_APP_H

#include <pthread.h>
#include <stdint.h>

#include "collectors/base/err.h"
#include "exporter/core/columns.h"
#include "exporter/options/options.h"

struct identity;
struct sampler;
struct historian;
struct this_server;
struct pod_owners;
struct current_catalogue;
struct run_forecasts;
struct result_cache;
struct neighbourhoods;
struct progress;

struct app {
	const struct options *options;
	const struct identity *self; /* NULL = this process does not search for runs */
	struct columns columns;
	const char *history_path;
	/* Why the history file cannot be used: runs are then recorded only in memory. Code 0 = the
	 * file is used. */
	struct err not_in_history;
	struct sampler *sampler;               /* may be NULL */
	struct historian *historian;           /* may be NULL */
	struct this_server *machine;           /* NULL = the server is known only from options */
	struct pod_owners *pod_owners;         /* NULL = owners of pods are not looked up */
	struct run_forecasts *run_forecasts;   /* may be NULL */
	struct result_cache *results;          /* NULL = no cache; freed by app_caches_done */
	struct progress *progress;             /* shown by a command; NULL = not shown */
	struct neighbourhoods *neighbourhoods; /* NULL = no cache; freed by app_caches_done */
	/* Number of listening sockets that systemd passed to this process
	 * (exporter/lifecycle/systemd.h). */
	size_t n_sockets;
	/* Last time at which the program began to follow a run, in ns of CLOCK_BOOTTIME; 0 = never.
	 * Any thread. */
	_Atomic int64_t run_begun_ns;
	bool refreshes_catalogue; /* this process may fetch the catalogue in the background */
	/* Only exporter/catalogue/in_use.c uses the members below. */
	pthread_mutex_t catalogue_lock; /* guards the creation of current_catalogue */
	struct current_catalogue *current_catalogue;
	char *cache_path;
	/* "VENDOR~REGION" of the cloud server on which this program runs; at most
	 * CATALOGUE_HOME_MAX bytes */
	char home[100];
};

#define APP_INIT ((struct app){.catalogue_lock = PTHREAD_MUTEX_INITIALIZER})

#endif
