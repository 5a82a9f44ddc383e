/*
 * --jobs.rules at work: read at the start, and again on SIGHUP or POST /-/reload. A file with a mistake changes
 * nothing; the sentence says what is wrong with it.
 */
#ifndef EXPORTER_SAMPLING_RULES_RELOAD_H
#define EXPORTER_SAMPLING_RULES_RELOAD_H

#include "exporter/core/app.h"

struct job_rules; /* exporter/discovery/job_rules.h */
struct options;

/* Reads the rules for the start; *ret is NULL without the option. */
int rules_reload_begin(const struct options *o, struct job_rules **ret, struct err *e);

/* The same later. -ECANCELED: the sampler does not answer. Any thread but the sampler's. */
int rules_reload_now(struct app *app, struct err *e);

/* The same on SIGHUP: the log says what is wrong. It waits no longer when the end is asked for. */
void rules_reload(struct app *app);

#endif
