/* collectors/base: text, numbers, cursors, cleaning. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/clock.h"
#include "collectors/base/err.h"
#include "collectors/base/latest.h"
#include "collectors/base/mem.h"
#include "collectors/base/pid_map.h"
#include "collectors/base/scan.h"
#include "collectors/base/thread.h"
#include "collectors/base/utf8.h"
#include "tests/support/test_tree.h"

static void double_text_is_the_shortest_that_reads_back(void **state)
{
	static const struct {
		double v;
		const char *text;
	} table[] = {
		{0, "0"},
		{-0.0, "0"},
		{1, "1"},
		{0.1, "0.1"},
		{-2.5, "-2.5"},
		{1e300, "1e+300"},
		{9007199254740991.0, "9007199254740991"},
		{9007199254740992.0, "9007199254740992"},
		{9007199254740994.0, "9007199254740994"},
		{18446744073709551615.0, "1.8446744073709552e+19"},
		{1.0 / 3, "0.3333333333333333"},
		{NAN, "NaN"},
		{INFINITY, "+Inf"},
		{-INFINITY, "-Inf"},
		{5e-324, "4.94065645841247e-324"},
		{-1, "-1"},
		{-1000, "-1000"},
		{0.05, "0.05"},
		{1234.000001, "1234.000001"},
		{-0.25, "-0.25"},
		{0.0001, "0.0001"},
		{0.00001, "1e-05"},
		{0.000053, "5.3e-05"},
		{-0.000099999, "-9.9999e-05"},
		{0.000030345, "3.0345e-05"},
		{0.00000029, "2.9e-07"},
		{1e-9, "1e-09"},
		{9.99e-10, "9.99e-10"},
		{1e-10, "1e-10"},
		{999999999.5, "999999999.5"},
		{1e9 + 0.5, "1000000000.5"},
		{0.1 + 0.2, "0.30000000000000004"},
		{1795222673.002, "1795222673.002"},
		{100000000.123456789, "100000000.12345679"},
		{0.987654321, "0.987654321"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char text[DOUBLE_TEXT_MAX];

		assert_int_equal(double_text(text, table[i].v), strlen(table[i].text));
		assert_string_equal(text, table[i].text);
	}
}

/* A double cannot represent every integer above 2^53. A large counter must still never decrease
 * when it is printed as a double. */
static void counters_above_2_to_the_53_do_not_fall(void **state)
{
	double last = 0;

	for (unsigned bit = 40; bit < 64; bit++)
		for (uint64_t offset = 0; offset < 64; offset++) {
			uint64_t counter = ((uint64_t)1 << bit) - 32 + offset;
			char text[DOUBLE_TEXT_MAX];
			struct scan s = SCAN(text, double_text(text, (double)counter));
			double back;

			assert_true(scan_double(&s, &back) && scan_end(&s));
			assert_true(back == (double)counter && back >= last);
			last = back;
		}
}

static void double_text_of_any_fraction_reads_back(void **state)
{
	/* `v` has a short text. The doubles next to `v` must not get the same text. */
	for (unsigned i = 1; i < 20000; i++) {
		double v = (double)i / 1000,
		       near[] = {v, nextafter(v, 0), nextafter(v, 1e9), v / 3};

		for (size_t k = 0; k < ARRAY_LEN(near); k++) {
			char text[DOUBLE_TEXT_MAX];
			struct scan s = SCAN(text, double_text(text, near[k]));
			double back;

			assert_true(scan_double(&s, &back) && scan_end(&s));
			assert_true(back == near[k]);
		}
	}
}

/* Times in nanoseconds need at most 15 digits. Their text must be as long as that of printf. */
static void double_text_of_short_times_is_that_of_printf(void **state)
{
	for (unsigned ns = 1; ns < 200000; ns += 7) {
		char text[DOUBLE_TEXT_MAX], expected[DOUBLE_TEXT_MAX];
		double v = (double)ns / 1e9, near = nextafter(v, 0);
		struct scan s = SCAN(text, double_text(text, near));
		double back;

		assert_true(scan_double(&s, &back) && scan_end(&s) && back == near);
		snprintf(expected, sizeof expected, "%.15g", v);
		assert_int_equal(double_text(text, v), strlen(expected));
		if (v < 1e-4)
			assert_string_equal(text, expected);
	}
}

