/* A server on sockets of 127.0.0.1 with a fake sampler, and its clients. A test that uses it must
 * define the routes and link fake_sampler. */
#ifndef TESTS_SUPPORT_HTTP_WORLD_H
#define TESTS_SUPPORT_HTTP_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "collectors/base/buf.h"
#include "exporter/core/app.h"
#include "exporter/http/http.h"

#define HTTP_WORLD_REPLY_MAX (1u << 20)

struct http_world {
	struct options options;
	struct app app;
	struct http *http;
	uint16_t port; /* port of the first address */
};

/* http_world_new() makes a world whose options can still be changed. http_world_start() starts the
 * server on `n_addresses` addresses. */
struct http_world *http_world_new(void);
void http_world_start(struct http_world *w, size_t n_addresses);

/* Set-up for cmocka: the server listens on one address. http_world_end() stops it. */
int http_world_begin(void **state);
int http_world_end(void **state);

uint16_t http_port_of(const char *address);
int http_connect(uint16_t port);

/* Sends all data. Stops early if the server stops reading. */
void http_send_all(int fd, const char *data, size_t len);

/* Receives data until the server closes the connection. */
void http_receive_all(int fd, struct buf *out);

/* Sends the bytes of `request` on a new connection, and returns the whole answer. */
struct buf http_talk(struct http_world *w, const char *request, size_t len);

/* Sends a request and returns the whole answer. `headers` are whole lines, each with its line
 * end. */
struct buf http_get(struct http_world *w, const char *method, const char *target,
	const char *headers);

int http_status_of(const struct buf *reply); /* status of the reply; 0 = no answer */

#endif
