/* collectors/followed/run_addresses.c: the limit on the address space of a run. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>

#include "collectors/base/mem.h"
#include "tests/support/jobs_world.h"

static void put_limits(struct world *w, int pid, const char *addresses, const char *data)
{
	char path[32], text[400];

	snprintf(path, sizeof path, "%d/limits", pid);
	snprintf(text, sizeof text,
		"Limit                     Soft Limit           Hard Limit           Units     \n"
		"Max cpu time              unlimited            unlimited            seconds   \n"
		"Max data size             %-20s unlimited            bytes     \n"
		"Max address space         %-20s unlimited            bytes     \n",
		data, addresses);
	memory_tree_text(w->proc, path, text);
}

static void put_sizes(struct world *w, int pid, unsigned addresses, unsigned data)
{
	char path[32], text[200];

	snprintf(path, sizeof path, "%d/status", pid);
	snprintf(text, sizeof text, "Pid:\t%d\nVmPeak:\t%u kB\nVmHWM:\t9 kB\nVmData:\t%u kB\n", pid,
		addresses, data);
	memory_tree_text(w->proc, path, text);
}

static struct account_note note_of(struct world *w)
{
	struct account_note note;

	look(w);
	assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
	return note;
}

static void the_smaller_limit_of_addresses_is_kept(void **state)
{
	static const struct {
		const char *addresses, *data; /* RLIMIT_AS and RLIMIT_DATA in bytes */
		double limit, peak;           /* 0 = none */
	} table[] = {
		{"unlimited", "unlimited", 0, 0},
		{"4096000", "unlimited", 4096000, 3000 * 1024},
		{"unlimited", "4096000", 4096000, 2000 * 1024},
		{"4096000", "8192000", 4096000, 3000 * 1024},
		{"8192000", "4096000", 4096000, 2000 * 1024},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(world_freep) struct world *w = world_new();

		PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 10, .children = "");
		put_limits(w, 10, table[i].addresses, table[i].data);
		put_sizes(w, 10, 1000, 500);
		follow(w, 10, 0);
		look(w);
		put_sizes(w, 10, 3000, 2000);
		look(w);
		put_sizes(w, 10, 3000, 100);
		struct account_note note = note_of(w);

		if (!(table[i].limit > 0 ? note.address_limit_bytes == table[i].limit &&
						   note.address_peak_bytes == table[i].peak :
					   isnan(note.address_limit_bytes)))
			fail_msg("row %zu: %g of %g", i, note.address_peak_bytes,
				note.address_limit_bytes);
	}
}

static void the_largest_process_decides_and_its_limit_stays(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 10, .children = "11 ");
	PUT(w, .pid = 11, .ppid = 10, .start = 6, .rss_pages = 500, .children = "");
	put_limits(w, 10, "unlimited", "unlimited");
	put_limits(w, 11, "unlimited", "unlimited");
	follow(w, 10, 0);
	assert_true(isnan(note_of(w).address_limit_bytes));
	/* The largest process executes another program, with a limit. */
	PUT(w, .pid = 11, .ppid = 10, .start = 6, .rss_pages = 500, .user = 7, .stack = 77,
		.children = "");
	put_limits(w, 11, "4096000", "unlimited");
	put_sizes(w, 11, 3000, 2000);
	assert_true(note_of(w).address_limit_bytes == 4096000);
	gone(w, 11);
	assert_true(note_of(w).address_limit_bytes == 4096000);
	assert_true(note_of(w).address_peak_bytes == 3000 * 1024);
}

/* A shell executes thousands of programs one after the other. Only a limited number of their limits
 * is read. */
static void the_number_of_programs_is_limited(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 10, .children = "");
	follow(w, 10, 0);
	for (unsigned i = 1; i <= 64; i++) {
		PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 10, .user = i, .stack = i);
		look(w);
	}
	put_limits(w, 10, "4096000", "unlimited");
	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 10, .user = 99, .stack = 99);
	assert_true(isnan(note_of(w).address_limit_bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smaller_limit_of_addresses_is_kept),
		cmocka_unit_test(the_largest_process_decides_and_its_limit_stays),
		cmocka_unit_test(the_number_of_programs_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
