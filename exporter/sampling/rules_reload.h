/*
 * Reads the file of --jobs.rules at the start, and again on SIGHUP or POST /-/reload. A file with a
 * mistake changes nothing, and the error sentence says what is wrong.
 */
#ifndef EXPORTER_SAMPLING_RULES_RELOAD_H
#define EXPORTER_SAMPLING_RULES_RELOAD_H

#include "exporter/core/app.h"

struct job_rules; /* exporter/discovery/job_rules.h */
struct options;

/* Reads the rules for the start; *ret is NULL without the option. */
int rules_reload_begin(const struct options *o, struct job_rules **ret, struct err *e);

/* Replaces the sampler's rules. -ECANCELED: it does not answer. Any thread but the sampler's. */
int rules_reload_now(struct app *app, struct err *e);

/* The same on SIGHUP: errors go to the log, and a signal to end stops the waiting. */
void rules_reload(struct app *app);

#endif
