/* The CPUs that a host may use. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/host.h"

/* The simulated machine. */
static struct {
	size_t kernel_cpus, usable;
	int code; /* errno that the simulated kernel sets for any size; 0 = none */
} machine;

/* Takes the place of the C library's function. Like the kernel, it refuses a set without room for
 * all CPUs that the kernel is built for. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	errno = size * 8 < machine.kernel_cpus ? EINVAL : machine.code;
	if (errno)
		return -1;
	memset(set, 0, size);
	for (size_t i = 0; i < machine.usable; i++)
		CPU_SET_S(machine.kernel_cpus - 1 - i, size, set);
	return 0;
}

static void usable_cpus_are_counted_on_machines_of_any_size(void **state)
{
	static const struct {
		size_t kernel_cpus, usable;
		int code;
		unsigned found;
	} table[] = {
		{2, 1, 0, 1},
		{1024, 1024, 0, 1024},
		{1088, 1088, 0, 1088},
		{8192, 8000, 0, 8000},
		{1U << 20, 3, 0, 3},
		{(1U << 20) + 64, 3, 0, 0}, /* beyond the largest set that is tried */
		{2, 1, EPERM, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct host h = {.affinity_cpus = 7};

		machine.kernel_cpus = table[i].kernel_cpus;
		machine.usable = table[i].usable;
		machine.code = table[i].code;
		host_look(&h);
		assert_int_equal(h.affinity_cpus, table[i].found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usable_cpus_are_counted_on_machines_of_any_size),
	};

	return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
