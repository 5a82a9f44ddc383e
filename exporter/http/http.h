/* The HTTP server of the site (exporter/site/site.h). Two threads per listening address. */
#ifndef EXPORTER_HTTP_HTTP_H
#define EXPORTER_HTTP_HTTP_H

#include "exporter/core/app.h"

#define HTTP_DEFAULT_ADDRESS "127.0.0.1:9877"
#define HTTP_ADDRESSES_MAX   16

struct http;

/*
 * Serves on all addresses (exporter/http/listen.h) and logs them. If one fails, serves none, and e
 * names it. Without addresses and without sockets from systemd, serves HTTP_DEFAULT_ADDRESS. app
 * must outlive the server.
 */
int http_start(struct http **ret, struct app *app, const struct text_list *addresses,
	struct err *e);

/* The i-th served address with its real port; NULL past the last. */
const char *http_address(const struct http *h, size_t i);

/* http_stop waits this long for an answer from the history: the disk may hang. */
#define HTTP_LEAVE_SECONDS 5

/*
 * Closes all connections, joins the threads and frees h; NULL does nothing. -ETIMEDOUT, which is
 * logged, after HTTP_LEAVE_SECONDS: an answer still reads the history and uses app; end the program
 * by _exit(2). Streams and other readers of the disk are joined without a limit;
 * exporter/lifecycle/exit_deadline.h bounds that.
 */
int http_stop(struct http *h);

#endif
