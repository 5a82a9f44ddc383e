/* exporter/sampler_asked.c: whoever asks a sampler that hangs gives up, and leaves nothing behind; who is slow is waited for. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/process.h"
#include "exporter/app.h"
#include "exporter/historian.h"
#include "exporter/identity.h"
#include "exporter/outlook.h"
#include "exporter/past.h"
#include "exporter/sampler.h"
#include "exporter/sized.h"

#define SHORT 0.05
/* So long even a busy machine leaves no thread without a CPU. */
#define LONG 1.0

struct world {
	struct app app;
	struct options options;
	struct identity self;
	sem_t began, go_on;
	int called;
};

static int setup(void **state)
{
	char serve[] = "serve", *arguments[] = {serve, NULL};
	struct world *w = xcalloc(1, sizeof *w);
	struct err e = {0};

	assert_int_equal(options_read(&w->options, COMMAND_SERVE, 1, arguments, &e), 0);
	w->options.sample_interval = 3600;
	w->app = APP_INIT;
	w->app.options = &w->options;
	w->app.history_path = ":memory:";
	identity_read(&w->self);
	columns_build(&w->app.columns);
	sem_init(&w->began, 0, 0);
	sem_init(&w->go_on, 0, 0);
	const struct historian_config c = {.path = w->app.history_path,
		.columns = &w->app.columns,
		.here = w->self.here,
		.alive = process_alive};

	history_setup();
	assert_int_equal(historian_start(&w->app.historian, &c, &e), 0);
	assert_int_equal(outlooks_start(&w->app.outlooks, &w->app, &e), 0);
	assert_int_equal(sampler_start(&w->app.sampler, &w->app, &e), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	sampler_stop(w->app.sampler);
	outlooks_stop(w->app.outlooks);
	historian_stop(w->app.historian);
	columns_done(&w->app.columns);
	options_done(&w->options);
	app_done(&w->app);
	sem_destroy(&w->began);
	sem_destroy(&w->go_on);
	free(w);
	return 0;
}

static void hang(const struct host *host, void *context)
{
	struct world *w = context;

	(void)host;
	sem_post(&w->began);
	while (sem_wait(&w->go_on) < 0 && errno == EINTR)
		;
	w->called++;
}

static void count(const struct host *host, void *context)
{
	struct world *w = context;

	(void)host;
	w->called++;
}

static void what_hangs_is_left_to_the_sampler(void **state)
{
	struct world *w = *state;
	struct err e = {0};

	assert_int_equal(sampler_call(w->app.sampler, hang, w, SHORT, &e), -ETIMEDOUT);
	assert_non_null(strstr(e.text, "does not answer"));
	assert_int_equal(w->called, 0);
	sem_post(&w->go_on);
	assert_int_equal(sampler_call(w->app.sampler, count, w, INFINITY, &e), 0);
	assert_int_equal(w->called, 2);
}

/* Or those who ask again and again would hold up whoever else is served by their threads. */
static void after_one_waited_in_vain_nobody_waits_long(void **state)
{
	struct world *w = *state;

	assert_int_equal(sampler_call(w->app.sampler, hang, w, SHORT, NULL), -ETIMEDOUT);
	/* Longer than a test should take. */
	assert_int_equal(sampler_call(w->app.sampler, count, w, 600, NULL), -ETIMEDOUT);
	sem_post(&w->go_on);
	assert_int_equal(sampler_call(w->app.sampler, count, w, INFINITY, NULL), 0);
	assert_int_equal(w->called, 2);
}

/* For longer than anybody waits for who does nothing. */
static void work(const struct host *host, void *context)
{
	uint64_t begin = process_thread_clock();

	while (process_thread_clock() - begin < (uint64_t)(1.5 * LONG * 1e9))
		;
	count(host, context);
}

static void who_works_is_waited_for(void **state)
{
	struct world *w = *state;
	struct err e = {0};

	assert_int_equal(sampler_call(w->app.sampler, work, w, LONG, &e), 0);
	assert_int_equal(w->called, 1);
}

static void what_was_not_begun_never_is(void **state)
{
	struct world *w = *state;
	const struct run_spec spec = {.run_id = "r", .job_name = "j", .pid = getpid()};
	const double final[RUN_N_METRICS] = {0};

	sampler_call(w->app.sampler, hang, w, SHORT, NULL);
	assert_int_equal(sampler_call(w->app.sampler, count, w, SHORT, NULL), -ETIMEDOUT);
	assert_int_equal(sampler_follow(w->app.sampler, &spec, NULL, SHORT, NULL, NULL),
		-ETIMEDOUT);
	assert_int_equal(sampler_conclude(w->app.sampler, "r", final, FINAL_EXACT, NULL, SHORT,
				 NULL),
		-ETIMEDOUT);
	sem_post(&w->go_on);
	assert_int_equal(sampler_call(w->app.sampler, count, w, INFINITY, NULL), 0);
	assert_int_equal(w->called, 2);
	struct snapshot *s = sampler_runs(w->app.sampler, 0, 60);

	assert_non_null(s);
	assert_int_equal(s->n_runs, 0);
	shared_drop(&s->shared);
}

static void why_nothing_is_followed_is_told(void **state)
{
	struct world *w = *state;
	const struct run_spec spec = {
		.run_id = "r", .job_name = "j", .pid = getpid(), .start_ticks = 1};
	struct err e = {0};

	assert_int_equal(sampler_follow(w->app.sampler, &spec, NULL, INFINITY, NULL, &e), -ESRCH);
	assert_non_null(strstr(e.text, "follow process"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_hangs_is_left_to_the_sampler, setup, teardown),
		cmocka_unit_test_setup_teardown(after_one_waited_in_vain_nobody_waits_long, setup,
			teardown),
		cmocka_unit_test_setup_teardown(who_works_is_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_not_begun_never_is, setup, teardown),
		cmocka_unit_test_setup_teardown(why_nothing_is_followed_is_told, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
