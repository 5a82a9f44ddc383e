/* exporter/site/host_header.c, exporter/http/peer.c: which Host names are the server's own, and
 * where a connection came from. */
#include "tests/unit/test_main.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/site/host_header.h"
#include "exporter/http/peer.h"

static const char *listed[] = {"usage.example", ".svc.example"};
static const struct text_list some = {.n = 2, .text = listed}, none = {0};

static void addresses_localhost_and_listed_names_are_ours(void **state)
{
	static const struct {
		const char *header;
		bool alone, with_list;
	} table[] = {
		{"127.0.0.1", true, true},
		{"127.0.0.1:9877", true, true},
		{"192.0.2.7:80", true, true},
		{"[::1]", true, true},
		{"[::1]:9877", true, true},
		{"localhost", true, true},
		{"LocalHost:9877", true, true},
		{"localhost.:9877", true, true},
		{"usage.localhost", true, true},
		{"usage.example", false, true},
		{"Usage.Example.:1", false, true},
		{"a.usage.example", false, false},
		{"a.svc.example", false, true},
		{"a.b.SVC.example:9877", false, true},
		{"svc.example", false, false},
		{".svc.example", false, true},
		{"asvc.example", false, false},
		{"rebound.example", false, false},
		{"127.0.0.1.rebound.example", false, false},
		{"localhost.rebound.example", false, false},
		{"notlocalhost", false, false},
		{"usage.example.rebound.example", false, false},
		{"localhost@rebound.example", false, false},
		{"localhost:9877@rebound.example", false, false},
		{"localhost:", true, true},
		{"localhost:80:80", false, false},
		{"[::1]rebound.example", false, false},
		{"[rebound.example]", false, false},
		{"[::1", false, false},
		{"[]", false, false},
		{"::1", false, false},
		{"*", false, false},
		{".", false, false},
		{":9877", false, false},
		{"", false, false},
		{NULL, false, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const char *header = table[i].header;

		if (host_header_is_ours(&none, header) != table[i].alone ||
			host_header_is_ours(&some, header) != table[i].with_list)
			fail_msg("%s", header ? header : "(none)");
	}
}

static void star_is_any_name_but_not_none(void **state)
{
	static const char *star[] = {"*"};
	static const struct text_list any = {.n = 1, .text = star};
	char longest[HOST_NAME_MAX_BYTES + 1];

	assert_true(host_header_is_ours(&any, "rebound.example:9877"));
	assert_false(host_header_is_ours(&any, ""));
	assert_false(host_header_is_ours(&any, NULL));
	memset(longest, 'a', sizeof longest);
	longest[HOST_NAME_MAX_BYTES] = '\0';
	assert_false(host_header_is_ours(&any, longest));
	longest[HOST_NAME_MAX_BYTES - 1] = '\0';
	assert_true(host_header_is_ours(&any, longest));
}

static void machine_is_known_by_its_own_name(void **state)
{
	struct utsname u;
	char header[sizeof u.nodename + 8], other[sizeof u.nodename + 32];

	assert_int_equal(uname(&u), 0);
	if (!u.nodename[0] || strcspn(u.nodename, ":[") != strlen(u.nodename))
		skip();
	snprintf(header, sizeof header, "%s:9877", u.nodename);
	assert_true(host_header_is_ours(&none, header));
	u.nodename[strcspn(u.nodename, ".")] = '\0';
	assert_true(host_header_is_ours(&none, u.nodename));
	snprintf(other, sizeof other, "%s.rebound.example", u.nodename);
	assert_false(host_header_is_ours(&none, other));
}

/* Returns a socket bound to the address with port 0; -1 = the machine has no such address. */
static int bound_to(const void *address, socklen_t len)
{
	const struct sockaddr *a = address;
	int fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, a, len) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void connections_by_loopback_are_told_from_others(void **state)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	static const struct {
		uint32_t address;
		bool loopback;
	} table[] = {{INADDR_LOOPBACK, true}, {0x7f010101, true}, {INADDR_ANY, false}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		v4.sin_addr.s_addr = htonl(table[i].address);
		int fd = bound_to(&v4, sizeof v4);

		assert_true(fd >= 0);
		assert_int_equal(peer_by_loopback(fd), table[i].loopback);
		close(fd);
	}
	static const struct {
		struct in6_addr address;
		bool loopback;
	} table6[] = {
		{IN6ADDR_LOOPBACK_INIT, true},
		{IN6ADDR_ANY_INIT, false},
		{{{{[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}}}, true},
	};
	for (size_t i = 0; i < ARRAY_LEN(table6); i++) {
		v6.sin6_addr = table6[i].address;
		int fd = bound_to(&v6, sizeof v6);

		if (fd < 0) /* no IPv6 on this machine */
			continue;
		assert_int_equal(peer_by_loopback(fd), table6[i].loopback);
		close(fd);
	}
}

static void unix_sockets_say_who_is_there_and_others_nothing(void **state)
{
	int pair[2], fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	struct peer p = peer_of(pair[0]);

	assert_true(p.local);
	assert_int_equal(p.uid, geteuid());
	assert_int_equal(p.pid, getpid());
	assert_false(peer_by_loopback(pair[0]));
	assert_false(peer_of(fd).local);
	assert_false(peer_of(-1).local);
	assert_false(peer_by_loopback(-1));
	close(pair[0]);
	close(pair[1]);
	close(fd);
}

static void half_of_an_ipv6_address_is_the_clients_choice(void **state)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = {{{0x20, 1, 0xd, 0xb8}}}};
	struct sockaddr_in6 b = a, c = a;
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000207)};

	b.sin6_addr.s6_addr[15] = 9;
	c.sin6_addr.s6_addr[7] = 9;
	assert_true(peer_number((struct sockaddr *)&a) == peer_number((struct sockaddr *)&b));
	assert_false(peer_number((struct sockaddr *)&a) == peer_number((struct sockaddr *)&c));
	assert_true(peer_number((struct sockaddr *)&v4) == v4.sin_addr.s_addr);
	/* On a dual-stack socket ::ffff:192.0.2.7 is 192.0.2.7. */
	a.sin6_addr =
		(struct in6_addr){{{[10] = 0xff, [11] = 0xff, [12] = 0xc0, [14] = 2, [15] = 7}}};
	assert_true(peer_number((struct sockaddr *)&a) == v4.sin_addr.s_addr);
	assert_true(peer_number(NULL) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_localhost_and_listed_names_are_ours),
		cmocka_unit_test(star_is_any_name_but_not_none),
		cmocka_unit_test(machine_is_known_by_its_own_name),
		cmocka_unit_test(connections_by_loopback_are_told_from_others),
		cmocka_unit_test(unix_sockets_say_who_is_there_and_others_nothing),
		cmocka_unit_test(half_of_an_ipv6_address_is_the_clients_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
