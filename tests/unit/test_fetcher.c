/* exporter/fetcher: what is cached is answered at once, whatever the Keeper does, and stopping does
 * not wait for it. */
#include "tests/unit/test_main.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/fetcher.h"

static char path[64];

static int new_path(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "/tmp/test_fetcher_XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	return 0;
}

static int remove_path(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

/* Takes connections and never says a word. */
static int silent_server(char url[64])
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	snprintf(url, 64, "http://127.0.0.1:%d", ntohs(address.sin_port));
	return fd;
}

static void save_built_in(struct wall at)
{
	struct cache_origin origin = {"http://keeper.test", "h", at};
	struct catalogue_cache *cache = NULL;
	struct catalogue *c = NULL;
	struct err e = {0};

	assert_int_equal(catalogue_built_in(&c, &e), 0);
	assert_int_equal(catalogue_cache_open(&cache, path, &e), 0);
	assert_int_equal(catalogue_cache_save(cache, c, &origin, &e), 0);
	catalogue_cache_close(cache);
	catalogue_free(c);
}

static void *read_a_lot(void *context)
{
	struct fetcher *f = context;

	for (int i = 0; i < 1000; i++) {
		struct catalogue *c = fetcher_catalogue(f);
		struct fetcher_state state;

		fetcher_state(f, &state);
		if (!c || c->n < 100 || !state.fetched_at.ns)
			return f; /* wrong */
		catalogue_free(c);
	}
	return NULL;
}

static void what_is_cached_is_answered_at_once(void **state)
{
	char url[64];
	int server = silent_server(url);
	struct wall long_ago = {.ns = 1000 * NS_PER_S};
	struct fetcher_options o = {
		.source = {.url = url, .cache_path = path}, .refresh_seconds = 3600};
	struct fetcher *f = NULL;
	struct err e = {0};
	pthread_t reader[4];

	(void)state;
	save_built_in(long_ago);
	assert_int_equal(fetcher_start(&f, &o, &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(reader); i++)
		assert_int_equal(pthread_create(&reader[i], NULL, read_a_lot, f), 0);
	for (size_t i = 0; i < ARRAY_LEN(reader); i++) {
		void *wrong;

		pthread_join(reader[i], &wrong);
		assert_null(wrong);
	}
	struct catalogue *held = fetcher_catalogue(f);
	struct fetcher_state now;

	fetcher_state(f, &now);
	assert_true(now.fetched_at.ns == long_ago.ns);
	struct mono start = now_read().mono;

	fetcher_stop(f);
	assert_true(mono_seconds_between(start, now_read().mono) < 10);
	assert_string_equal(held->source, "http://keeper.test"); /* outlives the fetcher */
	catalogue_free(held);
	close(server);
}

static void without_a_cache_there_is_none_yet(void **state)
{
	char url[64];
	int server = silent_server(url);
	struct fetcher_options o = {
		.source = {.url = url, .cache_path = path}, .refresh_seconds = 3600};
	struct fetcher *f = NULL;
	struct err e = {0};

	(void)state;
	assert_int_equal(fetcher_start(&f, &o, &e), 0);
	assert_null(fetcher_catalogue(f));
	fetcher_stop(f);
	fetcher_stop(NULL);
	close(server);
}

static atomic_int said;

static void say(void *context, bool works, const char *text)
{
	(void)context;
	if (!works && strstr(text, "is no URL"))
		atomic_fetch_add(&said, 1);
}

static void a_failure_is_said_once(void **state)
{
	struct fetcher_options o = {.source = {.url = "ftp://nowhere", .cache_path = path},
		.refresh_seconds = 3600,
		.say = say};
	struct fetcher_state now = {0};
	struct fetcher *f = NULL;
	struct err e = {0};

	(void)state;
	assert_int_equal(fetcher_start(&f, &o, &e), 0);
	struct pause pause;

	pause_init(&pause);
	for (int i = 0; i < 1000 && !now.failures; i++) {
		pause_wait(&pause, 0.01);
		fetcher_state(f, &now);
	}
	assert_int_equal(now.failures, 1);
	assert_non_null(strstr(now.error, "ftp://nowhere"));
	fetcher_stop(f);
	assert_int_equal(atomic_load(&said), 1);
	pause_done(&pause);
}

static void a_fresh_cache_is_not_fetched_again(void **state)
{
	struct fetcher_options o = {.source = {.url = "ftp://nowhere", .cache_path = path},
		.refresh_seconds = 3600,
		.say = say};
	struct fetcher_state now;
	struct fetcher *f = NULL;
	struct err e = {0};

	(void)state;
	save_built_in(now_read().wall);
	assert_int_equal(fetcher_start(&f, &o, &e), 0);
	fetcher_stop(f);
	assert_int_equal(fetcher_start(&f, &o, &e), 0);
	struct catalogue *c = fetcher_catalogue(f);

	assert_non_null(c);
	catalogue_free(c);
	fetcher_state(f, &now);
	assert_int_equal(now.fetches, 0);
	fetcher_stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_cached_is_answered_at_once, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(without_a_cache_there_is_none_yet, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(a_failure_is_said_once, new_path, remove_path),
		cmocka_unit_test_setup_teardown(a_fresh_cache_is_not_fetched_again, new_path,
			remove_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
