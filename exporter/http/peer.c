#include "exporter/http/peer.h"

#include <netinet/in.h>
#include <string.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct peer peer_of(int fd)
{
	int domain = AF_UNSPEC;
	socklen_t len = sizeof domain, peer_len = sizeof(struct ucred);
	struct ucred peer;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0 || domain != AF_UNIX ||
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) < 0)
		return (struct peer){0};
	return (struct peer){.local = true, .uid = peer.uid, .pid = peer.pid};
}

bool peer_by_loopback(int fd)
{
	union address at = {0};
	socklen_t len = sizeof at;

	if (getsockname(fd, &at.any, &len) < 0)
		return false;
	if (at.any.sa_family == AF_INET)
		return ntohl(at.v4.sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
	if (at.any.sa_family != AF_INET6)
		return false;
	/* On a socket for both IPv4 and IPv6, an IPv4 address has the form ::ffff:127.0.0.1. */
	return IN6_IS_ADDR_V4MAPPED(&at.v6.sin6_addr) ?
		       at.v6.sin6_addr.s6_addr[12] == IN_LOOPBACKNET :
		       IN6_IS_ADDR_LOOPBACK(&at.v6.sin6_addr);
}

uint64_t peer_number(const struct sockaddr *a)
{
	uint64_t ret = 0;

	if (a && a->sa_family == AF_INET) {
		ret = ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr;
	} else if (a && a->sa_family == AF_INET6) {
		const struct in6_addr *v6 =
			&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;

		/* The client uses IPv4, on a socket for both IPv4 and IPv6. */
		if (IN6_IS_ADDR_V4MAPPED(v6))
			memcpy(&ret, &v6->s6_addr[12], sizeof(uint32_t));
		else
			memcpy(&ret, v6, sizeof ret);
	}
	return ret;
}
