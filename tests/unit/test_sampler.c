/* exporter/sampling/requests.c: a caller gives up on a sampler that hangs, and leaves nothing
 * behind. A slow sampler is waited for. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/process/process.h"
#include "exporter/core/app.h"
#include "exporter/history/historian.h"
#include "exporter/core/identity.h"
#include "exporter/sampling/run_forecast.h"
#include "exporter/answers/result_cache.h"
#include "exporter/sampling/rules_reload.h"
#include "exporter/sampling/sampler_state.h"
#include "exporter/answers/sizing.h"
#include "exporter/answers/app_caches.h"

#define SHORT 0.05
/* Even a busy machine gives each thread a CPU within this time. */
#define LONG 1.0
/* Longer than a test may take. */
#define TOO_LONG 6000

struct world {
	struct app app;
	struct options options;
	struct identity self;
	sem_t began, go_on;
	int called, released;
	char rules[32];
};

static int setup(void **state)
{
	char serve[] = "serve", quiet[] = "--no-jobs.recognise";
	char *arguments[] = {serve, quiet, NULL};
	struct world *w = xcalloc(1, sizeof *w);
	struct err e = {0};

	assert_int_equal(options_read(&w->options, COMMAND_SERVE, 2, arguments, &e), 0);
	w->options.sample_interval = 3600;
	w->app = APP_INIT;
	w->app.options = &w->options;
	w->app.history_path = ":memory:";
	identity_read(&w->self);
	w->app.self = &w->self;
	columns_build(&w->app.columns);
	sem_init(&w->began, 0, 0);
	sem_init(&w->go_on, 0, 0);
	const struct historian_config c = {.path = w->app.history_path,
		.columns = &w->app.columns,
		.here = w->self.here,
		.alive = identity_is_alive};

	history_setup();
	assert_int_equal(historian_start(&w->app.historian, &c, &e), 0);
	assert_int_equal(run_forecasts_start(&w->app.run_forecasts, &w->app, &e), 0);
	assert_int_equal(sampler_start(&w->app.sampler, &w->app, NULL, &e), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	/* A failed test may have left the sampler hanging. */
	sem_post(&w->go_on);
	sampler_stop(w->app.sampler);
	run_forecasts_stop(w->app.run_forecasts);
	historian_stop(w->app.historian);
	columns_done(&w->app.columns);
	options_done(&w->options);
	app_caches_done(&w->app);
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

	/* On a busy machine, a call may be given up before it has begun. It then never begins. */
	do {
		assert_int_equal(sampler_call(w->app.sampler, hang, w, SHORT, &e), -ECANCELED);
		assert_non_null(strstr(e.text, "does not answer"));
	} while (sem_trywait(&w->began) != 0);
	assert_int_equal(w->called, 0);
	sem_post(&w->go_on);
	assert_int_equal(sampler_call(w->app.sampler, count, w, INFINITY, &e), 0);
	assert_int_equal(w->called, 2);
}

/* After one call waited in vain, later calls wait only briefly. Otherwise repeated calls would
 * delay all other requests on the same threads. */
static void after_one_waited_in_vain_nobody_waits_long(void **state)
{
	struct world *w = *state;

	assert_int_equal(sampler_call(w->app.sampler, hang, w, SHORT, NULL), -ECANCELED);
	assert_int_equal(sampler_call(w->app.sampler, count, w, TOO_LONG, NULL), -ECANCELED);
	assert_int_equal(sampler_look(w->app.sampler, TOO_LONG, NULL), -ECANCELED);
	sem_post(&w->go_on);
	assert_int_equal(sampler_call(w->app.sampler, count, w, INFINITY, NULL), 0);
	assert_int_equal(w->called, 2);
}

static void *hang_too_long(void *context)
{
	struct world *w = context;

	return sampler_call(w->app.sampler, hang, w, TOO_LONG, NULL) == -ECANCELED ? w : NULL;
}

/* Starts a thread and returns when the sampler hangs. */
static pthread_t begin_to_hang(struct world *w)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, hang_too_long, w), 0);
	sem_wait(&w->began);
	return thread;
}

static void who_waits_already_gives_up_with_who_waited_in_vain(void **state)
{
	struct world *w = *state;
	pthread_t patient = begin_to_hang(w);
	void *gave_up;

	assert_int_equal(sampler_call(w->app.sampler, count, w, SHORT, NULL), -ECANCELED);
	pthread_join(patient, &gave_up);
	assert_ptr_equal(gave_up, w);
	sem_post(&w->go_on);
	assert_int_equal(sampler_call(w->app.sampler, count, w, INFINITY, NULL), 0);
	assert_int_equal(w->called, 2);
}

