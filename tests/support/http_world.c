#include "tests/support/http_world.h"

#include "tests/unit/test_main.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "tests/support/fake_sampler.h"

uint16_t http_port_of(const char *address)
{
	return (uint16_t)strtoumax(strrchr(address, ':') + 1, NULL, 10);
}

struct http_world *http_world_new(void)
{
	struct http_world *w = xcalloc(1, sizeof *w);

	w->options.telemetry_path = "/metrics";
	w->options.sample_interval = 1;
	w->options.max_connections = 512;
	w->app = APP_INIT;
	w->app.options = &w->options;
	w->app.sampler = fake_sampler_new();
	fake_sampler_tick(w->app.sampler);
	return w;
}

void http_world_start(struct http_world *w, size_t n_addresses)
{
	static const char *address[] = {"127.0.0.1:0", "127.0.0.1:0"};
	struct text_list addresses = {n_addresses, address};
	struct err e = {0};

	assert_true(n_addresses <= ARRAY_LEN(address));
	if (http_start(&w->http, &w->app, &addresses, &e) != 0)
		fail_msg("%s", e.text);
	w->port = http_port_of(http_address(w->http, 0));
}

int http_world_begin(void **state)
{
	struct http_world *w = http_world_new();

	http_world_start(w, 1);
	*state = w;
	return 0;
}

int http_world_end(void **state)
{
	struct http_world *w = *state;

	assert_int_equal(http_stop(w->http), 0);
	fake_sampler_free(w->app.sampler);
	free(w);
	return 0;
}

int http_connect(uint16_t port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval patience = {.tv_sec = 30};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	return fd;
}

void http_send_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		data += n;
		len -= (size_t)n;
	}
}

void http_receive_all(int fd, struct buf *out)
{
	char chunk[65536];
	ssize_t n;

	while ((n = recv(fd, chunk, sizeof chunk, 0)) > 0)
		buf_add(out, chunk, (size_t)n);
}

struct buf http_talk(struct http_world *w, const char *request, size_t len)
{
	struct buf reply = BUF_MAX(HTTP_WORLD_REPLY_MAX);
	int fd = http_connect(w->port);

	http_send_all(fd, request, len);
	shutdown(fd, SHUT_WR);
	http_receive_all(fd, &reply);
	close(fd);
	return reply;
}

struct buf http_get(struct http_world *w, const char *method, const char *target,
	const char *headers)
{
	struct buf request = BUF_MAX(HTTP_WORLD_REPLY_MAX);

	buf_addf(&request, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n",
		method, target, headers);
	struct buf reply = http_talk(w, buf_text(&request), request.len);

	buf_done(&request);
	return reply;
}

int http_status_of(const struct buf *reply)
{
	const char *text = buf_text(reply);

	return strncmp(text, "HTTP/1.", 7) == 0 ? (int)strtoumax(text + 9, NULL, 10) : 0;
}
