/*
 * Sockets to serve on, from texts like "127.0.0.1:9877", "[::1]:9877", "localhost:9877", ":9877"
 * (every address of this machine). Port 0 takes a free one.
 */
#ifndef EXPORTER_HTTP_LISTEN_H
#define EXPORTER_HTTP_LISTEN_H

#include <stddef.h>

#include "collectors/base/err.h"
#include "exporter/options/shapes.h"

/* The first descriptor of sockets that systemd hands over (sd_listen_fds(3)). */
#define LISTEN_FIRST_GIVEN 3

/*
 * A listening socket, non-blocking, closed on exec. bound gets the address as it became:
 * "127.0.0.1:43567". The sentence names the address and what is wrong with it.
 */
int listen_open(int *ret, const char *address, char bound[LISTEN_TEXT_MAX], struct err *e);

/*
 * The same for a socket that somebody else opened; bound of a Unix socket is "unix:PATH". The caller goes on to own fd.
 */
int listen_adopt(int fd, char bound[LISTEN_TEXT_MAX], struct err *e);

/*
 * The same for a Unix socket at path, which only our own user and root may connect to. One that is left over from a
 * program that is gone is replaced; anything else at that path is an error.
 */
int listen_unix(int *ret, const char *path, struct err *e);
/* When nobody listens there any more, removes it from its folder; what is no socket, or another program's, stays. */
void listen_drop_unix(const char *path);

#endif
