/* exporter/sampling/enabled_collectors.c, sampler.c: log messages about collectors, and about
 * processes that cannot be read. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "collectors/followed/jobs.h"
#include "collectors/runs.h"
#include "exporter/sampling/enabled_collectors.h"
#include "exporter/sampling/sampler_state.h"
#include "tests/support/fake_log.h"
#include "tests/support/test_host.h"

#define COLLECTORS_MAX 32

extern const struct collector collector_cpu, collector_load;

struct world {
	struct test_host t;
	bool on[COLLECTORS_MAX];
	struct options options;
	struct enabled_collectors *enabled;
	struct snapshot_pool *pool;
};

/* Makes a world in which `only` is the only enabled collector. */
static void begin(struct world *w, const struct collector *only)
{
	*w = (struct world){.options.collector_on = w->on};
	for (size_t i = 0; all_collectors[i]; i++)
		w->on[i] = all_collectors[i] == only;
	test_host_init(&w->t);
	w->enabled = enabled_collectors_start(&w->options, &w->t.host);
	w->pool = snapshot_pool_new(enabled_collectors_list(w->enabled));
	fake_log_clear();
}

static void end(struct world *w)
{
	enabled_collectors_stop(w->enabled);
	snapshot_pool_free(w->pool);
	test_host_done(&w->t);
}

/* Makes one tick and returns the block of the `load` collector. The pointers in the block are no
 * longer valid. */
static struct block tick(struct world *w, bool kept_only)
{
	struct snapshot *s = snapshot_take(w->pool);

	test_host_advance(&w->t, 1);
	enabled_collectors_read(w->enabled, &w->t.host, s, kept_only);
	struct block ret = *snapshot_block(s, &collector_load);

	shared_drop(&s->shared);
	return ret;
}

static void a_failure_is_told_once_and_its_end_as_well(void **state)
{
	struct world w;

	begin(&w, &collector_load);
	for (size_t i = 0; i < 3; i++) {
		test_host_file(&w.t, "/proc/loadavg", "broken\n");
		struct block b = tick(&w, false);

		assert_true(!b.success && !b.absent && b.n_points == 0);
		assert_string_equal(fake_log(), "collector failed collector=load\n");
	}
	test_host_file(&w.t, "/proc/loadavg", "0.5 0.4 0.3 1/200 4711\n");
	for (size_t i = 0; i < 2; i++) {
		struct block b = tick(&w, false);

		assert_true(b.success && b.n_points >= 4 && b.duration_seconds >= 0);
		assert_string_equal(fake_log(), "collector failed collector=load\n"
						"collector works again collector=load\n");
	}
	end(&w);
}

static void who_is_switched_off_is_left_alone(void **state)
{
	struct world w;

	begin(&w, &collector_cpu);
	test_host_file(&w.t, "/proc/loadavg", "broken\n");
	assert_true(tick(&w, false).absent);
	assert_null(strstr(fake_log(), "load"));
	end(&w);
}

static void for_the_history_only_what_it_keeps_is_read(void **state)
{
	struct world w;

	begin(&w, &collector_load);
	test_host_file(&w.t, "/proc/loadavg", "broken\n");
	test_host_file(&w.t, "/proc/7/stat", "");
	struct block b = tick(&w, true);

	/* The only point of the block is the number of processes. It does not come from the broken
	 * file. */
	assert_true(b.success && b.n_points == 1);
	assert_string_equal(fake_log(), "");
	end(&w);
}

static void missing_rights_are_told_once(void **state)
{
	struct run_reading runs[] = {
		{.job_name = "ended", .ended = true},
		{.job_name = "whole"},
		{.job_name = "hidden"},
		{.job_name = "hidden too"},
	};
	struct snapshot s = {.n_runs = 2, .runs = runs};
	bool said = false;

	for (size_t i = 0; i < ARRAY_LEN(runs); i++)
		runs[i].value[RUN_UNREADABLE_PROCESSES] = i == 1 ? 0 : 5;
	fake_log_clear();
	rights_note(&said, &s);
	runs[1].value[RUN_UNREADABLE_PROCESSES] = NAN;
	rights_note(&said, &s);
	assert_string_equal(fake_log(), "");
	s.n_runs = ARRAY_LEN(runs);
	for (size_t i = 0; i < 2; i++) {
		rights_note(&said, &s);
		assert_string_equal(fake_log(),
			"processes of another user: their disk I/O, descriptors, PSS, environment, "
			"and the limits of another container cannot be read job_name=hidden\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_is_told_once_and_its_end_as_well),
		cmocka_unit_test(who_is_switched_off_is_left_alone),
		cmocka_unit_test(for_the_history_only_what_it_keeps_is_read),
		cmocka_unit_test(missing_rights_are_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
