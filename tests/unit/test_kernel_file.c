/* collectors/kernel_file.h and collectors/machine/devices.h: files and devices that are read at
 * every tick. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/machine/devices.h"
#include "collectors/kernel_file.h"
#include "tests/support/test_host.h"

static void counters_never_fall(void **state)
{
	static const struct {
		uint64_t raw;
		double value;
	} table[] = {
		{100, 100},
		{150, 150},
		{149, 150},
		{150, 150},
		{151, 151},
		{76, 151}, /* fell to more than half: 151 stays until the kernel has caught up */
		{160, 160},
		{79, 239}, /* fell to less than half: the kernel started again at 0 */
		{80, 240},
		{0, 240},
		{7, 247},
		{UINT64_MAX, 18446744073709551615.0 + 240},
		{5, 18446744073709551615.0 + 245},
	};
	struct counter c = {0};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_value(counter_follow(&c, table[i].raw), table[i].value);
}

static void rationed_work_is_due_at_once_and_then_in_turn(void **state)
{
	struct ration r = {0};

	assert_true(ration_due(&r, (struct mono){5}, 2));
	assert_false(ration_due(&r, (struct mono){5}, 2));
	assert_false(ration_due(&r, (struct mono){4 + 2 * NS_PER_S}, 2));
	assert_true(ration_due(&r, (struct mono){5 + 2 * NS_PER_S}, 2));
	assert_true(ration_due(&r, (struct mono){500 * NS_PER_S}, 2));
	assert_false(ration_due(&r, (struct mono){501 * NS_PER_S}, 2));
}

