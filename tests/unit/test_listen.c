/* exporter/listen: addresses that can be served on, and those that cannot. */
#include "tests/unit/test_main.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/listen.h"

static void addresses_that_make_no_sense_are_refused(void **state)
{
	static const char *const table[] = {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
		"127.0.0.1:65536", "::1:80", "[::1]", "[::1:80", "[]:80", "[127.0.0.1]:80",
		"127.0.0.1:-1", "127.0.0.1: 80", "127.0.0.1:80x",
		"127.0.0.1:999999999999999999999"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char bound[LISTEN_TEXT_MAX];
		struct err e = {0};
		int fd = -1;

		if (listen_open(&fd, table[i], bound, &e) == 0)
			fail_msg("%s was accepted", table[i]);
		assert_int_equal(fd, -1);
		assert_non_null(strstr(e.text, table[i]));
	}
}

static void addresses_are_bound_and_told(void **state)
{
	static const struct {
		const char *address, *bound;
		bool v6;
	} table[] = {
		{"127.0.0.1:0", "127.0.0.1:", false},
		{"[::1]:0", "[::1]:", true},
		{"localhost:0", "", false},
		{":0", "", false},
	};
	int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in6 loopback = {
		.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	bool v6 = probe >= 0 && bind(probe, (struct sockaddr *)&loopback, sizeof loopback) == 0;

	(void)state;
	if (probe >= 0)
		close(probe);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char bound[LISTEN_TEXT_MAX];
		struct err e = {0};
		int fd;

		if (table[i].v6 && !v6)
			continue;
		if (listen_open(&fd, table[i].address, bound, &e) != 0)
			fail_msg("%s: %s", table[i].address, e.text);
		assert_memory_equal(bound, table[i].bound, strlen(table[i].bound));
		assert_string_not_equal(strrchr(bound, ':'), ":0");
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_that_make_no_sense_are_refused),
		cmocka_unit_test(addresses_are_bound_and_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
