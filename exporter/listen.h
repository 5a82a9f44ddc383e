/*
 * Sockets to serve on, from texts like "127.0.0.1:9877", "[::1]:9877", "localhost:9877", ":9877"
 * (every address of this machine). Port 0 takes a free one.
 */
#ifndef EXPORTER_LISTEN_H
#define EXPORTER_LISTEN_H

#include <stddef.h>

#include "collectors/base/err.h"

#define LISTEN_TEXT_MAX 128

/*
 * A listening socket, non-blocking, closed on exec. bound gets the address as it became:
 * "127.0.0.1:43567". The sentence names the address and what is wrong with it.
 */
int listen_open(int *ret, const char *address, char bound[LISTEN_TEXT_MAX], struct err *e);

#endif
