/* The few lines that `run` leaves on stderr. */
#ifndef EXPORTER_SUMMARY_H
#define EXPORTER_SUMMARY_H

#include "exporter/app.h"
#include "recommender/run.h"

/* Reads the run and its job's history, and prints; says why when it cannot. */
void summary_print(struct app *app, const char *run_id);

#endif
