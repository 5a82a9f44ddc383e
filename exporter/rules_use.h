/*
 * --jobs.rules at work: read at the start, and again on SIGHUP or POST /-/reload. A file with a mistake changes
 * nothing; the sentence says what is wrong with it.
 */
#ifndef EXPORTER_RULES_USE_H
#define EXPORTER_RULES_USE_H

#include "exporter/app.h"

/* Without the option, 0. Any thread but the sampler's. */
int rules_use(struct app *app, struct err *e);

/* The same on SIGHUP: the log says what is wrong. */
void rules_reload(struct app *app);

#endif