static void numbers_are_found_by_whole_keys(void **state)
{
	static const struct {
		const char *text, *key;
		double value;
	} table[] = {
		{"a 1\nab 2\n", "ab", 2},
		{"ab 2\na 1\n", "a", 1},
		{"a: 3 kB", "a", 3},
		{"a=4", "a", 4},
		{"a 18446744073709551615", "a", 18446744073709551615.0},
		{"a 18446744073709551616", "a", NAN},
		{"a max", "a", NAN},
		{"a\n", "a", NAN},
		{"a x\na 5\n", "a", NAN},
		{"", "a", NAN},
		{"b 1\n", "a", NAN},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_value(number_found(SCAN(table[i].text, strlen(table[i].text)), table[i].key),
			table[i].value);
	assert_int_equal(number_from_kib(3), 3072);
	assert_int_equal(number_from_kib(UINT64_MAX / 1024), UINT64_MAX - 1023);
	assert_int_equal(number_from_kib(UINT64_MAX / 1024 + 1), NUMBER_UNKNOWN);
	assert_true(isnan(number_value(NUMBER_UNKNOWN)));
}

static void write_file(int directory, const char *name, const char *text)
{
	AUTO(closep)
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void a_kept_file_is_read_from_the_start_each_time(void **state)
{
	char path[] = "/tmp/rightsize-test-XXXXXX";
	struct test_host t;
	struct kernel_file s;
	struct scan text;
	struct tree *tree = NULL;

	assert_non_null(mkdtemp(path));
	AUTO(closep) int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	write_file(directory, "f", "first");
	test_host_init(&t);
	assert_int_equal(tree_open(&tree, path, NULL), 0);
	kernel_file_open(&s, tree, "f");
	assert_true(s.kept.fd < 0); /* not opened before the first read */
	assert_int_equal(kernel_file_read(&s, &t.host, &text, NULL), 0);
	assert_true(s.kept.fd >= 0);
	assert_memory_equal(text.at, "first", 6);
	write_file(directory, "f", "2nd");
	assert_int_equal(kernel_file_read(&s, &t.host, &text, NULL), 0);
	assert_memory_equal(text.at, "2nd", 4);
	/* A descriptor that no longer works is opened again, such as that of a removed control
	 * group. */
	AUTO(closep) int bad = open(path, O_PATH | O_CLOEXEC);

	assert_true(dup3(bad, s.kept.fd, O_CLOEXEC) >= 0);
	assert_int_equal(kernel_file_read(&s, &t.host, &text, NULL), 0);
	assert_memory_equal(text.at, "2nd", 4);
	kernel_file_close(&s);
	kernel_file_close(&s);
	tree_free(tree);
	test_host_done(&t);
	unlinkat(directory, "f", 0);
	rmdir(path);
}

static void assert_reads(struct kernel_file *s, const struct test_host *t, const char *expected)
{
	struct scan text;

	assert_int_equal(kernel_file_read(s, &t->host, &text, NULL), 0);
	assert_string_equal(text.at, expected);
	assert_int_equal(text.end - text.at, strlen(expected));
}

static void a_text_read_for_all_holds_for_the_tick(void **state)
{
	struct kernel_file_text *kept = xcalloc(1, sizeof *kept);
	struct kernel_file first, second, other;
	AUTO(test_host_done) struct test_host t;
	struct scan text;

	test_host_init(&t);
	t.host.text = kept;
	kernel_file_open(&first, t.proc, "stat");
	kernel_file_open(&second, t.proc, "stat");
	kernel_file_open(&other, t.proc, "loadavg");
	memory_tree_text(t.proc, "stat", "cpu 1");
	memory_tree_text(t.proc, "loadavg", "0.5");
	assert_reads(&second, &t, "cpu 1");
	memory_tree_text(t.proc, "stat", "cpu 22");
	/* The file is read again, because no other reader has shared a read. */
	assert_reads(&second, &t, "cpu 22");
	assert_int_equal(kernel_file_read_shared(&first, &t.host, &text, NULL), 0);
	memory_tree_text(t.proc, "stat", "cpu 3");
	assert_reads(&other, &t, "0.5");
	assert_reads(&second, &t, "cpu 22");
	assert_int_equal(kernel_file_read_shared(&first, &t.host, &text, NULL), 0);
	assert_string_equal(text.at, "cpu 3"); /* a shared read always reads the file */
	assert_reads(&second, &t, "cpu 3");
	memory_tree_text(t.proc, "stat", "cpu 4");
	t.host.now.mono.ns++;
	assert_reads(&second, &t, "cpu 4");
	/* A failed read leaves no text, not even the earlier one. */
	assert_int_equal(kernel_file_read_shared(&first, &t.host, &text, NULL), 0);
	memory_tree_remove(t.proc, "stat");
	assert_int_equal(kernel_file_read_shared(&first, &t.host, &text, NULL), -ENOENT);
	assert_int_equal(kernel_file_read(&second, &t.host, &text, NULL), -ENOENT);
	kernel_file_close(&first);
	kernel_file_close(&second);
	kernel_file_close(&other);
	kernel_file_text_free(kept);
}

static struct slice named(const char *name)
{
	return (struct slice){name, strlen(name)};
}

static void devices_are_remembered_by_name(void **state)
{
	AUTO(devices_done) struct devices d = {0};

	devices_see(&d, named("a"))->counted = true;
	assert_non_null(devices_see(&d, named("b")));
	assert_null(devices_see(&d, named("a"))); /* the device is listed twice in one tick */
	devices_sweep(&d);
	assert_true(d.changed);
	d.changed = false;
	assert_non_null(devices_see(&d, named("b")));
	assert_true(devices_see(&d, named("a"))->counted);
	devices_sweep(&d);
	assert_false(d.changed);
	assert_non_null(devices_see(&d, named("b")));
	devices_sweep(&d);
	assert_true(d.changed);
	assert_int_equal(d.n, 1);
	assert_string_equal(d.device[0].name, "b");
	assert_false(devices_see(&d, named("a"))->counted);
	devices_sweep(&d);
	assert_int_equal(d.n, 1);
}

static void devices_are_bounded_and_their_names_clean(void **state)
{
	struct devices d = {0};
	char name[300];

	for (int i = 0; i < DEVICES_MAX; i++) {
		snprintf(name, sizeof name, "d%d", i);
		assert_non_null(devices_see(&d, named(name)));
	}
	assert_null(devices_see(&d, named("one too many")));
	devices_sweep(&d);
	assert_int_equal(d.n, DEVICES_MAX);
	devices_done(&d);

	memset(name, 'x', sizeof name);
	assert_non_null(devices_see(&d, (struct slice){name, 300}));
	assert_non_null(devices_see(&d,
		(struct slice){name, 299})); /* the name is cut, but differs */
	assert_string_equal(devices_see(&d, named("\xff"))->name, "\xef\xbf\xbd");
	devices_done(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_never_fall),
		cmocka_unit_test(rationed_work_is_due_at_once_and_then_in_turn),
		cmocka_unit_test(numbers_are_found_by_whole_keys),
		cmocka_unit_test(a_kept_file_is_read_from_the_start_each_time),
		cmocka_unit_test(a_text_read_for_all_holds_for_the_tick),
		cmocka_unit_test(devices_are_remembered_by_name),
		cmocka_unit_test(devices_are_bounded_and_their_names_clean),
	};

	return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
