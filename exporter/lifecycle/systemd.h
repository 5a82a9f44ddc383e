/* Protocols between systemd and a service: readiness (sd_notify(3)), the watchdog (WATCHDOG_USEC),
 * and sockets passed by systemd (LISTEN_FDS). The functions do nothing without systemd. */
#ifndef EXPORTER_LIFECYCLE_SYSTEMD_H
#define EXPORTER_LIFECYCLE_SYSTEMD_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/err.h"

/* Sends a state such as "READY=1" to $NOTIFY_SOCKET. Returns false when the variable is not set or
 * sending fails. */
bool systemd_notify(const char *state);

/* Returns the number of listening sockets that systemd passed, and marks them close-on-exec. Their
 * descriptors start at LISTEN_FIRST_GIVEN (exporter/http/listen.h). Call it before other threads
 * start. */
size_t systemd_sockets(void);

struct systemd_service;

/* Notifies systemd that the server is ready. If the watchdog is on, starts a thread that notifies
 * systemd while healthy(context) returns true. */
int systemd_start(struct systemd_service **ret, bool (*healthy)(void *context), void *context,
	struct err *e);
void systemd_stop(struct systemd_service *s); /* NULL does nothing */

#endif
