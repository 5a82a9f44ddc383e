/*
 * Changes (POST): who may make them, and which route carries them out.
 *
 * Unix socket: root and the user that the exporter runs as. TCP: clients with the token of
 * --web.changes-token-file if that is given; else users of --web.config.file, and with
 * --web.allow-changes everybody whose Host header names this machine (host_header.h). Without a
 * token file, browsers must have loaded their page from here (CSRF, DNS rebinding).
 */
#ifndef EXPORTER_SITE_CHANGE_H
#define EXPORTER_SITE_CHANGE_H

#include <stdbool.h>

#include "exporter/site/site_state.h"

/* Answers a POST; false when no change has this path. */
bool site_change(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret);

/* path: without a query. */
bool site_change_at(const char *path);
bool site_change_takes_long(const char *path);

#endif
