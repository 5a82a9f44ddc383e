/* exporter/http_entry: who may come in with what, and whose body is read. */
#include "tests/unit/test_main.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/route.h"
#include "tests/support/fake_sampler.h"
#include "tests/support/http_world.h"

/* The password is "pass", whose hash takes 1 ms. */
#define USERS                                                                                      \
	"basic_auth_users:\n  ann: $2b$04$u8vOThsn0r9KAgkKR8QFIOXU8wJ4ibNrjImnQYNIChUuO0aOzcImW\n"
#define PASSWORD "Authorization: Basic YW5uOnBhc3M=\r\n"
#define WRONG    "Authorization: Basic YW5uOnBhc3Q=\r\n"
#define TOKEN    "Authorization: Bearer secret\r\n"
#define GUESS    "Authorization: Bearer Secret\r\n"

/* ---- a change: says how long its body was ---- */

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
	(void)state;
	put(web_file, USERS);
	put(token_file, "secret\n");
	return 0;
}

static int drop_files(void **state)
{
	(void)state;
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
	struct buf reply = http_get(w, method, path, header);

	if (http_status_of(&reply) != status)
		fail_msg("%s %s %s: %s", method, path, header, buf_text(&reply));
	buf_done(&reply);
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
	/* Which alone would let everybody. */
	w->options.allow_changes = true;
	http_world_start(w, 1);
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		check(w, table[i].method, table[i].path, table[i].header, table[i].status);
}

static void without_a_token_changes_want_the_password(void **state)
{
	struct http_world *w = *state;

	w->options.allow_changes = true;
	http_world_start(w, 1);
	check(w, "POST", "/set", "", 401);
	check(w, "POST", "/set", TOKEN, 401);
	check(w, "POST", "/set", WRONG, 401);
	check(w, "POST", "/set", PASSWORD, 200);
}

#define ENTRY_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENTRY_TEST(readers_have_passwords_and_writers_the_token),
		ENTRY_TEST(without_a_token_changes_want_the_password),
	};

	return cmocka_run_group_tests(tests, make_files, drop_files);
}
