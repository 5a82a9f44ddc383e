#include "exporter/wrapper/run_link.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/base/mem.h"

static bool connects(const struct addrinfo *at)
{
	int failure = 0;
	socklen_t len = sizeof failure;
	AUTO(closep)
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	if (fd < 0)
		return false;
	if (connect(fd, at->ai_addr, at->ai_addrlen) == 0)
		return true;
	return errno == EINPROGRESS && poll(&p, 1, RUN_LINK_MS) == 1 &&
	       getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &len) == 0 && failure == 0;
}

/* Returns true when `address`, "IPV4:PORT" or "[IPV6]:PORT", accepts a connection now. */
static bool answers(const char *address)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	AUTO(freep) char *text = xstrdup(address);
	char *colon = strrchr(text, ':'), *host = text;
	struct addrinfo *list;

	if (!colon)
		return false;
	*colon = '\0';
	if (*host == '[' && colon > host + 1 && colon[-1] == ']') {
		host++;
		colon[-1] = '\0';
	}
	if (getaddrinfo(host, colon + 1, &hints, &list))
		return false;
	bool ret = connects(list);

	freeaddrinfo(list);
	return ret;
}

int run_link_add(struct buf *out, struct history *h, const struct run_root *here,
	const char *run_id, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct history_page page;
	int code = history_page(h, &arena, &page, e);

	if (code <= 0)
		return code;
	size_t len = strlen(page.url);

	if (!here->pid_namespace || !*here->boot_id ||
		strcmp(page.server.boot_id, here->boot_id) != 0 ||
		page.server.pid_namespace != here->pid_namespace ||
		!identity_is_alive(NULL, page.server.pid, page.server.start_ticks) ||
		!answers(page.address))
		return 0;
	while (len && page.url[len - 1] == '/')
		len--;
	buf_add(out, page.url, len);
	buf_addf(out, "/#/run/%s", run_id);
	return 0;
}
