/*
 * What changes something: who may ask for it, and which route it is.
 *
 * By the Unix socket, the user that we run as and root may. Over TCP nobody may, unless --web.allow-changes is given;
 * then the Host header must name this machine by address, localhost or --web.allowed-host, and a browser must
 * have got its page from here, so that no other site can use it (CSRF, DNS rebinding).
 */
#ifndef EXPORTER_SITE_CHANGE_H
#define EXPORTER_SITE_CHANGE_H

#include <stdbool.h>

#include "exporter/site/site_state.h"

/* Answers a POST; false when no change has this path. */
bool site_change(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret);

/* Does a change have this path (without a query)? */
bool site_change_at(const char *path);
bool site_change_takes_long(const char *path);

#endif
