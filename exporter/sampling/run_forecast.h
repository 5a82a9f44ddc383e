/* Forecasts of active runs for /metrics: the risk that a run reaches its memory limit, its
 * duration, and the unused part of its request.
 *
 * At the first tick of a run, a separate thread reads the earlier runs of the job. This takes 10 ms
 * of CPU time for 50 earlier runs, and 0.2 s for 200. After that, each tick costs the sampler about
 * a microsecond per run. */
#ifndef EXPORTER_SAMPLING_RUN_FORECAST_H
#define EXPORTER_SAMPLING_RUN_FORECAST_H

#include "collectors/snapshot.h"
#include "exporter/core/app.h"

/* Maximum number of runs with a forecast at the same time. Further runs get no forecast. */
#define RUN_FORECASTS_MAX 256

struct run_forecasts;

int run_forecasts_start(struct run_forecasts **ret, struct app *app, struct err *e);
void run_forecasts_stop(struct run_forecasts *o); /* NULL does nothing */

/* Adds the values of the metrics of collector_outlook to a snapshot that contains runs. Does
 * nothing when `o` is NULL. Sampler thread only. */
void run_forecasts_add(struct run_forecasts *o, struct snapshot *s);

/* Only declares the metrics; run_forecasts_add adds their values. */
extern const struct collector collector_outlook;

#endif
