/* exporter/http/connections.c: which connection is closed when there are more than the limit. */
#include "tests/unit/test_main.h"

#include <sys/socket.h>
#include <unistd.h>

#include "exporter/http/connections.h"

#define ROOM 3

struct fixture {
	struct connections connections;
	struct connection connection[10];
	int end[10][2];
};

static int begin(void **state)
{
	static struct fixture f;

	connections_init(&f.connections, ROOM);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, f.end[i]), 0);
	*state = &f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < 10; i++) {
		close(f->end[i][0]);
		close(f->end[i][1]);
	}
	connections_done(&f->connections);
	return 0;
}

static void enter(struct fixture *f, size_t i)
{
	connections_enter(&f->connections, &f->connection[i], f->end[i][0]);
}

/* Returns true when the client sees the end of its connection. */
static bool was_told_to_go(struct fixture *f, size_t i)
{
	char c;

	return recv(f->end[i][1], &c, 1, MSG_DONTWAIT) == 0;
}

static void assert_gone(struct fixture *f, const char *gone)
{
	for (size_t i = 0; gone[i]; i++)
		if (was_told_to_go(f, i) != (gone[i] == 'x'))
			fail_msg("guest %zu of %s", i, gone);
}

static void the_longest_silent_goes(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ROOM; i++)
		enter(f, i);
	assert_gone(f, "...");
	enter(f, 3);
	assert_gone(f, "x...");
	connections_set_busy(&f->connection[1], true);
	connections_set_busy(&f->connection[1], false);
	enter(f, 4);
	assert_gone(f, "x.x..");
	for (size_t i = 0; i < 5; i++)
		connections_leave(&f->connection[i]);
	assert_int_equal(f->connections.n, 0);
	assert_true(TAILQ_EMPTY(&f->connections.idle));
}

static void who_is_being_answered_stays(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ROOM; i++) {
		enter(f, i);
		connections_set_busy(&f->connection[i], true);
	}
	connections_set_busy(&f->connection[2], false);
	enter(f, 3);
	assert_gone(f, "..x.");
	enter(f, 4);
	assert_gone(f, "..xx.");
	for (size_t i = 0; i < 5; i++)
		connections_leave(&f->connection[i]);
	assert_int_equal(f->connections.n, 0);
}

/* If all connections are being answered, the connection with the oldest answer is closed. Its
 * client has most likely stopped reading. */
static void of_the_busy_the_first_goes_when_there_is_no_other(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ROOM; i++)
		enter(f, i);
	connections_set_busy(&f->connection[1], true);
	connections_set_busy(&f->connection[0], true);
	connections_set_busy(&f->connection[2], true);
	enter(f, 3);
	assert_gone(f, ".x..");
	connections_set_busy(&f->connection[1], false);
	connections_set_busy(&f->connection[3], true);
	enter(f, 4);
	assert_gone(f, "xx...");
	for (size_t i = 0; i < 5; i++)
		connections_leave(&f->connection[i]);
	assert_int_equal(f->connections.n, 0);
	assert_true(TAILQ_EMPTY(&f->connections.busy));
}

static void of_what_is_held_the_first_goes_but_not_who_asks(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ROOM; i++)
		enter(f, i);
	connections_set_busy(&f->connection[2], true);
	connections_relieve(&f->connection[2]);
	assert_gone(f, "...");
	connections_set_busy(&f->connection[0], true);
	connections_relieve(&f->connection[0]);
	assert_gone(f, "..x");
	connections_relieve(&f->connection[1]);
	assert_gone(f, "x.x");
	for (size_t i = 0; i < ROOM; i++)
		connections_leave(&f->connection[i]);
	assert_int_equal(f->connections.n, 0);
}

/* A last request may arrive while its connection is being closed. The connection must still be
 * counted only once. */
static void who_was_told_may_still_ask(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ROOM + 1; i++)
		enter(f, i);
	assert_gone(f, "x...");
	connections_set_busy(&f->connection[0], true);
	connections_set_busy(&f->connection[0], false);
	connections_leave(&f->connection[0]);
	assert_int_equal(f->connections.n, ROOM);
	enter(f, 4);
	assert_gone(f, "xx...");
	for (size_t i = 1; i < 5; i++)
		connections_leave(&f->connection[i]);
	assert_int_equal(f->connections.n, 0);
	assert_true(TAILQ_EMPTY(&f->connections.idle));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(the_longest_silent_goes),
		TEST(who_is_being_answered_stays),
		TEST(of_the_busy_the_first_goes_when_there_is_no_other),
		TEST(of_what_is_held_the_first_goes_but_not_who_asks),
		TEST(who_was_told_may_still_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
