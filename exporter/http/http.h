/*
 * The HTTP server: the site (exporter/site/site.h) on sockets, by libmicrohttpd, which only
 * http.c and its parts know. Two threads per listening address.
 */
#ifndef EXPORTER_HTTP_HTTP_H
#define EXPORTER_HTTP_HTTP_H

#include "exporter/core/app.h"

#define HTTP_DEFAULT_ADDRESS "127.0.0.1:9877"
#define HTTP_ADDRESSES_MAX   16

struct http;

/*
 * Serves on all addresses (exporter/http/listen.h) and logs them, or on none and says which one failed. No addresses
 * means HTTP_DEFAULT_ADDRESS. app must outlive the server.
 */
int http_start(struct http **ret, struct app *app, const struct text_list *addresses,
	struct err *e);

/* The i-th address that is served on, with its real port; NULL past the last. */
const char *http_address(const struct http *h, size_t i);

/* An answer from the history that takes longer, as from a disk that hangs, does not hold up the end. */
#define HTTP_LEAVE_SECONDS 5

/*
 * No new connections, ends open ones, joins. NULL does nothing. -ETIMEDOUT after HTTP_LEAVE_SECONDS, which is logged: an
 * answer from the history is still being made, not all was freed, and app is in use; leave by _exit(2). Streams and what
 * else may be in the disk are waited for without limit: that is for exporter/lifecycle/exit_deadline.h.
 */
int http_stop(struct http *h);

#endif
