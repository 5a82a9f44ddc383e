/*
 * Who is at the other end of a connection, as the kernel says.
 */
#ifndef EXPORTER_HTTP_PEER_H
#define EXPORTER_HTTP_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "exporter/api/route.h"

/* Of a Unix socket; all zero for others. */
struct peer peer_of(int fd);

/* Did it come by an address that only this machine reaches? */
bool peer_by_loopback(int fd);

/* A number for an address, without the half of an IPv6 address that a client chooses. 0 for NULL and others. */
uint64_t peer_number(const struct sockaddr *a);

#endif
