/* The thread that computes the costs of jobs for /metrics, their recommended sizes and the warnings
 * (job_advice.h). It reads the history every 15 s, and computes a job again when one of its runs has
 * begun or ended. A scrape only copies the result. The thread uses the catalogue that is already in
 * memory or on disk. It never fetches a catalogue. */
#ifndef EXPORTER_SAMPLING_JOB_COSTS_H
#define EXPORTER_SAMPLING_JOB_COSTS_H

#include "collectors/collector.h"
#include "exporter/core/app.h"

struct job_costs;

int job_costs_start(struct job_costs **ret, struct app *app, struct err *e);
void job_costs_stop(struct job_costs *c); /* frees `c`; NULL does nothing */

/* For tests: job_costs_look does one round of the thread's work. */
struct job_costs *job_costs_new(struct app *app);
int job_costs_look(struct job_costs *c, struct err *e);

/* The collector that reports the latest costs as metrics. No option switches it off, so it is not in
 * all_collectors. If there are no costs, its metrics are absent. */
extern const struct collector collector_costs;

#endif
