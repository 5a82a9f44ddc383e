/* exporter/http/web_users.c: each password is checked once, on another thread, and failed attempts
 * are limited. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "exporter/http/web_users.h"

FREEP(web_users)

/* The password is "pass". With cost 4 its hash takes 1 ms. */
static struct web_user users[] = {
	{"ann", "$2b$04$u8vOThsn0r9KAgkKR8QFIOXU8wJ4ibNrjImnQYNIChUuO0aOzcImW"}};
static struct web_config config = {.n_users = 1, .user = users};

/* Seconds that this program's clock is ahead. */
static _Atomic long ahead;

int clock_gettime(clockid_t id, struct timespec *ret)
{
	int code = (int)syscall(SYS_clock_gettime, id, ret);

	/* Only this clock is moved. CPU clocks are not. */
	if (id == CLOCK_BOOTTIME)
		ret->tv_sec += ahead;
	return code;
}

/* The number of resumed requests. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t more;
	unsigned n;
} resumed = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void resume(void *context)
{
	(void)context;
	pthread_mutex_lock(&resumed.lock);
	resumed.n++;
	pthread_cond_signal(&resumed.more);
	pthread_mutex_unlock(&resumed.lock);
}

static void wait_for(unsigned n)
{
	pthread_mutex_lock(&resumed.lock);
	while (resumed.n < n)
		pthread_cond_wait(&resumed.more, &resumed.lock);
	resumed.n = 0;
	pthread_mutex_unlock(&resumed.lock);
}

static struct web_users *start(void)
{
	struct web_users *ret = NULL;
	struct err e = {0};

	if (web_users_start(&ret, &e))
		fail_msg("%s", e.text);
	return ret;
}

static enum web_entry ask(struct web_users *u, const char *name, const char *password,
	uint64_t address, bool wait)
{
	struct web_question q = {.config = &config,
		.name = name,
		.password = password,
		.address = address,
		.resume = wait ? resume : NULL};

	return web_users_ask(u, &q);
}

static void verdicts_are_computed_aside_and_kept(void **state)
{
	static const struct {
		const char *name, *password;
		enum web_entry verdict;
	} cases[] = {
		{"ann", "pass", WEB_ENTER},
		{"ann", "Pass", WEB_UNAUTHORIZED},
		{"ann", "", WEB_UNAUTHORIZED},
		{"bob", "pass", WEB_UNAUTHORIZED},
	};
	AUTO(web_users_freep) struct web_users *u = start();

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(ask(u, cases[i].name, cases[i].password, 1, false), WEB_WAIT);
		assert_int_equal(ask(u, cases[i].name, cases[i].password, 1, true), WEB_WAIT);
		wait_for(1);
		assert_int_equal(ask(u, cases[i].name, cases[i].password, 1, true),
			cases[i].verdict);
	}
	/* All results are still cached. */
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(ask(u, cases[i].name, cases[i].password, 2, false),
			cases[i].verdict);
	web_users_stop(u);
}

static void nobody_comes_in_without_a_name_and_a_password(void **state)
{
	AUTO(web_users_freep) struct web_users *u = start();

	assert_int_equal(ask(u, NULL, NULL, 1, true), WEB_UNAUTHORIZED);
	assert_int_equal(ask(u, "ann", NULL, 1, true), WEB_UNAUTHORIZED);
	web_users_stop(u);
}

static void a_changed_hash_makes_what_was_known_unknown(void **state)
{
	AUTO(web_users_freep) struct web_users *u = start();
	const char *before = users[0].hash;

	assert_int_equal(ask(u, "ann", "pass", 1, true), WEB_WAIT);
	wait_for(1);
	users[0].hash = "$2b$04$aZ.0dKGcN0tZdhRPuy52aeakpafdQCKZt95UNHg2Hare455rX5Mj2";
	assert_int_equal(ask(u, "ann", "pass", 1, true), WEB_WAIT);
	wait_for(1);
	assert_int_equal(ask(u, "ann", "pass", 1, false), WEB_UNAUTHORIZED);
	users[0].hash = before;
	web_users_stop(u);
}

