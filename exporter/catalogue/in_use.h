/* The catalogue that the running program uses for its answers. */
#ifndef EXPORTER_CATALOGUE_IN_USE_H
#define EXPORTER_CATALOGUE_IN_USE_H

#include "exporter/core/app.h"
#include "exporter/catalogue/current.h"

/* A reference to the catalogue in use (exporter/catalogue/current.h), and its state. Valid from
 * catalogue_use_begin to catalogue_use_done. If the catalogue cannot be read, catalogue_use_begin
 * returns a negative errno with a message. The next call tries again. Any thread may call these
 * functions. */
struct catalogue_use {
	struct catalogue *catalogue;
	struct current_catalogue_state state;
};
int catalogue_use_begin(struct app *app, struct catalogue_use *ret, struct err *e);
/* Like catalogue_use_begin, but for programs that need the catalogue only once: the catalogue does
 * not stay in memory afterwards, and the call does not start the thread that fetches catalogues. */
int catalogue_use_once(struct app *app, struct catalogue_use *ret, struct err *e);
/* Cleanup function for AUTO; ignores a zeroed struct. */
void catalogue_use_done(struct catalogue_use *u);

#endif
