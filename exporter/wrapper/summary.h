/* The summary of a run. `rightsize-exporter run` prints it to stderr when the run has ended. */
#ifndef EXPORTER_WRAPPER_SUMMARY_H
#define EXPORTER_WRAPPER_SUMMARY_H

#include "collectors/base/buf.h"
#include "exporter/core/app.h"
#include "exporter/core/identity.h"
#include "recommender/run.h"

#define SUMMARY_MAX 8192

/* Writes the summary to the empty buffer `ret`, from the run and the history of its job. If a
 * server on this machine shows the page of the run, the summary ends with a link to it. `here` is
 * the boot and the PID namespace of this process. Logs failures. */
void summary_make(struct app *app, const struct run_root *here, const char *run_id,
	struct buf *ret);

/* Prints the summary on stderr and frees it. A failed write is ignored. There is no time limit if
 * stderr is a terminal. If it is something else, such as a pipe, this function gives up when
 * nothing could be written for 1 s: the reader may be waiting for the end of this program. */
void summary_print(struct buf *summary);

#endif
