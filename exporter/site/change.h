/* Answers requests that change something (POST): decides whether the client may make the change,
 * and calls the route.
 *
 * These clients may make changes:
 * - Over the Unix socket: root, and the user who runs the exporter.
 * - Over TCP, with --web.changes-token-file: only clients that send the token in that file.
 * - Over TCP, without that file: users of --web.config.file. With --web.allow-changes, also every
 *   client whose Host header names this machine (host_header.h). Requests of both are refused if
 *   they come from a web page of another site. This prevents CSRF and DNS rebinding.
 * - Over TCP, a client that sends the token of a namespace (--web.namespace-tokens) may always post
 *   runs of this namespace, and make no other change. */
#ifndef EXPORTER_SITE_CHANGE_H
#define EXPORTER_SITE_CHANGE_H

#include <stdbool.h>

#include "exporter/site/site_state.h"

/* Answers a POST: fills `ret`. Returns false when no route for changes has this path. */
bool site_change(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret);

/* Returns true if some clients may make changes over TCP. If not, other exporters cannot forward
 * their runs to this one. */
bool site_changes_come_by_tcp(const struct options *o);

/* Returns true when a route for changes has this path. `path` must not contain a query ("?..."). */
bool site_change_at(const char *path);
/* Returns true when the route with this path has `takes_long` (exporter/api/route.h). */
bool site_change_takes_long(const char *path);

#endif