static void buf_drops_what_passes_the_cap(void **state)
{
	AUTO(buf_done) struct buf b = BUF_MAX(5);

	buf_adds(&b, "abc");
	buf_adds(&b, "def");
	assert_true(b.full);
	assert_string_equal(buf_text(&b), "abc");
}

static void scan_stops_where_it_failed(void **state)
{
	struct scan s = SCAN("12 -7 18446744073709551616", 26);
	uint64_t u;
	int64_t i = 0;

	assert_true(scan_u64(&s, &u) && scan_i64(&s, &i));
	assert_int_equal(u, 12);
	assert_int_equal(i, -7);
	const char *place = s.at;

	assert_false(scan_u64(&s, &u));
	assert_ptr_equal(s.at, place);
}

static void scan_lines_and_words(void **state)
{
	struct scan s = SCAN("a b\n\nlast", 9), line;
	struct slice w;

	assert_true(scan_line(&s, &line) && scan_word(&line, &w) && slice_is(w, "a"));
	assert_true(scan_word(&line, &w) && slice_is(w, "b") && !scan_word(&line, &w));
	assert_true(scan_line(&s, &line) && scan_end(&line));
	assert_true(scan_line(&s, &line) && scan_word(&line, &w) && slice_is(w, "last"));
	assert_false(scan_line(&s, &line));
}

static void scan_pieces_and_the_line_that_begins_with_a_word(void **state)
{
	struct scan s = SCAN("cpu,,memory", 11), line;
	struct slice piece;

	assert_true(scan_piece(&s, ',', &piece) && slice_is(piece, "cpu"));
	assert_true(scan_piece(&s, ',', &piece) && slice_is(piece, ""));
	assert_true(scan_piece(&s, ',', &piece) && slice_is(piece, "memory"));
	assert_false(scan_piece(&s, ',', &piece));
	s = SCAN("Name:\ta\nUid:\t5\nUid:\t6", 21);
	assert_true(scan_line_of(&s, "Uid:", &line) && slice_is(scan_rest(&line), "\t5"));
	assert_true(scan_line_of(&s, "Uid:", &line) && slice_is(scan_rest(&line), "\t6"));
	assert_false(scan_line_of(&s, "Uid:", &line));
	assert_true(slice_is(scan_first_line(SCAN(" a b\t \nc", 8)), "a b"));
	assert_true(slice_is(scan_first_line(SCAN("", 0)), ""));
	assert_true(slice_is(slice_trim((struct slice){" \t\r\na b \r\n", 10}), "a b"));
	assert_int_equal(slice_trim((struct slice){" \n", 2}).len, 0);
	assert_int_equal(slice_trim((struct slice){NULL, 0}).len, 0);
}

static void pids_have_numbers_until_they_are_removed(void **state)
{
	struct pid_map m = {0};

	assert_null(pid_map_find(&m, 7));
	for (pid_t pid = 1; pid <= 1000; pid++)
		*pid_map_add(&m, pid) = (uint32_t)pid * 2;
	for (pid_t pid = 1; pid <= 1000; pid += 2)
		pid_map_remove(&m, pid);
	assert_int_equal(m.n, 500);
	for (pid_t pid = 1; pid <= 1000; pid++) {
		const uint32_t *number = pid_map_find(&m, pid);

		assert_int_equal(number ? *number : 0, pid % 2 ? 0 : pid * 2);
	}
	assert_null(pid_map_find(&m, 0));
	pid_map_clear(&m);
	assert_null(pid_map_find(&m, 2));
	assert_int_equal(*pid_map_add(&m, 2), 0);
	pid_map_done(&m);
}

/* All functions treat a slice without data as an empty text. */
static void slice_without_data_is_an_empty_text(void **state)
{
	const struct slice none = {NULL, 0};
	char out[4] = "abc";

	assert_true(slice_is(none, "") && !slice_is(none, "a"));
	assert_true(slice_starts(none, "") && !slice_starts(none, "a"));
	slice_copy(none, out, sizeof out);
	assert_string_equal(out, "");
	struct scan s = scan_slice(none), line;

	assert_true(scan_end(&s));
	assert_false(scan_line(&s, &line));
}

