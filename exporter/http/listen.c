#include "exporter/http/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

#define BACKLOG 511

static int socket_open(int *ret, const struct addrinfo *a)
{
	AUTO(closep)
	int fd =
		socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
	int on = 1, off = 0;

	if (fd < 0)
		return -errno;
	/* With SO_REUSEADDR, a restarted server can bind at once, and need not wait until old
	 * connections have timed out. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	/* Let "::" accept IPv4, too. For other IPv6 addresses this option has no effect. */
	if (a->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
	if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0)
		return -errno;
	*ret = fd;
	fd = -1; /* NOLINT(clang-analyzer-deadcode.DeadStores): so that it stays open */
	return 0;
}

static void address_text(int fd, char out[LISTEN_TEXT_MAX])
{
	struct sockaddr_storage at = {0};
	socklen_t len = sizeof at;
	char host[96] = "?", port[8] = "?";

	getsockname(fd, (struct sockaddr *)(void *)&at, &len);
	getnameinfo((struct sockaddr *)(void *)&at, len, host, sizeof host, port, sizeof port,
		NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(out, LISTEN_TEXT_MAX, at.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* Binds the first address in `list` that works. Stops at an address that is in use or forbidden,
 * and returns its error. `v6_first` true = try IPv6 addresses before IPv4 addresses. This is needed
 * for ":PORT", because the IPv6 address "::" accepts IPv4, too. */
static int open_one_of(int *ret, const struct addrinfo *list, bool v6_first)
{
	static const int families[] = {AF_INET, AF_INET6};
	int code = -EADDRNOTAVAIL;

	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		for (const struct addrinfo *a = list; a; a = a->ai_next) {
			if (a->ai_family != families[v6_first ? 1 - i : i])
				continue;
			code = socket_open(ret, a);
			if (code == 0 || code == -EADDRINUSE || code == -EACCES)
				return code;
		}
	return code;
}

/* Returns 0 when a process listens at the path, -ECONNREFUSED when the socket is stale, and -EAGAIN
 * when the listener's queue is full. */
static int try_unix(const struct sockaddr_un *at)
{
	/* Non-blocking: otherwise connect(2) would wait if the server is stopped and its queue is
	 * full. */
	AUTO(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	return connect(fd, (const struct sockaddr *)at, sizeof *at) == 0 ? 0 : -errno;
}

static bool is_socket(const char *path)
{
	struct stat s;

	return lstat(path, &s) == 0 && S_ISSOCK(s.st_mode);
}

static int address_of_unix(struct sockaddr_un *ret, const char *path, struct err *e)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof ret->sun_path)
		return err_set(e, -ENAMETOOLONG,
			"--web.unix-socket=%.100s: the path is too long; at most %zu bytes", path,
			sizeof ret->sun_path - 1);
	text_copy(path, ret->sun_path, sizeof ret->sun_path);
	return 0;
}

void listen_drop_unix(const char *path)
{
	struct sockaddr_un at;

	if (is_socket(path) && address_of_unix(&at, path, NULL) == 0 &&
		try_unix(&at) == -ECONNREFUSED)
		unlink(path);
}

int listen_unix(int *ret, const char *path, struct err *e)
{
	AUTO(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un at;

	if (fd < 0)
		return err_system(e, -errno, "make a Unix socket");
	if (address_of_unix(&at, path, e))
		return -ENAMETOOLONG;
	listen_drop_unix(path);
	/* Keep other users out: on Linux, connect(2) needs write permission for the socket file. A
	 * chmod(2) after bind(2) would come too late, so set the umask before. */
	mode_t before = umask(0177);
	int code =
		bind(fd, (const struct sockaddr *)&at, sizeof at) == 0 && listen(fd, BACKLOG) == 0 ?
			0 :
			-errno;

	umask(before);
	if (code == -EADDRINUSE && !is_socket(path))
		return err_set(e, code, "--web.unix-socket=%s: the file exists and is no socket",
			path);
	if (code)
		return err_system(e, code, "listen on the Unix socket %s", path);
	*ret = fd;
	fd = -1; /* NOLINT(clang-analyzer-deadcode.DeadStores): so that it stays open */
	return 0;
}

int listen_open(int *ret, const char *address, char bound[LISTEN_TEXT_MAX], struct err *e)
{
	struct listen_address p = {0};

	if (!listen_address_parse(&p, address))
		return err_set(e, -EINVAL, "listen address \"%s\": accepted is %s", address,
			shape_address.accepted);
	struct addrinfo *list = NULL, hints = {
					      .ai_family = p.numeric_v6 ? AF_INET6 : AF_UNSPEC,
					      .ai_socktype = SOCK_STREAM,
					      .ai_flags = AI_PASSIVE | AI_NUMERICSERV |
							  (p.numeric_v6 ? AI_NUMERICHOST : 0),
				      };
	int failed = getaddrinfo(p.host[0] ? p.host : NULL, p.port, &hints, &list);

	if (failed)
		return err_set(e, -EADDRNOTAVAIL, "listen address \"%s\": %s", address,
			gai_strerror(failed));
	int code = open_one_of(ret, list, p.host[0] == '\0');
	freeaddrinfo(list);
	if (code)
		return err_system(e, code, "listen on %s", address);
	address_text(*ret, bound);
	return 0;
}

int listen_adopt(int fd, char bound[LISTEN_TEXT_MAX], struct err *e)
{
	struct sockaddr_un at = {0};
	socklen_t len = sizeof at, accepts_len = sizeof(int);
	int accepts = 0, flags = fcntl(fd, F_GETFL);

	if (flags < 0 || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &accepts_len) < 0 ||
		!accepts)
		return err_set(e, -ENOTSOCK,
			"descriptor %d from systemd is no listening stream socket: set "
			"ListenStream= in the socket unit",
			fd);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	getsockname(fd, (struct sockaddr *)(void *)&at, &len);
	if (at.sun_family == AF_UNIX)
		snprintf(bound, LISTEN_TEXT_MAX, "unix:%s", at.sun_path);
	else
		address_text(fd, bound);
	return 0;
}