/* The hash in the file stays the same when its user is renamed. */
static void a_renamed_user_is_another(void **state)
{
	AUTO(web_users_freep) struct web_users *u = start();
	static const struct {
		const char *known, *asks;
		enum web_entry verdict;
	} cases[] = {
		{"ann", "ann", WEB_ENTER},
		{"eve", "ann", WEB_UNAUTHORIZED},
		{"eve", "eve", WEB_ENTER},
		{"ann", "eve", WEB_UNAUTHORIZED},
		{"ann", "ann", WEB_ENTER},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		users[0].name = cases[i].known;
		if (ask(u, cases[i].asks, "pass", 1, true) == WEB_WAIT)
			wait_for(1);
		assert_int_equal(ask(u, cases[i].asks, "pass", 1, false), cases[i].verdict);
	}
	/* At the time of this request, the file does not have the user yet. */
	users[0].name = "ann";
	if (ask(u, "joe", "pass", 1, true) == WEB_WAIT)
		wait_for(1);
	users[0].name = "joe";
	if (ask(u, "joe", "pass", 1, true) == WEB_WAIT)
		wait_for(1);
	assert_int_equal(ask(u, "joe", "pass", 1, false), WEB_ENTER);
	users[0].name = "ann";
	web_users_stop(u);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns the CPU time of a refusal. The CPU time of the helper thread's last clock tick may be
 * counted only with the next refusal. So only sums over many refusals are exact. */
static double time_of(struct web_users *u, const char *name, int guess)
{
	char password[24];

	snprintf(password, sizeof password, "guess %d", guess);
	ahead += FAILURE_SECONDS;
	double before = cpu_seconds();

	assert_int_equal(ask(u, name, password, 1, true), WEB_WAIT);
	wait_for(1);
	double seconds = cpu_seconds() - before;

	assert_int_equal(ask(u, name, password, 1, true), WEB_UNAUTHORIZED);
	return seconds;
}

static void a_stranger_takes_as_long_as_a_user(void **state)
{
	static const char *const hashes[] = {
		"$2b$05$u8vOThsn0r9KAgkKR8QFIOXU8wJ4ibNrjImnQYNIChUuO0aOzcImW",
		"$2b$08$u8vOThsn0r9KAgkKR8QFIOXU8wJ4ibNrjImnQYNIChUuO0aOzcImW",
		"$2b$12$u8vOThsn0r9KAgkKR8QFIOXU8wJ4ibNrjImnQYNIChUuO0aOzcImW"};
	const char *before = users[0].hash;

	for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++) {
		AUTO(web_users_freep) struct web_users *u = start();
		double user = 0, stranger = 0;

		users[0].hash = hashes[i];
		for (int guess = 0; fmin(user, stranger) < 0.2; guess++) {
			user += time_of(u, "ann", guess);
			stranger += time_of(u, "nobody", guess);
		}
		print_message("%.7s: a user %.3f s, a stranger %.3f s\n", hashes[i], user,
			stranger);
		/* One more step of a hash's cost doubles the time. */
		assert_true(stranger < 1.7 * user && user < 1.7 * stranger);
		web_users_stop(u);
	}
	users[0].hash = before;
}

/* A hash that several users share must not let a stranger in. */
static void no_password_of_a_user_fits_a_stranger(void **state)
{
	AUTO(web_users_freep) struct web_users *u = start();
	char name[16];

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "bob%d", i);
		ahead += FAILURE_SECONDS;
		assert_int_equal(ask(u, name, "pass", 1, true), WEB_WAIT);
		wait_for(1);
		assert_int_equal(ask(u, name, "pass", 1, true), WEB_UNAUTHORIZED);
	}
	config.n_users = 0;
	assert_int_equal(ask(u, "ann", "pass", 1, true), WEB_UNAUTHORIZED);
	config.n_users = 1;
	web_users_stop(u);
}

