/* Finds the URL of the web page of a run. A server that uses the same history file shows this
 * page. */
#ifndef EXPORTER_WRAPPER_RUN_LINK_H
#define EXPORTER_WRAPPER_RUN_LINK_H

#include "collectors/base/buf.h"
#include "exporter/core/identity.h"
#include "exporter/history/history.h"

/* run_link_add waits at most this many milliseconds for the server to accept a connection. */
#define RUN_LINK_MS 200

/* Adds the URL of the run's page to `out`, if the server runs on this machine and accepts a
 * connection now. Otherwise adds nothing. `here` is the boot and the PID namespace of this process.
 * Returns a negative errno when the history cannot be read. */
int run_link_add(struct buf *out, struct history *h, const struct run_root *here,
	const char *run_id, struct err *e);

#endif
