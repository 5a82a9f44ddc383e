/*
 * What the parts of one running program share. Filled by main before threads start; the pointers
 * do not change afterwards. In the command-line answers (recommend, stats, ...) only columns,
 * history_path and options are set.
 */
#ifndef EXPORTER_APP_H
#define EXPORTER_APP_H

#include <pthread.h>

#include "collectors/base/latest.h"
#include "exporter/history.h"
#include "exporter/options.h"

struct sampler;
struct historian;
struct outlooks;
struct catalogue;

struct app {
	const struct options *options;
	struct columns columns;
	const char *history_path;
	struct sampler *sampler;     /* NULL without one */
	struct historian *historian; /* NULL without one */
	struct outlooks *outlooks;   /* NULL without */
	/* Private to app_catalogue. */
	pthread_mutex_t catalogue_lock; /* guards catalogue */
	struct catalogue *catalogue;
};

#define APP_INIT ((struct app){.catalogue_lock = PTHREAD_MUTEX_INITIALIZER})

/*
 * The catalogue in use: built in or --catalogue.path (.csv, .json); loaded at the first call,
 * kept until app_done. NULL with a sentence when it cannot be read; the next call tries again. Any
 * thread.
 */
const struct catalogue *app_catalogue(struct app *app, struct err *e);

/* After all threads have ended. Frees the catalogue. */
void app_done(struct app *app);

#endif
