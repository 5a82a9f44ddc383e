/* Finds the link to the page of a run. A server with the same history shows the page. */
#ifndef EXPORTER_WRAPPER_RUN_LINK_H
#define EXPORTER_WRAPPER_RUN_LINK_H

#include "collectors/base/buf.h"
#include "exporter/core/identity.h"
#include "exporter/history/history.h"

/* Waits at most this long for the server to accept a connection. */
#define RUN_LINK_MS 200

/* Adds the URL of the run's page to `out`, if the server's process is alive on this machine and its
 * address accepts a connection now. Otherwise adds nothing. Returns a negative errno when the
 * history cannot be read. */
int run_link_add(struct buf *out, struct history *h, const struct run_root *here,
	const char *run_id, struct err *e);

#endif
