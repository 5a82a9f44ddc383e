/* The energy collector. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>

#include "collectors/base/mem.h"
#include "tests/support/test_host.h"

extern const struct collector collector_energy;

#define PACKAGES "rightsize_cpu_energy_joules"
#define ZONE     "rightsize_energy_zone_joules"

static void put_zone(struct test_host *t, const char *folder, const char *name, const char *energy)
{
	char path[128];

	snprintf(path, sizeof path, "/sys/class/powercap/%s/name", folder);
	test_host_file(t, path, name);
	snprintf(path, sizeof path, "/sys/class/powercap/%s/max_energy_range_uj", folder);
	test_host_file(t, path, "262143328850\n");
	snprintf(path, sizeof path, "/sys/class/powercap/%s/energy_uj", folder);
	test_host_file(t, path, energy);
}

static void put_machine(struct test_host *t)
{
	test_host_init(t);
	put_zone(t, "intel-rapl:0", "package-0\n", "1000000\n");
	put_zone(t, "intel-rapl:0:0", "dram\n", "500000\n");
	put_zone(t, "intel-rapl:1", "package-1\n", "262143000000\n");
	put_zone(t, "intel-rapl:2", "psys\n", "5\n");
	put_zone(t, "intel-rapl-mmio:0", "package-0\n", "1000000\n");
	put_zone(t, "intel-rapl:0:\xff", "core\n", "1\n");
	test_host_file(t, "/sys/class/powercap/dtpm/name", "not a zone of this kind\n");
}

static void packages_are_summed_and_what_is_within_them_is_not(void **state)
{
	AUTO(test_host_done) struct test_host t;
	AUTO(test_run_done) struct test_run r;

	put_machine(&t);
	assert_int_equal(test_run_start(&r, &collector_energy, &t.host), 0);
	assert_int_equal(test_run_collect(&r, &t.host), 0);
	assert_value(test_run_value(&r, PACKAGES, ""), 0);
	put_zone(&t, "intel-rapl:0", "package-0\n", "3500000\n");
	put_zone(&t, "intel-rapl:0:0", "dram\n", "900000\n");
	/* The counter wraps at 262143.32885 J. */
	put_zone(&t, "intel-rapl:1", "package-1\n", "1000000\n");
	assert_int_equal(test_run_collect(&r, &t.host), 0);
	assert_null(block_fault(r.block));
	assert_value(test_run_value(&r, ZONE, "intel-rapl:0|package-0"), 2.5);
	assert_value(test_run_value(&r, ZONE, "intel-rapl:0:0|dram"), 0.4);
	assert_value(test_run_value(&r, ZONE, "intel-rapl:1|package-1"), 1.32885);
	assert_value(test_run_value(&r, PACKAGES, ""), 3.82885);
	assert_int_equal(test_run_points(&r, ZONE), 4);
}

static void a_machine_without_readable_counters_has_no_such_collector(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	struct test_run r;

	assert_int_equal(test_run_start(&r, &collector_energy, &t.host), -ENOENT);
	test_run_done(&r);
	put_zone(&t, "intel-rapl:0", "package-0\n", "1\n");
	memory_tree_refuse(t.sys, "class/powercap/intel-rapl:0/energy_uj", -EACCES);
	assert_int_equal(test_run_start(&r, &collector_energy, &t.host), -ENOENT);
	test_run_done(&r);
}

static void without_one_of_the_packages_there_is_no_sum(void **state)
{
	AUTO(test_host_done) struct test_host t;
	AUTO(test_run_done) struct test_run r;

	put_machine(&t);
	assert_int_equal(test_run_start(&r, &collector_energy, &t.host), 0);
	memory_tree_refuse(t.sys, "class/powercap/intel-rapl:1/energy_uj", -ENODATA);
	assert_int_equal(test_run_collect(&r, &t.host), 0);
	assert_true(isnan(test_run_value(&r, PACKAGES, "")));
	assert_value(test_run_value(&r, ZONE, "intel-rapl:0|package-0"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packages_are_summed_and_what_is_within_them_is_not),
		cmocka_unit_test(a_machine_without_readable_counters_has_no_such_collector),
		cmocka_unit_test(without_one_of_the_packages_there_is_no_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
