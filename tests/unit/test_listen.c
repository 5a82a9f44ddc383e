/* exporter/http/listen.c: which addresses the server can listen on, and which it cannot. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/http/listen.h"

static void addresses_that_make_no_sense_are_refused(void **state)
{
	static const char *const table[] = {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
		"127.0.0.1:65536", "::1:80", "[::1]", "[::1:80", "[]:80", "[127.0.0.1]:80",
		"127.0.0.1:-1", "127.0.0.1: 80", "127.0.0.1:80x",
		"127.0.0.1:999999999999999999999"};

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

static void touch(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, "precious", 8), 8);
	close(fd);
}

static bool is_there(const char *path)
{
	struct stat s;

	return lstat(path, &s) == 0;
}

/* On a regular file, connect(2) fails in the same way as on a socket without a listener. Only the
 * socket may be replaced. */
static void what_is_no_socket_is_left_where_it_is(void **state)
{
	char folder[] = "/tmp/test_listen_XXXXXX", path[64], target[64];
	struct err e = {0};
	int fd = -1;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/path", folder);
	snprintf(target, sizeof target, "%s/target", folder);
	touch(path);
	assert_int_equal(listen_unix(&fd, path, &e), -EADDRINUSE);
	assert_non_null(strstr(e.text, "no socket"));
	listen_drop_unix(path);
	assert_true(is_there(path));
	assert_int_equal(unlink(path), 0);

	/* A link's target is not replaced either. */
	assert_int_equal(listen_unix(&fd, target, NULL), 0);
	close(fd);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(listen_unix(&fd, path, &e), -EADDRINUSE);
	listen_drop_unix(path);
	assert_true(is_there(path));
	assert_true(is_there(target));
	assert_int_equal(unlink(path), 0);

	/* A leftover socket is replaced. The socket is removed when no program listens on it any
	 * more. */
	assert_int_equal(listen_unix(&fd, target, &e), 0);
	close(fd);
	listen_drop_unix(target);
	assert_false(is_there(target));

	/* Another program may already listen at the path when this one ends. */
	assert_int_equal(listen_unix(&fd, target, &e), 0);
	listen_drop_unix(target);
	assert_true(is_there(target));
	/* The path is kept as well when the other program's queue is full. */
	assert_int_equal(listen(fd, 0), 0);
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int first = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(at.sun_path, sizeof at.sun_path, "%s", target);
	/* The earlier connection attempt is still in the queue. */
	assert_int_equal(connect(first, (struct sockaddr *)&at, sizeof at), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(listen_unix(&(int){0}, target, &e), -EADDRINUSE);
	assert_true(is_there(target));
	close(first);
	close(fd);
	listen_drop_unix(target);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_that_make_no_sense_are_refused),
		cmocka_unit_test(addresses_are_bound_and_told),
		cmocka_unit_test(what_is_no_socket_is_left_where_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