/* ---- finding runs ---- */

/* A request that the sampler may still use after the caller gave up. */
struct slip {
	struct shared shared;
	struct world *world;
};

static void slip_release(struct shared *shared)
{
	struct slip *s = (struct slip *)(void *)shared;

	s->world->released++;
	free(s);
}

static void hang_in_finding(struct finder *f, const struct host *host, void *context)
{
	assert_non_null(f);
	hang(host, ((const struct slip *)context)->world);
}

static const sigset_t *one_signal(void)
{
	static sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	return &set;
}

/* Sends the signal to this thread only. A signal to the process could reach another thread. */
static void send_signal(void)
{
	pthread_sigmask(SIG_BLOCK, one_signal(), NULL);
	raise(SIGTERM);
}

static bool find_with_slip(struct world *w)
{
	struct slip *s = xcalloc(1, sizeof *s);

	shared_init(&s->shared, slip_release);
	s->world = w;
	bool found = sampler_find(w->app.sampler, hang_in_finding, s, one_signal());

	shared_drop(&s->shared);
	return found;
}

static void who_hangs_in_finding_keeps_what_it_uses_and_nobody_else(void **state)
{
	struct world *w = *state;
	int before;

	send_signal();
	/* On a busy machine the sampler may not start the call before the signal is noticed. */
	do {
		before = w->released;
		assert_false(find_with_slip(w));
	} while (w->released > before);
	assert_int_equal(sampler_call(w->app.sampler, count, w, SHORT, NULL), -ECANCELED);
	assert_false(find_with_slip(w));
	assert_int_equal(w->released, before + 1);
	sem_post(&w->go_on);
	assert_int_equal(sampler_call(w->app.sampler, count, w, INFINITY, NULL), 0);
	assert_int_equal(w->released, before + 2);
	assert_int_equal(w->called, 2);
	sigwaitinfo(one_signal(), NULL);
	sem_post(&w->go_on);
	assert_true(find_with_slip(w));
}

static bool is_taken_for_silent(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	bool ret = s->silent;

	pthread_mutex_unlock(&s->lock);
	return ret;
}

/* Makes a file of rules that match no process. */
static void rules_make(struct world *w)
{
	static const char text[] = "rules:\n- user: no-such-user\n  job_name: x\n";

	snprintf(w->rules, sizeof w->rules, "/tmp/rules-XXXXXX");
	int fd = mkstemp(w->rules);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	w->options.jobs_rules = w->rules;
}

static void rules_remove(struct world *w)
{
	unlink(w->rules);
	w->options.jobs_rules = NULL;
}

static void a_file_of_rules_is_to_blame_only_for_itself(void **state)
{
	struct world *w = *state;

	rules_make(w);
	assert_int_equal(sampler_call(w->app.sampler, hang, w, SHORT, NULL), -ECANCELED);
	assert_int_equal(rules_reload_now(&w->app, NULL), -ECANCELED);
	w->options.jobs_rules = "/nonexistent/rules";
	assert_int_equal(rules_reload_now(&w->app, NULL), -ENOENT);
	w->options.jobs_rules = w->rules;
	sem_post(&w->go_on);
	assert_int_equal(sampler_call(w->app.sampler, count, w, INFINITY, NULL), 0);
	assert_int_equal(rules_reload_now(&w->app, NULL), 0);
	rules_remove(w);
}

static void the_end_is_seen_while_rules_are_given(void **state)
{
	struct world *w = *state;

	rules_make(w);
	pthread_t patient = begin_to_hang(w);

	send_signal();
	rules_reload(&w->app);
	/* The signal ended the wait of `rules_reload` before the sampler counted as hanging. */
	assert_false(is_taken_for_silent(w->app.sampler));
	/* The signal is still pending for the thread that ends the program. */
	assert_int_equal(sigtimedwait(one_signal(), NULL, &(struct timespec){0}), SIGTERM);
	sem_post(&w->go_on);
	pthread_join(patient, NULL);
	rules_remove(w);
}