/* The hash takes long, so the first password is computed during the whole test. */
static void guessers_stand_in_line(void **state)
{
	AUTO(web_users_freep) struct web_users *u = start();
	const char *before = users[0].hash;
	char password[16];
	unsigned waiting = 1;

	users[0].hash = "$2b$16$fhRiGIzMv/Hkucc13VrGyoakpafdQCKZt95UNHg2Hare455rX5Mj2";
	assert_int_equal(ask(u, "ann", "first", 1, true), WEB_WAIT);
	/* Another password from the same address has to wait. The same password waits together with
	 * the first. */
	assert_int_equal(ask(u, "ann", "second", 1, true), WEB_OVERLOADED);
	assert_int_equal(ask(u, "ann", "first", 1, true), WEB_WAIT);
	waiting++;
	for (unsigned i = 0; waiting < WEB_USERS_WAITING_MAX; i++, waiting++) {
		snprintf(password, sizeof password, "guess %u", i);
		assert_int_equal(ask(u, "ann", password, 100 + i, true), WEB_WAIT);
	}
	assert_int_equal(ask(u, "ann", "one more", 99, true), WEB_OVERLOADED);
	/* All waiting requests are released. The running computation is not waited for. */
	web_users_stop(u);
	wait_for(WEB_USERS_WAITING_MAX);
	assert_int_equal(ask(u, "ann", "late", 98, true), WEB_OVERLOADED);
	users[0].hash = before;
}

/* ---- failures ---- */

/* Sends a wrong password that was never sent before. Returns how the request was answered. */
static enum web_entry guess(struct web_users *u, uint64_t address)
{
	static unsigned n;
	char password[24];

	snprintf(password, sizeof password, "wrong %u", n++);
	enum web_entry ret = ask(u, "ann", password, address, true);

	if (ret != WEB_WAIT)
		return ret;
	wait_for(1);
	return ask(u, "ann", password, address, false);
}

/* Sends the right password. Its result may be cached or not. */
static enum web_entry enter(struct web_users *u, uint64_t address)
{
	if (ask(u, "ann", "pass", address, true) == WEB_WAIT)
		wait_for(1);
	return ask(u, "ann", "pass", address, false);
}

static void spend(struct web_users *u, uint64_t address)
{
	for (int i = 0; i < FAILURE_BURST; i++)
		assert_int_equal(guess(u, address), WEB_UNAUTHORIZED);
	assert_int_equal(guess(u, address), WEB_TOO_MANY_FAILURES);
}

static void wrong_passwords_are_few_at_once_and_then_one_a_second(void **state)
{
	AUTO(web_users_freep) struct web_users *u = start();

	spend(u, 1);
	for (int i = 0; i < 3; i++) {
		ahead += FAILURE_SECONDS;
		assert_int_equal(guess(u, 1), WEB_UNAUTHORIZED);
		assert_int_equal(guess(u, 1), WEB_TOO_MANY_FAILURES);
	}
	/* The allowance never exceeds its start value, even after a long time without an
	 * attempt. */
	ahead += 3600;
	spend(u, 1);
	/* Another address has its own allowance. */
	spend(u, 2);
	assert_int_equal(guess(u, 1), WEB_TOO_MANY_FAILURES);
	web_users_stop(u);
}

static void who_was_right_before_never_waits_for_a_guesser_at_the_same_address(void **state)
{
	AUTO(web_users_freep) struct web_users *u = start();

	assert_int_equal(enter(u, 1), WEB_ENTER);
	spend(u, 1);
	assert_int_equal(ask(u, "ann", "pass", 1, true), WEB_ENTER);
	/* A password known to be wrong is refused at once, without counting as a failure. */
	assert_int_equal(ask(u, "ann", "Pass", 2, true), WEB_WAIT);
	wait_for(1);
	assert_int_equal(ask(u, "ann", "Pass", 1, true), WEB_UNAUTHORIZED);
	web_users_stop(u);
}

/* After too many failures at an address, even a right password has to wait if this address has not
 * sent it before. Otherwise a password cached for another address could be guessed as fast as
 * requests are answered. */
