/* exporter/core/memory_trim.c: the process uses less memory afterwards, and everything still
 * works. */
#include "tests/unit/test_main.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "exporter/core/memory_trim.h"

/* Returns the number of this process's mapped and resident file pages. */
static uint64_t file_pages(void)
{
	char text[128];
	AUTO(closep) int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = pread(fd, text, sizeof text, 0);
	struct scan s = SCAN(text, n > 0 ? n : 0);
	uint64_t size, resident, shared = 0;

	assert_true(scan_u64(&s, &size) && scan_u64(&s, &resident) && scan_u64(&s, &shared));
	return shared;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void code_is_given_back_and_runs_again(void **state)
{
	int numbers[] = {3, 1, 2};

	uint64_t before = file_pages();

	memory_trim_start();
	uint64_t after = file_pages();

	assert_true(after < before);
	qsort(numbers, 3, sizeof *numbers, compare);
	assert_int_equal(numbers[0], 1);
	assert_int_equal(numbers[2], 3);
	memory_trim_start(); /* a second call does no harm */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_given_back_and_runs_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
