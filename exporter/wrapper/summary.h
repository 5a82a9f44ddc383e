/* The summary that `run` prints to stderr at its end. */
#ifndef EXPORTER_WRAPPER_SUMMARY_H
#define EXPORTER_WRAPPER_SUMMARY_H

#include "collectors/base/buf.h"
#include "exporter/core/app.h"
#include "recommender/run.h"

#define SUMMARY_MAX 8192

/* Fills ret, which is empty, from the run and its job's history. Logs failures. */
void summary_make(struct app *app, const char *run_id, struct buf *ret);

/*
 * Prints and frees the summary; a failed write is ignored. Waits for a stopped terminal without a
 * limit, and for other readers 1 s at most: a caller may read only after the wrapper has ended.
 */
void summary_print(struct buf *summary);

#endif
