/* exporter/http/entry.c: who may use which route, and whose body is read. */
#include "tests/unit/test_main.h"

#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/api/route.h"
#include "tests/support/fake_sampler.h"
#include "tests/support/http_world.h"

/* The password is "pass". Its hash takes 1 ms. */
#define USERS                                                                                      \
	"basic_auth_users:\n  ann: $2b$04$u8vOThsn0r9KAgkKR8QFIOXU8wJ4ibNrjImnQYNIChUuO0aOzcImW\n"
#define PASSWORD "Authorization: Basic YW5uOnBhc3M=\r\n"
#define WRONG    "Authorization: Basic YW5uOnBhc3Q=\r\n"
#define TOKEN    "Authorization: Bearer secret\r\n"
#define GUESS    "Authorization: Bearer Secret\r\n"

/* ---- a change that answers with the length of its body ---- */

static int set(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	(void)app;
	(void)e;
	r->content_type = "text/plain; charset=utf-8";
	buf_addf(&r->body, "%zu bytes", a->body.len);
	return 0;
}

static const struct parameter no_parameters[] = {{0}};
static const struct route route_set = {"/set", NULL, "Sets", no_parameters, set};
static const struct route route_set_long = {
	"/set/long", NULL, "Sets, and takes long", no_parameters, set, .takes_long = true};
const struct route *const all_routes[] = {NULL};
const struct route *const all_changes[] = {&route_set, &route_set_long, NULL};

/* ---- a server with users and a token ---- */

static char web_file[] = "/tmp/rightsize-web-XXXXXX", token_file[] = "/tmp/rightsize-token-XXXXXX";

static void put(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int make_files(void **state)
{
	put(web_file, USERS);
	put(token_file, "secret\n");
	return 0;
}

static int drop_files(void **state)
{
	unlink(web_file);
	return unlink(token_file);
}

static int begin(void **state)
{
	struct http_world *w = http_world_new();

	w->options.web_config_file = web_file;
	*state = w;
	return 0;
}

static int end(void **state)
{
	return http_world_end(state);
}

static void check(struct http_world *w, const char *method, const char *path, const char *header,
	int status)
{
	AUTO(buf_done) struct buf reply = http_get(w, method, path, header);

	if (http_status_of(&reply) != status)
		fail_msg("%s %s %s: %s", method, path, header, buf_text(&reply));
}

static void readers_have_passwords_and_writers_the_token(void **state)
{
	static const struct {
		const char *method, *path, *header;
		int status;
	} table[] = {
		{"GET", "/metrics", "", 401},
		{"GET", "/metrics", TOKEN, 401},
		{"GET", "/metrics", PASSWORD, 200},
		{"GET", "/set", TOKEN, 401},
		{"POST", "/metrics", TOKEN, 401},
		{"POST", "/set", "", 401},
		{"POST", "/set", GUESS, 401},
		{"POST", "/set", PASSWORD, 401},
		{"POST", "/set", TOKEN, 200},
		{"POST", "/set/long", TOKEN, 200},
	};
	struct http_world *w = *state;

	w->options.changes_token_file = token_file;
	/* Without users and a token, --web.allow-changes would let every client make changes. */
	w->options.allow_changes = true;
	http_world_start(w, 1);
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		check(w, table[i].method, table[i].path, table[i].header, table[i].status);
}

static void without_a_token_changes_want_the_password_and_no_more(void **state)
{
	struct http_world *w = *state;

	http_world_start(w, 1);
	check(w, "POST", "/set", "", 401);
	check(w, "POST", "/set", TOKEN, 401);
	check(w, "POST", "/set", WRONG, 401);
	check(w, "POST", "/set", PASSWORD, 200);
}

/* ---- bodies ---- */

static int begin_post(struct http_world *w, const char *header, size_t len)
{
	struct buf request = BUF_MAX(HTTP_WORLD_REPLY_MAX);
	int fd = http_connect(w->port);

	buf_addf(&request,
		"POST /set HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: "
		"application/json\r\n%sContent-Length: %zu\r\n\r\n",
		header, len);
	http_send_all(fd, request.data, request.len);
	buf_done(&request);
	return fd;
}

static void send_blanks(int fd, size_t len)
{
	static const char blanks[CHANGE_BODY_MAX];

	http_send_all(fd, blanks, len);
}

static struct buf end_post(int fd)
{
	struct buf reply = BUF_MAX(HTTP_WORLD_REPLY_MAX);

	http_receive_all(fd, &reply);
	close(fd);
	return reply;
}

static void who_shows_nothing_is_refused_before_the_body(void **state)
{
	struct http_world *w = *state;

	w->options.allow_changes = true;
	http_world_start(w, 1);
	AUTO(buf_done) struct buf reply = end_post(begin_post(w, "", 1000));

	assert_int_equal(http_status_of(&reply), 401);
}

/* The password is checked while the body arrives. The first check of a user takes time, later ones
 * use the cache. */
static void a_body_in_pieces_arrives_whole(void **state)
{
	static const struct {
		const char *header;
		int status;
	} table[] = {{PASSWORD, 200}, {WRONG, 401}, {PASSWORD, 200}, {WRONG, 401}};
	struct http_world *w = *state;

	w->options.allow_changes = true;
	http_world_start(w, 1);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		int fd = begin_post(w, table[i].header, 100000);

		send_blanks(fd, 1);
		send_blanks(fd, 60000);
		send_blanks(fd, 39999);
		AUTO(buf_done) struct buf reply = end_post(fd);

		assert_int_equal(http_status_of(&reply), table[i].status);
		if (table[i].status == 200)
			assert_non_null(strstr(buf_text(&reply), "\r\n\r\n100000 bytes"));
	}
}