/* Uses CPU time for longer than callers wait for an idle sampler. */
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
	assert_int_equal(sampler_call(w->app.sampler, count, w, SHORT, NULL), -ECANCELED);
	assert_int_equal(sampler_follow(w->app.sampler, &spec, NULL, SHORT, NULL, NULL),
		-ECANCELED);
	assert_int_equal(sampler_conclude(w->app.sampler, "r", final, FINAL_EXACT, NULL, SHORT,
				 NULL),
		-ECANCELED);
	sem_post(&w->go_on);
	assert_int_equal(sampler_call(w->app.sampler, count, w, INFINITY, NULL), 0);
	assert_int_equal(w->called, 2);
	struct snapshot *s = sampler_runs(w->app.sampler, 0, 60);

	assert_non_null(s);
	/* Other programs of this machine may have runs. */
	for (size_t i = 0; i < s->n_runs; i++)
		assert_string_not_equal(s->runs[i].run_id, "r");
	shared_drop(&s->shared);
}

static int follow_and_record(struct world *w, const char *run_id, double seconds)
{
	const struct run_spec spec = {.run_id = run_id,
		.job_name = "j",
		.pid = getpid(),
		.start_ticks = w->self.start_ticks,
		.awaits_conclusion = true};
	const struct run_begin begin = {.run_id = run_id, .job_name = "j", .host = "h"};

	return sampler_follow(w->app.sampler, &spec, &begin, seconds, NULL, NULL);
}

struct records {
	struct sample_rows *sample_rows;
	bool waited_for, given_up;
};

static void look_at_records(const struct host *host, void *context)
{
	struct records *r = context;

	(void)host;
	r->waited_for = sample_rows_records(r->sample_rows, "waited-for");
	r->given_up = sample_rows_records(r->sample_rows, "given-up");
}

static void a_run_that_was_given_up_is_not_recorded(void **state)
{
	struct world *w = *state;
	struct sampler *s = w->app.sampler;
	struct records r = {.sample_rows = s->sample_rows};

	assert_int_equal(follow_and_record(w, "waited-for", INFINITY), 0);
	/* The first row is recorded before the second run begins. */
	shared_drop(&sampler_scrape(s, 0, 60)->shared);
	/* The tick that reads the new run for the first time needs this lock at its end. */
	pthread_mutex_lock(&s->runs_now.lock);
	assert_int_equal(follow_and_record(w, "given-up", SHORT), -ECANCELED);
	pthread_mutex_unlock(&s->runs_now.lock);
	assert_int_equal(sampler_call(s, look_at_records, &r, INFINITY, NULL), 0);
	assert_true(r.waited_for);
	assert_false(r.given_up);
}

static void note_affinity(const struct host *host, void *context)
{
	*(unsigned *)context = host->affinity_cpus;
}

/* taskset(1) changes the affinity like this while a server runs. */
static void each_tick_sees_the_cpus_that_may_be_used_then(void **state)
{
	struct world *w = *state;
	struct sampler *s = w->app.sampler;
	cpu_set_t before, one;
	unsigned at_first = 0, then = 0, at_last = 0;
	size_t cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	while (!CPU_ISSET(cpu, &before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (CPU_EQUAL(&one, &before))
		skip();
	assert_int_equal(sampler_call(s, note_affinity, &at_first, INFINITY, NULL), 0);
	assert_int_equal(at_first, CPU_COUNT(&before));
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	assert_int_equal(sampler_look(s, INFINITY, NULL), 0);
	assert_int_equal(sampler_call(s, note_affinity, &then, INFINITY, NULL), 0);
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
	assert_int_equal(sampler_look(s, INFINITY, NULL), 0);
	assert_int_equal(sampler_call(s, note_affinity, &at_last, INFINITY, NULL), 0);
	assert_int_equal(then, 1);
	assert_int_equal(at_last, CPU_COUNT(&before));
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
		cmocka_unit_test_setup_teardown(who_waits_already_gives_up_with_who_waited_in_vain,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_hangs_in_finding_keeps_what_it_uses_and_nobody_else, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_of_rules_is_to_blame_only_for_itself, setup,
			teardown),
		cmocka_unit_test_setup_teardown(the_end_is_seen_while_rules_are_given, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_run_that_was_given_up_is_not_recorded, setup,
			teardown),
		cmocka_unit_test_setup_teardown(each_tick_sees_the_cpus_that_may_be_used_then,
			setup, teardown),
		cmocka_unit_test_setup_teardown(why_nothing_is_followed_is_told, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
