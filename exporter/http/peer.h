/* Identifies the client of a connection by its socket. */
#ifndef EXPORTER_HTTP_PEER_H
#define EXPORTER_HTTP_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "exporter/api/route.h"

/* Returns the user and the process at the client's end of a Unix socket. All members are zero for
 * other sockets. */
struct peer peer_of(int fd);

/* Returns true when the client connected to a loopback address, which only this machine can
 * reach. */
bool peer_by_loopback(int fd);

/* Returns a number for an address: the whole IPv4 address, or the first half of an IPv6 address.
 * The second half is left out, because clients choose it themselves. 0 = neither IPv4 nor IPv6. */
uint64_t peer_number(const struct sockaddr *a);

#endif
