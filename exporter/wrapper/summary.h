/* The few lines that `run` leaves on stderr. */
#ifndef EXPORTER_WRAPPER_SUMMARY_H
#define EXPORTER_WRAPPER_SUMMARY_H

#include "collectors/base/buf.h"
#include "exporter/core/app.h"
#include "recommender/run.h"

#define SUMMARY_MAX 8192

/* Reads the run and its job's history; says why when it cannot, and ret stays as it was, which is empty. */
void summary_make(struct app *app, const char *run_id, struct buf *ret);

/*
 * Frees it. Nobody reading it is no failure, and who waits for our end before reading is not waited for; whoever stopped a
 * terminal is.
 */
void summary_print(struct buf *summary);

#endif
