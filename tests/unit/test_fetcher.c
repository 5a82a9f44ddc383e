/* Tests exporter/catalogue/fetcher.c. A cached catalogue must be available at once, even if the
 * Keeper does not answer. Stopping must not wait for the Keeper. */
#include "tests/unit/test_main.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/catalogue/fetcher.h"

static char path[64];

static int new_path(void **state)
{
	snprintf(path, sizeof path, "/tmp/test_fetcher_XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	return 0;
}

static int remove_path(void **state)
{
	unlink(path);
	return 0;
}

/* Starts a server that accepts connections and never answers. */
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

static void save_built_in(const char *source, struct wall at)
{
	struct cache_origin origin = {.hash = "h", .at = at};
	struct catalogue_cache *cache = NULL;
	struct catalogue *c = NULL;
	struct err e = {0};

	snprintf(origin.source, sizeof origin.source, "%s", source);
	assert_int_equal(catalogue_built_in(&c, &e), 0);
	assert_int_equal(catalogue_cache_open(&cache, path, &e), 0);
	assert_int_equal(catalogue_cache_save(cache, c, &origin, &e), 0);
	catalogue_cache_close(cache);
	catalogue_free(c);
}

/* Returns the first state that fulfils `condition`, or fails after ten seconds. */
static struct fetcher_state wait_until(struct fetcher *f,
	bool (*condition)(const struct fetcher_state *s))
{
	struct fetcher_state now = {0};
	struct worker worker;

	worker_init(&worker);
	for (int i = 0; i < 1000 && !condition(&now); i++) {
		worker_wait(&worker, 0.01);
		fetcher_state(f, &now);
	}
	worker_done(&worker);
	return now;
}

static bool is_waiting(const struct fetcher_state *s)
{
	return s->next_at.ns > 0;
}

static bool has_failed(const struct fetcher_state *s)
{
	return s->failures > 0;
}

static void what_is_fresh_or_imported_is_not_fetched(void **state)
{
	static const char *const sources[] = {"http://127.0.0.1:1", "/srv/own.csv"};

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		struct fetcher_options o = {
			.source = {.url = "http://127.0.0.1:1/", .cache_path = path},
			.refresh_seconds = 3600};
		struct fetcher *f = NULL;
		struct err e = {0};

		unlink(path);
		/* An imported catalogue is not fetched again, even if it is very old. */
		save_built_in(sources[i], i ? (struct wall){.ns = NS_PER_S} : now_read().wall);
		assert_int_equal(fetcher_start(&f, &o, &e), 0);
		struct fetcher_state now = wait_until(f, is_waiting);

		assert_true(now.next_at.ns > 0);
		assert_int_equal(now.fetches, 0);
		assert_null(fetcher_catalogue(f)); /* in the cache, not in memory */
		fetcher_stop(f);
	}
}

/* The cache was saved while the clock was ahead, so its time is in the future. The fetcher must not
 * wait until that time. */
static void what_was_fetched_at_a_time_to_come_is_fetched_again(void **state)
{
	char url[64];
	struct pollfd server = {.fd = silent_server(url), .events = POLLIN};
	struct fetcher_options o = {
		.source = {.url = url, .cache_path = path}, .refresh_seconds = 3600};
	struct wall later = {now_read().wall.ns + 100 * 86400 * NS_PER_S};
	struct fetcher *f = NULL;
	struct err e = {0};

	save_built_in(url, later);
	assert_int_equal(fetcher_start(&f, &o, &e), 0);
	assert_int_equal(poll(&server, 1, 30000), 1);
	fetcher_stop(f);
	close(server.fd);
}

static void stopping_does_not_wait_for_the_keeper(void **state)
{
	char url[64];
	int server = silent_server(url);
	struct fetcher_options o = {
		.source = {.url = url, .cache_path = path}, .refresh_seconds = 3600};
	struct fetcher *f = NULL;
	struct err e = {0};

	save_built_in(url, (struct wall){.ns = 1000 * NS_PER_S});
	assert_int_equal(fetcher_start(&f, &o, &e), 0);
	struct mono start = now_read().mono;

	fetcher_stop(f);
	assert_true(mono_seconds_between(start, now_read().mono) < 10);
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
	struct fetcher *f = NULL;
	struct err e = {0};

	assert_int_equal(fetcher_start(&f, &o, &e), 0);
	struct fetcher_state now = wait_until(f, has_failed);

	assert_int_equal(now.failures, 1);
	assert_non_null(strstr(now.error, "ftp://nowhere"));
	fetcher_stop(f);
	assert_int_equal(atomic_load(&said), 1);
}

/* Two long lists of regions differ only in their last region. They must count as different
 * sources. */
static void another_list_of_regions_is_another_catalogue(void **state)
{
	char first[200], last[2][8] = {"zone-a", "zone-b"};
	const char *regions[] = {first, first, first, first, first, NULL};
	struct catalogue_source s = {.url = "http://keeper.test", .regions = {6, regions}};
	struct cache_origin origin[2] = {0};

	snprintf(first, sizeof first, "%0*d", (int)sizeof first - 1, 0);
	for (size_t i = 0; i < 2; i++) {
		regions[5] = last[i];
		snprintf(origin[i].source, sizeof origin[i].source, "%s/", s.url);
		catalogue_source_text(&s, origin[i].source_text);
	}
	assert_true(catalogue_is_from(&s, &origin[1]));
	assert_false(catalogue_is_from(&s, &origin[0]));
	regions[5] = last[0];
	assert_true(catalogue_is_from(&s, &origin[0]));
	s.url = "http://another.test";
	assert_false(catalogue_is_from(&s, &origin[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_list_of_regions_is_another_catalogue),
		cmocka_unit_test_setup_teardown(what_is_fresh_or_imported_is_not_fetched, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(what_was_fetched_at_a_time_to_come_is_fetched_again,
			new_path, remove_path),
		cmocka_unit_test_setup_teardown(stopping_does_not_wait_for_the_keeper, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(without_a_cache_there_is_none_yet, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(a_failure_is_said_once, new_path, remove_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
