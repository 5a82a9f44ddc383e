/*
 * The thread that computes the costs of jobs for /metrics. Every 15 s it reads the history, and
 * computes jobs again when a run of them ended. A scrape only copies the result. The thread uses
 * the catalogue at hand, and never fetches one.
 */
#ifndef EXPORTER_SAMPLING_JOB_COSTS_H
#define EXPORTER_SAMPLING_JOB_COSTS_H

#include "collectors/collector.h"
#include "exporter/core/app.h"

struct job_costs;

int job_costs_start(struct job_costs **ret, struct app *app, struct err *e);
void job_costs_stop(struct job_costs *c); /* also after job_costs_new; NULL does nothing */

/* One pass of the thread, for tests. */
struct job_costs *job_costs_new(struct app *app);
int job_costs_look(struct job_costs *c, struct err *e);

/* The latest costs as points. Not in all_collectors: always on, and absent without costs. */
extern const struct collector collector_costs;

#endif
