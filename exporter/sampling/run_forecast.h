/*
 * Forecasts of active runs for /metrics: the risk that a run reaches its memory limit, its
 * duration, and the unused part of its request.
 *
 * A thread of its own reads the job's earlier runs once per run, when the run is first seen: 10 ms
 * of CPU at 50 runs, 0.2 s at 200. A tick then costs the sampler about a microsecond per run.
 */
#ifndef EXPORTER_SAMPLING_RUN_FORECAST_H
#define EXPORTER_SAMPLING_RUN_FORECAST_H

#include "collectors/snapshot.h"
#include "exporter/core/app.h"

/* Most runs that have a forecast at the same time; further ones have none. */
#define RUN_FORECASTS_MAX 256

struct run_forecasts;

int run_forecasts_start(struct run_forecasts **ret, struct app *app, struct err *e);
void run_forecasts_stop(struct run_forecasts *o); /* NULL does nothing */

/* Adds points of collector_outlook to a snapshot with runs. o NULL: none. Sampler thread. */
void run_forecasts_add(struct run_forecasts *o, struct snapshot *s);

/* Declares the metrics; run_forecasts_add makes their points. */
extern const struct collector collector_outlook;

#endif
