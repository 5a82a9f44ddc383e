/* Runs whose exporter has ended. */
#include "tests/unit/test_main.h"

#include "tests/support/test_history.h"

static void end_run(struct history *h, const char *run_id)
{
	const struct run_finish end = test_finish(run_id, 105, OUTCOME_FAILED);

	assert_int_equal(history_transaction(h, NULL), 0);
	assert_int_equal(history_run_finish(h, &end, NULL), 0);
	assert_int_equal(history_commit(h, NULL), 0);
}

static bool nobody_lives(void *context, pid_t pid, uint64_t start_ticks)
{
	bool *asked = context;

	*asked = pid == 4710 && start_ticks == 98;
	return false;
}

static bool everybody_lives(void *context, pid_t pid, uint64_t start_ticks)
{
	bool *asked = context;

	(void)pid;
	(void)start_ticks;
	*asked = true;
	return true;
}

static void orphans_are_closed_by_what_is_known_of_their_owner(void **state)
{
	struct test_place *f = *state;
	static const struct {
		const char *what, *boot_id;
		uint64_t pid_namespace;
		bool alive, asked;
		double now; /* the last sample is at 105 */
		bool closed;
	} table[] = {
		{"here and dead", "boot-1", 4026531836, false, true, 106, true},
		{"here and alive", "boot-1", 4026531836, true, true, 1e9, false},
		{"another boot", "boot-2", 4026531836, true, false, 106, true},
		{"another namespace, fresh", "boot-1", 1, false, false, 164, false},
		{"another namespace, stale", "boot-1", 1, false, false, 166, true},
		{"unknown namespace, fresh", "boot-1", 0, false, false, 164, false},
		{"unknown boot, stale", "", 4026531836, true, false, 166, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct run_root here = {.pid_namespace = table[i].pid_namespace};
		char id[16];
		bool asked = false;
		const struct orphan_rule rule = {
			.now = table[i].now,
			.stale_seconds = 60,
			.here = &here,
			.alive = table[i].alive ? everybody_lives : nobody_lives,
			.context = &asked,
		};

		print_message("%s\n", table[i].what);
		snprintf(here.boot_id, sizeof here.boot_id, "%s", table[i].boot_id);
		snprintf(id, sizeof id, "r%zu", i);
		test_write_run(f->h, id, "job", 100, 5, OUTCOME_RUNNING);
		assert_int_equal(history_transaction(f->h, NULL), 0);
		assert_int_equal(history_close_orphans(f->h, &rule, NULL), 0);
		assert_int_equal(history_commit(f->h, NULL), 0);
		assert_int_equal(asked, table[i].asked);

		struct run r = test_read_run(f->h, id, &f->arena);

		assert_int_equal(r.outcome,
			table[i].closed ? OUTCOME_INTERRUPTED : OUTCOME_RUNNING);
		if (table[i].closed) {
			assert_near(r.ended_at, 105, 0);
			assert_near(r.duration_seconds, 5, 1e-9);
			assert_near(run_total(&r, "cpu_seconds"), 2.5, 1e-9);
		}
		end_run(f->h, id);
	}
}

static void many_orphans_are_closed_a_few_at_a_time(void **state)
{
	struct test_place *f = *state;
	const struct run_root here = {.boot_id = "boot-2"};
	const struct orphan_rule rule = {.now = 200, .stale_seconds = 60, .here = &here};
	int calls = 0, code;

	for (int i = 0; i < 20; i++) {
		char id[16];

		snprintf(id, sizeof id, "r%d", i);
		test_write_run(f->h, id, "job", 100, 1, OUTCOME_RUNNING);
	}
	do {
		assert_int_equal(history_transaction(f->h, NULL), 0);
		code = history_close_orphans(f->h, &rule, NULL);
		assert_int_equal(history_commit(f->h, NULL), 0);
		calls++;
	} while (code == 1);
	assert_int_equal(code, 0);
	assert_in_range(calls, 2, 20);

	const struct run_query open = {.open_only = true};
	struct runs runs;

	assert_int_equal(history_runs(f->h, &open, &f->arena, &runs, NULL), 0);
	assert_int_equal(runs.n, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_place_make, test_place_remove)
	const struct CMUnitTest tests[] = {
		TEST(orphans_are_closed_by_what_is_known_of_their_owner),
		TEST(many_orphans_are_closed_a_few_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
