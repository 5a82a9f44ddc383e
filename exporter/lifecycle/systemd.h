/*
 * Protocols between systemd and a service: readiness (sd_notify(3)), the watchdog (WATCHDOG_USEC),
 * and sockets passed by systemd (LISTEN_FDS). Does nothing without systemd.
 */
#ifndef EXPORTER_LIFECYCLE_SYSTEMD_H
#define EXPORTER_LIFECYCLE_SYSTEMD_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/err.h"

/* Sends a state such as "READY=1" to $NOTIFY_SOCKET. False: not set, or sending failed. */
bool systemd_notify(const char *state);

/*
 * The number of listening sockets passed by systemd, from descriptor LISTEN_FIRST_GIVEN
 * (exporter/http/listen.h) on. Marks them close-on-exec. Call before other threads start.
 */
size_t systemd_sockets(void);

struct systemd_service;

/*
 * Notifies systemd that the server is ready. If the watchdog is on, a thread then notifies it while
 * healthy(context), which it calls, is true.
 */
int systemd_start(struct systemd_service **ret, bool (*healthy)(void *context), void *context,
	struct err *e);
void systemd_stop(struct systemd_service *s); /* NULL does nothing */

#endif
