/* collectors/followed/jobs.c: a run that begins in the middle of its process's life does not count
 * what was before. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "tests/support/jobs_world.h"

/* A worker that has used 10 s of CPU time, and whose peak was 100 MiB. */
static const struct fake worker = {.pid = 10,
	.ppid = 1,
	.user = 1000,
	.faults = 500,
	.rss_pages = 2560,
	.peak_kib = 102400,
	.start = 5};

static void begin(struct world *w)
{
	struct run_spec spec = {.run_id = "r1", .job_name = "ray/fit", .pid = 10, .from_now = true};

	w->host.now.mono.ns = 1000 * NS_PER_S;
	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &spec, NULL), 0);
}

static void only_what_is_used_from_then_on_counts(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	struct fake now = worker;

	put(w, &now);
	begin(w);
	const struct run_reading *r = look(w);

	assert_double_equal(r->value[RUN_CPU_SECONDS], 0, 0);
	assert_double_equal(r->value[RUN_MINOR_FAULTS], 0, 0);
	assert_double_equal(r->value[RUN_DURATION_SECONDS], 1, 1e-9);
	now.user += 150;
	now.system += 50;
	now.faults += 7;
	put(w, &now);
	r = look(w);
	assert_double_equal(r->value[RUN_CPU_SECONDS], 2, 1e-9);
	assert_double_equal(r->value[RUN_MINOR_FAULTS], 7, 0);
	assert_double_equal(r->value[RUN_DURATION_SECONDS], 2, 1e-9);
}

static void mark_from_before_is_no_peak_of_the_run(void **state)
{
	static const struct {
		unsigned long rss_pages, peak_kib;
		double peak_bytes;
		const char *source;
	} table[] = {
		{2560, 102400, 2560 * 4096.0, "samples"},
		{5120, 102400, 5120 * 4096.0, "samples"},
		{5000, 102400, 5120 * 4096.0, "samples"},
		{5000, 204800, 204800 * 1024.0, "vmhwm"},
	};
	AUTO(world_freep) struct world *w = world_new();
	struct fake now = worker;
	struct account_note note;

	put(w, &now);
	begin(w);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		now.rss_pages = table[i].rss_pages;
		now.peak_kib = table[i].peak_kib;
		now.user++;
		now.faults++;
		put(w, &now);
		double peak = look(w)->value[RUN_MEMORY_PEAK_BYTES];

		assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
		if (fabs(peak - table[i].peak_bytes) > 0.5 ||
			strcmp(note.memory_source, table[i].source) != 0)
			fail_msg("%zu: %g by %s", i, peak, note.memory_source);
	}
}

/* The parent gets a little less CPU time than the child's own clock counted, because the parent's
 * time is in ticks. */
static void child_from_before_takes_nothing_away(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	struct fake parent = worker,
		    child = {.pid = 11, .ppid = 10, .user = 300, .faults = 50, .start = 6};

	put(w, &parent);
	put(w, &child);
	children(w, 10, "11 ");
	begin(w);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 0, 0);
	gone(w, 11);
	children(w, 10, "");
	parent.waited_user = 299;
	parent.waited_faults = 50;
	put(w, &parent);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 0, 0);
	parent.user += 100;
	put(w, &parent);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 0.99, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_used_from_then_on_counts),
		cmocka_unit_test(mark_from_before_is_no_peak_of_the_run),
		cmocka_unit_test(child_from_before_takes_nothing_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
