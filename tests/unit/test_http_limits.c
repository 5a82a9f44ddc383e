/* exporter/http/http.c: many clients, large bodies and endless answers do no harm. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/api/route.h"
#include "tests/support/http_world.h"

/* A route that never answers, like a disk that hangs. It writes a byte to `asked` when it is
 * called. */
static int asked[2];

static int hang(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	(void)app;
	(void)a;
	(void)r;
	(void)e;
	assert_int_equal(write(asked[1], "", 1), 1);
	for (;;)
		pause();
	return 0;
}

static const struct parameter no_parameters[] = {{0}};
static const struct route route_hang = {
	"/hang", NULL, "Hangs", no_parameters, hang, .takes_long = true};
const struct route *const all_routes[] = {&route_hang, NULL};
const struct route *const all_changes[] = {NULL};

/* ---- connections ---- */

/* Waits until the server has closed `gone` of the connections. */
static void wait_until_gone(struct pollfd *client, size_t n, size_t gone)
{
	char c;

	while (gone) {
		assert_true(poll(client, n, 30000) > 0);
		for (size_t i = 0; i < n; i++) {
			if (client[i].fd < 0 || !client[i].revents)
				continue;
			assert_int_equal(recv(client[i].fd, &c, 1, 0), 0);
			close(client[i].fd);
			client[i].fd = -1;
			assert_true(gone-- > 0);
		}
	}
}

static void all_addresses_share_the_connections(void **state)
{
	enum { ROOM = 8 };
	struct http_world *w = http_world_new();
	struct pollfd client[2 * ROOM];

	w->options.max_connections = ROOM;
	http_world_start(w, 2);
	for (size_t i = 0; i < 2 * ROOM; i++)
		client[i] = (struct pollfd){
			.fd = http_connect(http_port_of(http_address(w->http, i / ROOM))),
			.events = POLLIN};
	wait_until_gone(client, ARRAY_LEN(client), ROOM);
	assert_int_equal(poll(client, ARRAY_LEN(client), 0), 0);
	for (size_t i = 0; i < 2 * ROOM; i++)
		if (client[i].fd >= 0)
			close(client[i].fd);
	*state = w;
	http_world_end(state);
}

/* ---- stopping ---- */

static void an_answer_without_end_does_not_hold_it_up(void **state)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		static const char request[] = "GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n";
		struct http_world *w = http_world_new();
		char c;

		assert_int_equal(pipe(asked), 0);
		alarm(6 * HTTP_LEAVE_SECONDS);
		http_world_start(w, 1);
		http_send_all(http_connect(w->port), request, sizeof request - 1);
		assert_int_equal(read(asked[0], &c, 1), 1);
		/* Exits like _exit(2). ThreadSanitizer intercepts _exit and would report the
		 * remaining threads. */
		syscall(SYS_exit_group, http_stop(w->http) == -ETIMEDOUT ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_addresses_share_the_connections),
		cmocka_unit_test(an_answer_without_end_does_not_hold_it_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
