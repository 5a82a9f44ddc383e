/* collectors/jobs: what the memory of a tree is, and its peak. */
#include "tests/unit/test_main.h"

#include "tests/support/jobs_world.h"

static const char *source(const struct world *w)
{
	struct account_note note;

	assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
	return note.memory_source;
}

static void peak_is_the_mark_and_what_others_held(void **state)
{
	struct world *w = world_new();
	const double mib = 1048576;

	(void)state;
	put(w, &(struct fake){.pid = 10,
		       .ppid = 1,
		       .start = 5,
		       .rss_pages = 25600,
		       .peak_kib = 102400,
		       .faults = 1});
	put(w, &(struct fake){.pid = 11,
		       .ppid = 10,
		       .start = 6,
		       .rss_pages = 256,
		       .peak_kib = 1024,
		       .faults = 1});
	put(w, &(struct fake){.pid = 12,
		       .ppid = 10,
		       .start = 6,
		       .rss_pages = 256,
		       .peak_kib = 1024,
		       .faults = 1});
	children(w, 10, "11 12 ");
	children(w, 11, "");
	children(w, 12, "");
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_MEMORY_PEAK_BYTES], 102 * mib, 1);
	assert_string_equal(source(w), "samples");
	/* Both children spiked by 500 MiB since, at times nobody knows: not 1,100 MiB. */
	put(w, &(struct fake){.pid = 11,
		       .ppid = 10,
		       .start = 6,
		       .rss_pages = 256,
		       .peak_kib = 512000,
		       .faults = 9});
	put(w, &(struct fake){.pid = 12,
		       .ppid = 10,
		       .start = 6,
		       .rss_pages = 256,
		       .peak_kib = 512000,
		       .faults = 9});
	assert_double_equal(look(w)->value[RUN_MEMORY_PEAK_BYTES], 601 * mib, 1);
	assert_string_equal(source(w), "vmhwm");
	assert_double_equal(w->snapshot.runs->value[RUN_MEMORY_PEAK_PROCESS_BYTES], 500 * mib, 1);
	assert_double_equal(w->snapshot.runs->value[RUN_MEMORY_RSS_BYTES], 102 * mib, 1);
	world_free(w);
}

static void forked_child_shares_what_it_has_not_touched(void **state)
{
	struct world *w = world_new();
	const double mib = 1048576;

	(void)state;
	put(w, &(struct fake){.pid = 10,
		       .ppid = 1,
		       .start = 5,
		       .rss_pages = 76800,
		       .peak_kib = 307200,
		       .faults = 1,
		       .stack = 7});
	/* Forked from it: 300 MiB of which it wrote to 100 pages. */
	put(w, &(struct fake){.pid = 11,
		       .ppid = 10,
		       .start = 6,
		       .rss_pages = 76800,
		       .peak_kib = 307200,
		       .faults = 100,
		       .stack = 7});
	/* Forked, then executed something. */
	put(w, &(struct fake){.pid = 12,
		       .ppid = 10,
		       .start = 6,
		       .rss_pages = 512,
		       .peak_kib = 2048,
		       .faults = 1,
		       .stack = 8});
	children(w, 10, "11 12 ");
	children(w, 11, "");
	children(w, 12, "");
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_MEMORY_BYTES], 302 * mib + 100 * 4096, 1);
	assert_double_equal(w->snapshot.runs->value[RUN_MEMORY_PEAK_BYTES], 302 * mib + 100 * 4096,
		1);
	assert_double_equal(w->snapshot.runs->value[RUN_MEMORY_RSS_BYTES], 602 * mib, 1);
	/* It then took 50 MiB more. */
	put(w, &(struct fake){.pid = 11,
		       .ppid = 10,
		       .start = 6,
		       .rss_pages = 89600,
		       .peak_kib = 358400,
		       .faults = 100,
		       .stack = 7});
	assert_double_equal(look(w)->value[RUN_MEMORY_PEAK_BYTES], 352 * mib + 100 * 4096, 1);
	world_free(w);
}

static void peak_is_without_the_reaper(void **state)
{
	struct world *w = world_new();
	const double mib = 1048576;

	(void)state;
	put(w, &(struct fake){
		       .pid = 9, .ppid = 1, .start = 4, .rss_pages = 2560, .peak_kib = 10240});
	put(w, &(struct fake){.pid = 10,
		       .ppid = 9,
		       .start = 5,
		       .rss_pages = 256,
		       .peak_kib = 1024,
		       .faults = 1});
	children(w, 9, "10 ");
	children(w, 10, "");
	follow(w, 10, 9);
	assert_double_equal(look(w)->value[RUN_MEMORY_PEAK_BYTES], mib, 0);
	put(w, &(struct fake){.pid = 10,
		       .ppid = 9,
		       .start = 5,
		       .rss_pages = 256,
		       .peak_kib = 2048,
		       .faults = 9});
	assert_double_equal(look(w)->value[RUN_MEMORY_PEAK_BYTES], 2 * mib, 0);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peak_is_the_mark_and_what_others_held),
		cmocka_unit_test(forked_child_shares_what_it_has_not_touched),
		cmocka_unit_test(peak_is_without_the_reaper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
