/* exporter/client/download.h: how long a server may take. */
#include "tests/unit/test_main.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/client/download.h"

#define THINKS_SECONDS 3

/* Answers one request after THINKS_SECONDS. */
static void *think(void *listening)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	char request[4096];
	AUTO(closep) int fd = accept(*(int *)listening, NULL, NULL);

	if (fd < 0 || read(fd, request, sizeof request) <= 0)
		return NULL;
	sleep(THINKS_SECONDS);
	send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL);
	return NULL;
}

/* Posts to a server that answers only after THINKS_SECONDS. Returns the result of the transfer. */
static int post(double idle_seconds)
{
	const struct download_options o = {.user_agent = "test",
		.ca_option = "--test",
		.connect_seconds = 5,
		.total_seconds = 30,
		.idle_seconds = idle_seconds,
		.max_bytes = 100};
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	AUTO(closep) int listening = socket(AF_INET, SOCK_STREAM, 0);
	struct http_response answer = {.body = BUF_MAX(100)};
	struct download *d = NULL;
	socklen_t len = sizeof address;
	char url[64];
	pthread_t server;

	assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(listening, 1), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(pthread_create(&server, NULL, think, &listening), 0);
	snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
	const struct download_post p = {.url = url, .content_type = "text/plain", .body = ""};

	assert_int_equal(download_open(&d, &o, NULL), 0);
	int code = download_post(d, &p, &answer, NULL);

	pthread_join(server, NULL);
	download_close(d);
	buf_done(&answer.body);
	return code;
}

static void a_server_may_think_longer_than_a_transfer_may_be_idle(void **state)
{
	assert_int_equal(post(0), 0);
	assert_int_equal(post(1), -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_may_think_longer_than_a_transfer_may_be_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