static void utf8_clean_replaces_and_cuts_at_code_points(void **state)
{
	char out[40], other[40];
	char long_text[100];

	utf8_clean("caf\xc3", 4, out, sizeof out);
	assert_string_equal(out, "caf\xef\xbf\xbd");
	utf8_clean("\xed\xa0\x80", 3, out, sizeof out); /* a surrogate: three invalid bytes */
	assert_string_equal(out, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	utf8_clean("a\xc2\x9b"
		   "31m\xc2\x80\xc2\xa0",
		10, out, sizeof out);
	assert_string_equal(out, "a\xef\xbf\xbd"
				 "31m\xef\xbf\xbd\xc2\xa0");
	assert_false(utf8_plain("a\xc2\x9b"
				"31m"));
	assert_false(utf8_plain("a\xc2"));
	assert_true(utf8_plain("a\xc2\xa0"));
	memset(long_text, 'x', sizeof long_text);
	size_t n = utf8_clean(long_text, sizeof long_text, out, sizeof out);

	assert_int_equal(n, sizeof out - 1);
	long_text[99] = 'y';
	utf8_clean(long_text, sizeof long_text, other, sizeof other);
	assert_string_not_equal(out, other);
	assert_int_equal(utf8_clean("0123456789012345678901234567890123456789", 39, out,
				 sizeof out),
		39);
	assert_string_equal(out, "012345678901234567890123456789012345678");
}

static void any_number_of_seconds_makes_a_time(void **state)
{
	static const struct {
		double seconds;
		int64_t ns;
	} table[] = {
		{0, 0},
		{-0.5, -500000000},
		{1795250712.5, 1795250712500000000},
		{9223372035, 9223372035000000000},
		{9223372037, 9223372035854775807},
		{1e300, 9223372035854775807},
		{-1e300, -9223372035854775807},
		{INFINITY, 9223372035854775807},
		{NAN, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		/* For times this far from 1970 two neighbouring doubles differ by up to 1,024
		 * ns. */
		assert_true(llabs(wall_from_seconds(table[i].seconds).ns - table[i].ns) < 1024);
}

static void wall_text_is_rfc3339(void **state)
{
	char text[WALL_TEXT_MAX];

	wall_text(text, (struct wall){1795250712123456789});
	assert_string_equal(text, "2026-11-21T08:45:12.123Z");
	wall_text(text, (struct wall){-1});
	assert_string_equal(text, "1969-12-31T23:59:59.999Z");
}

static void tree_reads_whole_files_or_says_too_big(void **state)
{
	struct tree *t;
	char buf[8];
	struct err e = {0};

	assert_int_equal(tree_open(&t, "/nonexistent/proc", &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent"));
	assert_int_equal(tree_open(&t, "/proc/self", NULL), 0);
	assert_int_equal(tree_read(t, "stat", buf, sizeof buf), -EFBIG);
	assert_int_equal(tree_read(t, "missing", buf, sizeof buf), -ENOENT);
	assert_true(tree_read(t, "comm", (char[64]){0}, 64) > 0);

	struct kept k = tree_keep(t, "comm");
	char comm[64];

	assert_true(k.fd >= 0);
	assert_true(kept_read(&k, t, "comm", comm, sizeof comm) > 0);
	assert_true(kept_read(&k, t, "comm", comm, sizeof comm) > 0);
	kept_done(&k);
	tree_free(t);
}

static void only_a_mount_table_tells_of_changes(void **state)
{
	struct tree *t;

	assert_int_equal(tree_open(&t, "/proc/self", NULL), 0);
	struct kept table = tree_keep(t, "mountinfo"), other = tree_keep(t, "comm");

	assert_true(kept_changed(&table) >= 0); /* another process may mount meanwhile */
	assert_int_equal(kept_changed(&other), -EOPNOTSUPP);
	assert_int_equal(kept_changed(&KEPT_NONE), -EOPNOTSUPP);
	kept_done(&table);
	kept_done(&other);
	tree_free(t);
}

/* Reads lists of short records, of many lengths. The result must not depend on whether the list
 * takes one read or several. */
static void records_are_all_read(void **state)
{
	static const size_t lengths[] = {
		0, 1, 100, 3071, 3072, 3073, 4095, 4096, 5000, 8191, 70000};
	char path[] = "/tmp/rightsize-test-XXXXXX", name[64], text[70000], buf[70001];
	struct tree *t;

	assert_non_null(mkdtemp(path));
	assert_int_equal(tree_open(&t, path, NULL), 0);
	snprintf(name, sizeof name, "%s/f", path);
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = i % 8 == 7 ? '\n' : (char)('0' + i % 10);
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		FILE *f = fopen(name, "we");

		assert_non_null(f);
		assert_int_equal(fwrite(text, 1, lengths[i], f), lengths[i]);
		assert_int_equal(fclose(f), 0);
		assert_int_equal(tree_read_records(t, "f", buf, sizeof buf), lengths[i]);
		assert_memory_equal(buf, text, lengths[i]);
		assert_int_equal(buf[lengths[i]], '\0');
		assert_int_equal(tree_read_records(t, "f", buf, lengths[i]), -EFBIG);
	}
	unlink(name);
	rmdir(path);
	tree_free(t);
}

/* The kernel returns a long list page by page. The list here is /proc/self/maps. It is long because
 * every second page of `map` has other rights and is therefore a mapping of its own. */
static void a_list_longer_than_a_page_is_all_read(void **state)
{
	static char records[1 << 20], whole[1 << 20];
	enum { PAGES = 300 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, PAGES * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct tree *t;

	assert_true(map != MAP_FAILED);
	for (size_t i = 0; i < PAGES; i += 2)
		assert_int_equal(mprotect(map + i * page, page, PROT_NONE), 0);
	assert_int_equal(tree_open(&t, "/proc/self", NULL), 0);
	ssize_t n = tree_read_records(t, "maps", records, sizeof records);

	assert_true(n > 4096);
	assert_int_equal(tree_read(t, "maps", whole, sizeof whole), n);
	munmap(map, PAGES * page);
	tree_free(t);
}

static void assert_hidden(struct tree *t, const char *path)
{
	char buf[64];

	assert_int_equal(tree_read(t, path, buf, sizeof buf), -ENOENT);
	assert_int_equal(tree_read_records(t, path, buf, sizeof buf), -ENOENT);
	assert_int_equal(tree_head(t, path, buf, sizeof buf), -ENOENT);
	assert_true(tree_keep(t, path).fd < 0);
}

/* Process 7 has put a device where a file of its control group is expected. The device must not
 * even be opened. */
static void below_the_root_of_a_process_only_control_groups_are_read(void **state)
{
	static const char *const groups[] = {
		"8/root/sys/fs/cgroup/cgroup.procs", "8/root/sys/fs/cgroup/cpu/cgroup.procs"};
	static char list[1 << 20];
	char path[] = "/tmp/rightsize-test-XXXXXX";
	struct tree *t;

	assert_non_null(mkdtemp(path));
	assert_int_equal(tree_open(&t, path, NULL), 0);
	AUTO(closep) int top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(mkdirat(top, "7", 0700), 0);
	assert_int_equal(mkdirat(top, "7/root", 0700), 0);
	assert_int_equal(mkdirat(top, "8", 0700), 0);
	assert_int_equal(symlinkat("/", top, "8/root"), 0);
	assert_int_equal(symlinkat("/dev/zero", top, "7/root/cgroup.procs"), 0);
	assert_hidden(t, "7/root/cgroup.procs");
	assert_hidden(t, "8/root/proc/self/comm");
	assert_hidden(t, "8/root/nothing");
	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (faccessat(top, groups[i], R_OK, 0) == 0)
			assert_true(tree_read_records(t, groups[i], list, sizeof list) > 0);
	tree_free(t);
	unlinkat(top, "7/root/cgroup.procs", 0);
	unlinkat(top, "7/root", AT_REMOVEDIR);
	unlinkat(top, "7", AT_REMOVEDIR);
	unlinkat(top, "8/root", 0);
	unlinkat(top, "8", AT_REMOVEDIR);
	rmdir(path);
}

static int count_names(void *context, const char *name)
{
	(void)name;
	++*(int *)context;
	return 0;
}

static void memory_tree_lists_each_name_once(void **state)
{
	AUTO(tree_freep) struct tree *t = memory_tree();
	int n = 0;

	memory_tree_text(t, "a/b/c", "1");
	memory_tree_text(t, "a/b/d", "2");
	memory_tree_text(t, "a/e", "3");
	assert_int_equal(tree_list(t, "a", count_names, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(tree_list(t, "x", count_names, &n), -ENOENT);
}

static int released;

static void count_release(struct shared *s)
{
	(void)s;
	released++;
}

static void latest_releases_after_the_last_holder(void **state)
{
	struct latest l = LATEST_INIT;
	struct shared a;

	shared_init(&a, count_release);
	latest_set(&l, &a);
	struct shared *held = latest_get(&l);

	latest_set(&l, NULL);
	assert_int_equal(released, 0);
	shared_drop(held);
	assert_int_equal(released, 1);
	latest_done(&l);
}

static bool refuses_threads;

int __real_pthread_create(pthread_t *ret, const pthread_attr_t *attributes,
	void *(*function)(void *), void *context);
int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attributes,
	void *(*function)(void *), void *context);
int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attributes,
	void *(*function)(void *), void *context)
{
	if (refuses_threads)
		return EAGAIN;
	return __real_pthread_create(ret, attributes, function, context);
}

static void *note_context(void *context)
{
	*(bool *)context = true;
	return NULL;
}

static void a_thread_runs_or_its_name_tells_which_did_not_start(void **state)
{
	struct err e = {0};
	pthread_t thread;
	bool ran = false;

	assert_int_equal(thread_start(&thread, "test", note_context, &ran, &e), 0);
	pthread_join(thread, NULL);
	assert_true(ran);
	refuses_threads = true;
	assert_int_equal(thread_start(&thread, "test", note_context, &ran, &e), -EAGAIN);
	refuses_threads = false;
	assert_non_null(strstr(e.text, "\"test\""));
}

static void a_long_error_shows_that_it_is_cut(void **state)
{
	static const char two_bytes[] = "\xc3\xa9";
	char text[ERR_TEXT_MAX + 8];
	struct err e = {0};

	memset(text, 'x', sizeof text);
	text[sizeof e.text - 1] = '\0';
	err_set(&e, -EINVAL, "%s", text);
	assert_string_equal(e.text, text);
	err_wrap(&e, "outer");
	assert_int_equal(strlen(e.text), sizeof e.text - 1);
	assert_string_equal(e.text + sizeof e.text - 6, "xx...");
	for (size_t i = 0; i + 1 < sizeof text; i += 2)
		memcpy(text + i, two_bytes, 2);
	text[sizeof text - 1] = '\0';
	err_set(&e, -EINVAL, "%s", text);
	assert_string_equal(e.text + strlen(e.text) - 5, "\xc3\xa9...");
	err_set(&e, -EINVAL, "x%s", text);
	assert_string_equal(e.text + strlen(e.text) - 5, "\xc3\xa9...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_runs_or_its_name_tells_which_did_not_start),
		cmocka_unit_test(double_text_is_the_shortest_that_reads_back),
		cmocka_unit_test(counters_above_2_to_the_53_do_not_fall),
		cmocka_unit_test(double_text_of_any_fraction_reads_back),
		cmocka_unit_test(double_text_of_short_times_is_that_of_printf),
		cmocka_unit_test(buf_drops_what_passes_the_cap),
		cmocka_unit_test(scan_stops_where_it_failed),
		cmocka_unit_test(scan_lines_and_words),
		cmocka_unit_test(scan_pieces_and_the_line_that_begins_with_a_word),
		cmocka_unit_test(pids_have_numbers_until_they_are_removed),
		cmocka_unit_test(slice_without_data_is_an_empty_text),
		cmocka_unit_test(utf8_clean_replaces_and_cuts_at_code_points),
		cmocka_unit_test(a_long_error_shows_that_it_is_cut),
		cmocka_unit_test(any_number_of_seconds_makes_a_time),
		cmocka_unit_test(wall_text_is_rfc3339),
		cmocka_unit_test(tree_reads_whole_files_or_says_too_big),
		cmocka_unit_test(only_a_mount_table_tells_of_changes),
		cmocka_unit_test(records_are_all_read),
		cmocka_unit_test(a_list_longer_than_a_page_is_all_read),
		cmocka_unit_test(below_the_root_of_a_process_only_control_groups_are_read),
		cmocka_unit_test(memory_tree_lists_each_name_once),
		cmocka_unit_test(latest_releases_after_the_last_holder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
