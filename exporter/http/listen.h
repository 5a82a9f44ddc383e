/* Opens listening sockets for addresses such as "127.0.0.1:9877", "[::1]:9877", "localhost:9877"
 * and ":9877" (every address of this machine). Port 0 stands for any free port. */
#ifndef EXPORTER_HTTP_LISTEN_H
#define EXPORTER_HTTP_LISTEN_H

#include <stddef.h>

#include "collectors/base/err.h"
#include "exporter/options/shapes.h"

/* The first descriptor that systemd passes to a service (sd_listen_fds(3)). */
#define LISTEN_FIRST_GIVEN 3

/* Opens a listening socket for `address`. The socket is non-blocking and close-on-exec. `bound`
 * receives the address with the port that the kernel chose. */
int listen_open(int *ret, const char *address, char bound[LISTEN_TEXT_MAX], struct err *e);

/* Prepares a socket that systemd passed. `bound` receives the address of the socket, or "unix:PATH"
 * for a Unix socket. The caller owns `fd`. */
int listen_adopt(int fd, char bound[LISTEN_TEXT_MAX], struct err *e);

/* Opens a Unix socket at `path`. Only root and the user of this program can connect to it. Replaces
 * a stale socket at `path`, on which no process listens. Any other file at `path` is an error. */
int listen_unix(int *ret, const char *path, struct err *e);
/* Removes a stale socket at `path`, on which no process listens. Does not remove any other file. */
void listen_drop_unix(const char *path);

#endif
