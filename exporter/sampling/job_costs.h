/* The thread that computes the costs of jobs for /metrics, their recommended sizes and their
 * warnings (job_advice.h). It reads the history every 15 s, or less often if that would take more
 * than a tenth of a CPU. It computes a job again only when one of its runs has begun or ended. A
 * scrape only copies the results. The thread uses a catalogue of prices that is already in memory
 * or on disk, and never fetches one. */
#ifndef EXPORTER_SAMPLING_JOB_COSTS_H
#define EXPORTER_SAMPLING_JOB_COSTS_H

#include "collectors/collector.h"
#include "exporter/catalogue/in_use.h"
#include "exporter/core/app.h"
#include "exporter/history/history.h"
#include "exporter/sampling/job_advice.h"

struct job_costs;

int job_costs_start(struct job_costs **ret, struct app *app, struct err *e);
void job_costs_stop(struct job_costs *c); /* frees `c`; NULL does nothing */

/* Computes the advice for one job now. The thread computes advice only for the JOBS_MAX jobs of
 * /metrics, so use this function for another job. Takes 1 to 5 ms. If `catalogue` is NULL, the
 * saving is unknown. ret->job_name points to `job_name`. Any thread. */
int job_costs_advise(struct app *app, struct history *h, const struct catalogue *catalogue,
	const char *job_name, struct job_advice *ret, struct err *e);

/* For tests: makes the state without a thread, and does one round of the thread's work. */
struct job_costs *job_costs_new(struct app *app);
int job_costs_look(struct job_costs *c, struct err *e);

/* The collector that reports the latest costs as metrics. No option switches it off, so it is not
 * in all_collectors. If there are no costs, its metrics are absent. */
extern const struct collector collector_costs;

#endif