static void a_right_password_that_is_new_from_there_waits_its_turn(void **state)
{
	AUTO(web_users_freep) struct web_users *u = start();
	const char *before = users[0].hash;

	/* The password becomes known from a third address. */
	assert_int_equal(enter(u, 3), WEB_ENTER);
	spend(u, 1);
	assert_int_equal(ask(u, "ann", "pass", 1, true), WEB_TOO_MANY_FAILURES);
	assert_int_equal(ask(u, "ann", "pass", 1, false), WEB_TOO_MANY_FAILURES);
	ahead += FAILURE_SECONDS;
	assert_int_equal(ask(u, "ann", "pass", 1, true), WEB_ENTER);
	/* The right password that had to wait did not count as a failure. */
	assert_int_equal(guess(u, 1), WEB_UNAUTHORIZED);
	assert_int_equal(guess(u, 1), WEB_TOO_MANY_FAILURES);

	/* A right password also has to wait while the hash of another password from its address is
	 * being computed. */
	static struct web_user two[2];
	struct web_config both = {.n_users = 2, .user = two}, one = config;

	two[0] = users[0];
	two[1] = (struct web_user){
		"bob", "$2b$16$fhRiGIzMv/Hkucc13VrGyoakpafdQCKZt95UNHg2Hare455rX5Mj2"};
	config = both;
	assert_int_equal(ask(u, "bob", "slow", 4, true), WEB_WAIT);
	assert_int_equal(ask(u, "ann", "pass", 4, true), WEB_OVERLOADED);
	assert_int_equal(ask(u, "ann", "pass", 5, true), WEB_ENTER);
	config = one;
	users[0].hash = before;
	web_users_stop(u);
	wait_for(1);
}

/* A browser requests all files of a page at once. */
static void several_requests_with_one_wrong_password_are_one_failure(void **state)
{
	enum { REQUESTS = 8 };
	AUTO(web_users_freep) struct web_users *u = start();
	const char *before = users[0].hash;
	unsigned waiting = 0;

	/* The hash is so slow that all requests arrive before the first password is verified. */
	users[0].hash = "$2b$12$u8vOThsn0r9KAgkKR8QFIOXU8wJ4ibNrjImnQYNIChUuO0aOzcImW";
	for (int i = 0; i < REQUESTS; i++)
		waiting += ask(u, "ann", "mistyped", 1, true) == WEB_WAIT;
	wait_for(waiting);
	users[0].hash = before;
	for (int i = 1; i < FAILURE_BURST; i++)
		assert_int_equal(guess(u, 1), WEB_UNAUTHORIZED);
	assert_int_equal(guess(u, 1), WEB_TOO_MANY_FAILURES);
	web_users_stop(u);
}

static void addresses_that_do_not_fit_are_counted_together(void **state)
{
	struct failure_limit l = {0};
	struct mono now = {.ns = 1000 * NS_PER_S};

	for (uint64_t address = 1; address <= FAILURE_ADDRESSES; address++)
		failure_limit_count(&l, address, now);
	for (uint64_t i = 0; i < FAILURE_BURST; i++) {
		assert_false(failure_limit_reached(&l, 100000 + i, now));
		failure_limit_count(&l, 100000 + i, now);
	}
	assert_true(failure_limit_reached(&l, 100000, now));
	assert_true(failure_limit_reached(&l, 200000, now));
	/* The addresses that fit into the table keep their own counts. */
	assert_false(failure_limit_reached(&l, 1, now));
	/* An address whose failures have expired frees its place in the table. */
	now.ns += FAILURE_SECONDS * NS_PER_S;
	assert_false(failure_limit_reached(&l, 200000, now));
	for (int i = 0; i < FAILURE_BURST; i++)
		failure_limit_count(&l, 200000, now);
	assert_true(failure_limit_reached(&l, 200000, now));
	assert_false(failure_limit_reached(&l, 1, now));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stranger_takes_as_long_as_a_user),
		cmocka_unit_test(no_password_of_a_user_fits_a_stranger),
		cmocka_unit_test(verdicts_are_computed_aside_and_kept),
		cmocka_unit_test(nobody_comes_in_without_a_name_and_a_password),
		cmocka_unit_test(a_changed_hash_makes_what_was_known_unknown),
		cmocka_unit_test(a_renamed_user_is_another),
		cmocka_unit_test(wrong_passwords_are_few_at_once_and_then_one_a_second),
		cmocka_unit_test(
			who_was_right_before_never_waits_for_a_guesser_at_the_same_address),
		cmocka_unit_test(several_requests_with_one_wrong_password_are_one_failure),
		cmocka_unit_test(addresses_that_do_not_fit_are_counted_together),
		/* These two come last, because their hashes are still computed after the test. */
		cmocka_unit_test(a_right_password_that_is_new_from_there_waits_its_turn),
		cmocka_unit_test(guessers_stand_in_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