/* Returns the server's end of the connection, which is in this process. */
static int other_end(int fd)
{
	struct sockaddr_in mine, peer;
	socklen_t len = sizeof mine, peer_len;

	assert_int_equal(getsockname(fd, (struct sockaddr *)&mine, &len), 0);
	for (int i = 3; i < FD_SETSIZE; i++) {
		peer_len = sizeof peer;
		if (getpeername(i, (struct sockaddr *)&peer, &peer_len) == 0 &&
			peer.sin_family == AF_INET && peer.sin_port == mine.sin_port)
			return i;
	}
	return -1;
}

static void wait_until_read(int fd)
{
	int waiting = 1, end;

	while ((end = other_end(fd)) < 0 || ioctl(end, FIONREAD, &waiting) != 0 || waiting)
		sched_yield();
}

/* Each client sends all but the last bytes of its body, so the server has to keep all bodies at
 * once. */
static void bodies_have_16_mib_together(void **state)
{
	enum { ROOM = 64, MORE = 6 };
	struct http_world *w = *state;
	int fd[ROOM + MORE], taken = 0, refused = 0;

	w->options.web_config_file = NULL;
	w->options.allow_changes = true;
	http_world_start(w, 1);
	for (size_t i = 0; i < ARRAY_LEN(fd); i++) {
		fd[i] = begin_post(w, "", CHANGE_BODY_MAX);
		send_blanks(fd[i], CHANGE_BODY_MAX - 10);
	}
	for (size_t i = 0; i < ARRAY_LEN(fd); i++)
		wait_until_read(fd[i]);
	for (size_t i = 0; i < ARRAY_LEN(fd); i++)
		send_blanks(fd[i], 10);
	for (size_t i = 0; i < ARRAY_LEN(fd); i++) {
		AUTO(buf_done) struct buf reply = end_post(fd[i]);

		taken += http_status_of(&reply) == 200;
		refused += http_status_of(&reply) == 503;
	}
	assert_int_equal(taken + refused, ROOM + MORE);
	assert_true(taken > 0 && refused > 0);
	/* The memory of all bodies is free again. */
	for (size_t i = 0; i < ROOM + MORE; i++)
		check(w, "POST", "/set", "", 200);
	fd[0] = begin_post(w, "", CHANGE_BODY_MAX);
	send_blanks(fd[0], CHANGE_BODY_MAX);
	AUTO(buf_done) struct buf reply = end_post(fd[0]);

	assert_int_equal(http_status_of(&reply), 200);
}

#define ENTRY_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENTRY_TEST(readers_have_passwords_and_writers_the_token),
		ENTRY_TEST(without_a_token_changes_want_the_password_and_no_more),
		ENTRY_TEST(who_shows_nothing_is_refused_before_the_body),
		ENTRY_TEST(a_body_in_pieces_arrives_whole),
		ENTRY_TEST(bodies_have_16_mib_together),
	};

	return cmocka_run_group_tests(tests, make_files, drop_files);
}
