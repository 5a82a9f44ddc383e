/* exporter/history/outcome.c: how a run ended. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <signal.h>

#include "collectors/base/mem.h"
#include "exporter/history/outcome.h"

static void memory_kills_are_told_from_failures(void **state)
{
	static const struct {
		const char *name;
		double exit_code, exit_signal;
		bool killed;
		double own_kills, shared_kills;
		enum outcome outcome;
	} cases[] = {
		{"success", 0, NAN, false, NAN, NAN, OUTCOME_SUCCEEDED},
		{"success after a child was killed", 0, NAN, true, 1, 1, OUTCOME_SUCCEEDED},
		{"failure", 3, NAN, false, 0, 0, OUTCOME_FAILED},
		{"failure, nothing known of memory", 3, NAN, true, NAN, NAN, OUTCOME_FAILED},
		{"killed by a person", NAN, SIGKILL, true, 0, 0, OUTCOME_FAILED},
		{"killed in its own group", NAN, SIGKILL, true, 1, 1, OUTCOME_OOM_KILLED},
		{"gave up because a child was killed", 1, NAN, false, 2, 2, OUTCOME_OOM_KILLED},
		{"killed in a shared group", NAN, SIGKILL, true, NAN, 1, OUTCOME_OOM_KILLED},
		{"a shell's word for it", 137, NAN, false, NAN, 1, OUTCOME_OOM_KILLED},
		{"a worker was killed in a shared group", 1, NAN, true, NAN, 1, OUTCOME_OOM_KILLED},
		{"failed while others were killed", 1, NAN, false, NAN, 5, OUTCOME_FAILED},
		{"ended by another signal while others were killed", NAN, SIGTERM, false, NAN, 5,
			OUTCOME_FAILED},
		{"nobody knows", NAN, NAN, false, NAN, NAN, OUTCOME_UNKNOWN},
		{"nobody knows, but its group had a kill", NAN, NAN, false, 1, 1,
			OUTCOME_OOM_KILLED},
		{"nobody knows, others were killed", NAN, NAN, false, NAN, 1, OUTCOME_UNKNOWN},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ending_facts f = {cases[i].exit_code, cases[i].exit_signal, cases[i].killed};
		struct account_note note = {
			.oom_kills = cases[i].own_kills,
			.shared_oom_kills = cases[i].shared_kills,
		};

		if (outcome_of(&f, &note) != cases[i].outcome)
			fail_msg("%s: %s", cases[i].name, run_outcome_name(outcome_of(&f, &note)));
	}
}

static void status_that_the_kernel_told_is_taken_when_nobody_waited(void **state)
{
	struct account_note note = {.cpu_source = "taskstats",
		.cpu_missed_seconds = 0.5,
		.oom_kills = NAN,
		.shared_oom_kills = NAN,
		.status_known = true,
		.status = 3 << 8,
		.gpu_manufacturer = "NVIDIA",
		.gpu_model = ""};
	struct run_finish f = {.exit_code = NAN, .exit_signal = NAN};

	outcome_note(&f, &note);
	assert_int_equal(f.outcome, OUTCOME_FAILED);
	assert_double_equal(f.exit_code, 3, 0);
	assert_true(isnan(f.exit_signal));
	assert_string_equal(f.cpu_source, "taskstats");
	assert_double_equal(f.cpu_missed_seconds, 0.5, 0);
	assert_string_equal(f.gpu_manufacturer, "NVIDIA");
	assert_null(f.gpu_model);

	note.status = SIGTERM;
	f = (struct run_finish){.exit_code = NAN, .exit_signal = NAN};
	outcome_note(&f, &note);
	assert_double_equal(f.exit_signal, SIGTERM, 0);

	/* A run without a memory peak has no source of it. */
	f = (struct run_finish){.exit_code = 0, .exit_signal = NAN, .memory_source = "samples"};
	outcome_note(&f, &note);
	assert_null(f.memory_source);

	/* A status from the process that waited has priority over the status in `note`. */
	f = (struct run_finish){.exit_code = 0, .exit_signal = NAN};
	outcome_note(&f, &note);
	assert_int_equal(f.outcome, OUTCOME_SUCCEEDED);
	assert_true(isnan(f.exit_signal));
}

static void who_tells_a_failure_need_not_know_of_a_memory_kill(void **state)
{
	static const struct {
		enum outcome told;
		double exit_code, own_kills, shared_kills;
		enum outcome outcome;
	} cases[] = {
		{OUTCOME_FAILED, 1, 0, 0, OUTCOME_FAILED},
		{OUTCOME_FAILED, 1, NAN, NAN, OUTCOME_FAILED},
		{OUTCOME_FAILED, 1, 1, 1, OUTCOME_OOM_KILLED},
		{OUTCOME_FAILED, NAN, 1, 1, OUTCOME_OOM_KILLED},
		{OUTCOME_FAILED, 137, NAN, 1, OUTCOME_OOM_KILLED},
		{OUTCOME_FAILED, 1, NAN, 1, OUTCOME_FAILED},
		{OUTCOME_SUCCEEDED, NAN, 1, 1, OUTCOME_SUCCEEDED},
		{OUTCOME_INTERRUPTED, NAN, 1, 1, OUTCOME_INTERRUPTED},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct account_note note = {
			.oom_kills = cases[i].own_kills,
			.shared_oom_kills = cases[i].shared_kills,
		};

		if (outcome_as_reported(cases[i].told, cases[i].exit_code, &note) !=
			cases[i].outcome)
			fail_msg("case %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_kills_are_told_from_failures),
		cmocka_unit_test(who_tells_a_failure_need_not_know_of_a_memory_kill),
		cmocka_unit_test(status_that_the_kernel_told_is_taken_when_nobody_waited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
