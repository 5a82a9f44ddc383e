/* Identifies the client of a connection by its socket. */
#ifndef EXPORTER_HTTP_PEER_H
#define EXPORTER_HTTP_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "exporter/api/route.h"

/* The user and the process behind a Unix socket; all zero for other sockets. */
struct peer peer_of(int fd);

/* Did the client connect to a loopback address, which only this machine reaches? */
bool peer_by_loopback(int fd);

/* The IPv4 address, or the first half of an IPv6 address: clients choose the rest. 0: other. */
uint64_t peer_number(const struct sockaddr *a);

#endif
