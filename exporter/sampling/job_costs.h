/*
 * The thread that keeps what jobs cost for /metrics: looks into the history now and then, and computes anew for jobs
 * of which a run has ended since. A scrape only copies.
 *
 * It answers from the catalogue that is there, and never makes the program fetch one.
 */
#ifndef EXPORTER_SAMPLING_JOB_COSTS_H
#define EXPORTER_SAMPLING_JOB_COSTS_H

#include "collectors/collector.h"
#include "exporter/core/app.h"

struct job_costs;

int job_costs_start(struct job_costs **ret, struct app *app, struct err *e);
void job_costs_stop(struct job_costs
		*c); /* also one that was made by job_costs_new; NULL does nothing */

/* One look, as the thread makes it. */
struct job_costs *job_costs_new(struct app *app);
int job_costs_look(struct job_costs *c, struct err *e);

/* What was found last, as points. Not in all_collectors: it is always on, and absent without costs. */
extern const struct collector collector_costs;

#endif
