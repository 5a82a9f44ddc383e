/* Prints the summary of a run to stderr when the command run ends. */
#ifndef EXPORTER_WRAPPER_SUMMARY_H
#define EXPORTER_WRAPPER_SUMMARY_H

#include "collectors/base/buf.h"
#include "exporter/core/app.h"
#include "exporter/core/identity.h"
#include "recommender/run.h"

#define SUMMARY_MAX 8192

/* Fills the empty buffer `ret` from the run and the history of its job. Ends with a link to the page of
 * the run, if a server of this machine shows it (`here`: this process's boot and PID namespace). Logs
 * failures. */
void summary_make(struct app *app, const struct run_root *here, const char *run_id,
	struct buf *ret);

/* Prints and frees the summary. Ignores a failed write. Waits without limit for a stopped terminal.
 * Waits 1 s at most for any other reader, because a caller may read only after the wrapper has
 * ended. */
void summary_print(struct buf *summary);

#endif
