/* Changes (POST): decides who may make them, and calls the route.
 *
 * Over the Unix socket, root and the user of the exporter may make changes. Over TCP with
 * --web.changes-token-file, only clients with its token may make changes. Over TCP with no token
 * file, users of --web.config.file may make changes. With --web.allow-changes, every client whose
 * Host header names this machine (host_header.h) may make changes, too. In both of these cases, a
 * change from a web page is refused unless this exporter served the page. This prevents CSRF and
 * DNS rebinding. Over TCP, a client with the token of a namespace may always post runs of this
 * namespace, and make no other change. */
#ifndef EXPORTER_SITE_CHANGE_H
#define EXPORTER_SITE_CHANGE_H

#include <stdbool.h>

#include "exporter/site/site_state.h"

/* Answers a POST. Returns false when no route for changes has this path. */
bool site_change(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret);

/* Returns true if some clients may make changes over TCP. Exporters that forward runs to this one
 * need that. */
bool site_changes_come_by_tcp(const struct options *o);

/* Returns true when a route for changes has this path. `path` must have no query. */
bool site_change_at(const char *path);
/* Returns true when the route with this path has `takes_long` (exporter/api/route.h). */
bool site_change_takes_long(const char *path);

#endif
