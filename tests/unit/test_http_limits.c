/* exporter/http: what many clients, large bodies and answers without end cannot do. */
#include "tests/unit/test_main.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/route.h"
#include "tests/support/http_world.h"

const struct route *const all_routes[] = {NULL};
const struct route *const all_changes[] = {NULL};

/* ---- connections ---- */

/* Waits until so many of them were hung up on. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_addresses_share_the_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
