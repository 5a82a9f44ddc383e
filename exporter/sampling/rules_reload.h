/* Reads the file of --jobs.rules when the server starts, and again on SIGHUP or POST /-/reload. If
 * the file has a mistake at the start, the server does not start. If a reload finds a mistake, the
 * earlier rules stay in use. The error describes the mistake. */
#ifndef EXPORTER_SAMPLING_RULES_RELOAD_H
#define EXPORTER_SAMPLING_RULES_RELOAD_H

#include "exporter/core/app.h"

struct job_rules; /* exporter/discovery/job_rules.h */
struct options;

/* Reads the rules when the server starts. Set `*ret` to NULL before the call. Without --jobs.rules,
 * and after an error, it stays NULL. */
int rules_reload_begin(const struct options *o, struct job_rules **ret, struct err *e);

/* Reads the rules again and passes them to the sampler. -ECANCELED: the sampler does not answer.
 * Any thread except the sampler's. */
int rules_reload_now(struct app *app, struct err *e);

/* Like rules_reload_now, but for SIGHUP: logs errors, and stops waiting for the sampler when a
 * signal to end the program arrives. */
void rules_reload(struct app *app);

#endif
