/*
 * What the parts of one running program share. Filled by main before threads start; the pointers do not
 * change afterwards. In the command-line answers (recommend, stats, ...) only columns, history_path and
 * options are set.
 */
#ifndef EXPORTER_APP_H
#define EXPORTER_APP_H

#include "collectors/base/latest.h"
#include "exporter/history.h"
#include "exporter/options.h"

struct sampler;
struct historian;
struct catalogue;

struct app {
	const struct options *options;
	struct columns columns;
	const char *history_path;
	struct sampler *sampler;     /* NULL without one */
	struct historian *historian; /* NULL without one */
};

/* The catalogue in use: built in or --catalogue.path; loaded at the first call. Any thread. */
const struct catalogue *app_catalogue(struct app *app, struct err *e);

#endif
