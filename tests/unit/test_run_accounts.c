/* exporter/wrapper/run_accounts.c: the message to a user whose run may have used more CPU time than
 * was counted. */
#include "tests/unit/test_main.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/wrapper/run_accounts.h"

static void what_misses_nobody_needs_no_advice(void **state)
{
	static const struct account_note exact[] = {
		{.cpu_source = "cgroup"},
		{.cpu_source = "taskstats", .cpu_seconds = 1, .cpu_missed_seconds = 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(exact); i++)
		for (int k = 0; k < 4; k++)
			assert_null(run_accounts_advice(&exact[i], k & 1, k & 2));
}

static void advice_is_for_who_asks(void **state)
{
	static const struct account_note sources[] = {
		{.cpu_source = "task-clock"},
		{.cpu_source = "rusage"},
		{.cpu_source = "proc"},
	};
	static const struct {
		bool under_systemd, root;
		const char *has, *has_not;
	} cases[] = {
		{true, false, "systemd-run --user --scope -p Delegate=yes ", "CAP_NET_ADMIN"},
		{true, true, "systemd-run --scope -p Delegate=yes ", "--user"},
		{false, false, "CAP_NET_ADMIN", "systemd"},
		{false, true, "CAP_NET_ADMIN", "systemd"},
	};

	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
			const char *advice = run_accounts_advice(&sources[i],
				cases[k].under_systemd, cases[k].root);

			assert_non_null(advice);
			assert_non_null(strstr(advice, cases[k].has));
			assert_null(strstr(advice, cases[k].has_not));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_misses_nobody_needs_no_advice),
		cmocka_unit_test(advice_is_for_who_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
