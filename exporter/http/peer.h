/* Identifies the client of a connection by its socket. */
#ifndef EXPORTER_HTTP_PEER_H
#define EXPORTER_HTTP_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "exporter/api/route.h"

/* Returns the user and the process that connected to the Unix socket `fd`. For other sockets, all
 * members are 0. */
struct peer peer_of(int fd);

/* Returns true when the client connected to a loopback address, which only this machine can
 * reach. */
bool peer_by_loopback(int fd);

/* Returns a number that identifies a client: its IPv4 address, or the first half of its IPv6
 * address. The second half is ignored, because a client can choose it itself. 0 = the address is
 * neither IPv4 nor IPv6. */
uint64_t peer_number(const struct sockaddr *a);

#endif
