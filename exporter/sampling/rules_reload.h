/* Reads the file of --jobs.rules when the program starts, and again on SIGHUP or POST /-/reload. If
 * the file has a mistake then, the rules in use stay, and the error describes the mistake. */
#ifndef EXPORTER_SAMPLING_RULES_RELOAD_H
#define EXPORTER_SAMPLING_RULES_RELOAD_H

#include "exporter/core/app.h"

struct job_rules; /* exporter/discovery/job_rules.h */
struct options;

/* Reads the rules at the start; *ret is NULL when --jobs.rules is not given. */
int rules_reload_begin(const struct options *o, struct job_rules **ret, struct err *e);

/* Reads the rules again and passes them to the sampler. -ECANCELED: the sampler does not answer.
 * Any thread except the sampler's. */
int rules_reload_now(struct app *app, struct err *e);

/* Like rules_reload_now, but for SIGHUP: logs errors, and stops waiting for the sampler when a
 * signal to end the program arrives. */
void rules_reload(struct app *app);

#endif
