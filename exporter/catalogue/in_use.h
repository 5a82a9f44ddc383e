/*
 * The catalogue that a running program answers from.
 */
#ifndef EXPORTER_CATALOGUE_IN_USE_H
#define EXPORTER_CATALOGUE_IN_USE_H

#include "exporter/core/app.h"
#include "exporter/catalogue/current.h"

/*
 * The catalogue in use (exporter/catalogue/current.h), held until catalogue_use_done. A negative errno with a sentence when
 * it cannot be read; the next call tries again. Any thread.
 */
struct catalogue_use {
	struct catalogue *catalogue;
	struct current_catalogue_state state;
};
int catalogue_use_begin(struct app *app, struct catalogue_use *ret, struct err *e);
/* The same for one look: nothing is kept for the next one, and nothing fetched because of it. */
int catalogue_use_once(struct app *app, struct catalogue_use *ret, struct err *e);
void catalogue_use_done(struct catalogue_use *u); /* for AUTO; of zeroed memory nothing */

#endif
