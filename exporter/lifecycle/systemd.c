/* Implements the protocols of sd_notify(3), sd_watchdog_enabled(3) and sd_listen_fds(3). */
#include "exporter/lifecycle/systemd.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "exporter/http/listen.h"
#include "exporter/core/worker.h"

#define SOCKETS_MAX 1024

struct systemd_service {
	bool (*healthy)(void *context);
	void *context;
	double period; /* seconds between notifications of the watchdog; 0 = no watchdog */
	struct worker worker;
};

bool systemd_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len = path ? strlen(path) : 0;

	/* A path that begins with "@" is a name in the abstract namespace of Unix sockets. In
	 * sun_path, such a name begins with a NUL instead. */
	if (len < 2 || len >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
		return false;
	memcpy(address.sun_path, path, len);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	AUTO(closep) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0 &&
	       sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)(void *)&address,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) ==
		       (ssize_t)strlen(state);
}

static bool read_number(const char *name, uint64_t *ret)
{
	const char *text = getenv(name);
	struct scan s = SCAN(text ? text : "", text ? strlen(text) : 0);

	return scan_u64(&s, ret) && scan_end(&s);
}

/* Returns true when the value of the environment variable is the PID of this process. Another PID
 * means that the variable was set for a parent process. If the variable is missing, the result is
 * `required` negated. */
static bool is_for_us(const char *name, bool required)
{
	uint64_t pid;

	if (!getenv(name))
		return !required;
	return read_number(name, &pid) && pid == (uint64_t)getpid();
}

size_t systemd_sockets(void)
{
	uint64_t n = 0;

	if (!is_for_us("LISTEN_PID", true) || !read_number("LISTEN_FDS", &n) || n > SOCKETS_MAX)
		n = 0;
	for (int i = 0; i < (int)n; i++)
		fcntl(LISTEN_FIRST_GIVEN + i, F_SETFD, FD_CLOEXEC);
	return (size_t)n;
}

/* Returns half of the watchdog's timeout in seconds, as sd_watchdog_enabled(3) advises; 0 = no
 * watchdog. */
static double watchdog_period(void)
{
	uint64_t us = 0;

	if (!is_for_us("WATCHDOG_PID", false) || !read_number("WATCHDOG_USEC", &us))
		return 0;
	return (double)us / 2e6;
}

static double watchdog_loop(void *context)
{
	struct systemd_service *s = context;

	if (s->healthy(s->context))
		systemd_notify("WATCHDOG=1");
	return s->period;
}

void systemd_stop(struct systemd_service *s)
{
	if (!s)
		return;
	worker_done(&s->worker);
	free(s);
}

int systemd_start(struct systemd_service **ret, bool (*healthy)(void *context), void *context,
	struct err *e)
{
	struct systemd_service *s = xcalloc(1, sizeof *s);
	int code = 0;

	s->healthy = healthy;
	s->context = context;
	s->period = watchdog_period();
	worker_init(&s->worker);
	systemd_notify("READY=1");
	if (s->period > 0)
		code = worker_start(&s->worker, "watchdog", watchdog_loop, s, e);
	if (code)
		systemd_stop(s);
	else
		*ret = s;
	return code;
}
