/* The HTTP server of the site (exporter/site/site.h). The server has two threads for each listening
 * address. */
#ifndef EXPORTER_HTTP_HTTP_H
#define EXPORTER_HTTP_HTTP_H

#include "exporter/core/app.h"

#define HTTP_DEFAULT_ADDRESS "127.0.0.1:9877"
#define HTTP_ADDRESSES_MAX   16

struct http;

/* Starts to serve on all `addresses` (exporter/http/listen.h) and on the sockets that systemd
 * passed. Logs each address. Serves on HTTP_DEFAULT_ADDRESS if there are no addresses and no
 * sockets. If one address fails, serves on no address, and `e` names the failed one. `app` must
 * outlive the server. */
int http_start(struct http **ret, struct app *app, const struct text_list *addresses,
	struct err *e);

/* Returns the served address with index `i` and its real port. Returns NULL when `i` is too
 * large. */
const char *http_address(const struct http *h, size_t i);

/* Returns the URL of the page for a browser on this machine, such as "http://127.0.0.1:9877/".
 * `*address` receives the address that the URL contains, such as "127.0.0.1:9877". Returns NULL
 * when only Unix sockets are served. Both texts live as long as `h`. */
const char *http_page_url(const struct http *h, const char **address);

/* http_stop waits at most this many seconds for a thread that reads the history, because the disk
 * may hang. */
#define HTTP_LEAVE_SECONDS 5

/* Closes all connections, joins the threads and frees `h`. NULL does nothing.
 *
 * If a slow request still reads the history after HTTP_LEAVE_SECONDS, logs an error and returns
 * -ETIMEDOUT. Its thread still uses `app`, so the caller must end the program by _exit(2). The wait
 * for event streams and for other reads has no limit of its own, but the exit deadline
 * (exporter/lifecycle/exit_deadline.h) ends the program. */
int http_stop(struct http *h);

#endif
