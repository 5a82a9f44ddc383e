/*
 * What systemd wants of a service: to be told when it is ready (sd_notify(3)) and that it still works (WATCHDOG_USEC),
 * and to serve on sockets that it was given (LISTEN_FDS). Without systemd all of it does nothing.
 */
#ifndef EXPORTER_LIFECYCLE_SYSTEMD_H
#define EXPORTER_LIFECYCLE_SYSTEMD_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/err.h"

/* Sends "READY=1" or the like to $NOTIFY_SOCKET; false when nobody wants to know, or it could not be told. */
bool systemd_notify(const char *state);

/*
 * How many listening sockets were given, from descriptor LISTEN_FIRST_GIVEN (exporter/http/listen.h) on; from now on they are closed on exec.
 * Before other threads start.
 */
size_t systemd_sockets(void);

struct systemd_service;

/*
 * Says that we are ready; then, while healthy(context) is true, says so as often as the watchdog wants. It is called on a
 * thread of its own.
 */
int systemd_start(struct systemd_service **ret, bool (*healthy)(void *context), void *context,
	struct err *e);
void systemd_stop(struct systemd_service *s); /* NULL does nothing */

#endif
