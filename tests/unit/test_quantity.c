/* collectors/base/quantity.c: sizes and numbers of CPUs. The meaning of a unit depends on the
 * program that wrote it. */
#include "tests/unit/test_main.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"

#define NO (-1.0)
#define KI 1024.0
#define MI (KI * KI)
#define GI (MI * KI)

static double bytes_of(const char *text, enum quantity_writer writer, double unit)
{
	double ret = NO;
	bool ok = quantity_bytes((struct slice){text, strlen(text)}, writer, unit, &ret);

	assert_true(ok == (ret != NO));
	return ret;
}

static void a_suffix_means_what_its_writer_means(void **state)
{
	static const struct {
		const char *text;
		double people, slurm, pbs;
	} table[] = {
		{"0", 0, 0, 0},
		{"4096", 4096, 4096 * MI, 4096},
		{"1.5", 2, 1.5 * MI, 2},
		{"1e3", 1000, 1000 * MI, 1000},
		{"7b", NO, NO, 7},
		{"7B", 7, NO, 7},
		{"2k", 2000, 2 * KI, 2 * KI},
		{"2K", 2000, 2 * KI, 2 * KI},
		{"4096M", 4096e6, 4096 * MI, 4096 * MI},
		{"8G", 8e9, 8 * GI, 8 * GI},
		{"1T", 1e12, KI * GI, KI * GI},
		{"1P", 1e15, MI * GI, MI * GI},
		{"1E", 1e18, NO, NO},
		{"8GB", 8e9, NO, 8 * GI},
		{"8gb", 8e9, NO, 8 * GI},
		{"8 GB", 8e9, NO, 8 * GI},
		{"3kb", 3000, NO, 3 * KI},
		{"3mb", 3e6, NO, 3 * MI},
		{"1tb", 1e12, NO, KI * GI},
		{"4Gi", 4 * GI, NO, NO},
		{"4gib", 4 * GI, NO, NO},
		{"0.5Gi", GI / 2, NO, NO},
		{"1Ki", KI, NO, NO},
		{"1MiB", MI, NO, NO},
		{"1Ei", GI * GI, NO, NO},
		{"1E2M", 100e6, 100 * MI, 100 * MI},
		{"4g", 4e9, 4 * GI, 4 * GI},
		{"4t", 4e12, 4 * KI * GI, 4 * KI * GI},
		{"4e", NO, NO, NO},
		/* Kubernetes means 1/1000 by "m", other programs mean 2^20. */
		{"512m", NO, 512 * MI, 512 * MI},
		{"128974848000m", 128974848, 128974848000 * MI, 128974848000 * MI},
		{"1048575001m", MI, 1048575001 * MI, 1048575001 * MI},
		{"1048575000m", NO, 1048575000 * MI, 1048575000 * MI},
		{"", NO, NO, NO},
		{"G", NO, NO, NO},
		{".", NO, NO, NO},
		{"-1", NO, NO, NO},
		{"+1", NO, NO, NO},
		{"1..5", NO, NO, NO},
		{"1GG", NO, NO, NO},
		{"1Gib8", NO, NO, NO},
		{"1GiBx", NO, NO, NO},
		{"1 G i", NO, NO, NO},
		{"0x10", NO, NO, NO},
		{"1,5G", NO, NO, NO},
		{"nan", NO, NO, NO},
		{"inf", NO, NO, NO},
		{"8XB", NO, NO, NO},
		{"1e999", NO, NO, NO},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const char *text = table[i].text;

		if (bytes_of(text, QUANTITY_OF_PEOPLE, 0) != table[i].people ||
			bytes_of(text, QUANTITY_OF_SLURM, 0) != table[i].slurm ||
			bytes_of(text, QUANTITY_OF_PBS, 0) != table[i].pbs)
			fail_msg("%s: %.0f, %.0f, %.0f", text,
				bytes_of(text, QUANTITY_OF_PEOPLE, 0),
				bytes_of(text, QUANTITY_OF_SLURM, 0),
				bytes_of(text, QUANTITY_OF_PBS, 0));
	}
}

static void a_unit_is_of_numbers_without_a_suffix(void **state)
{
	assert_double_equal(bytes_of("3", QUANTITY_OF_PEOPLE, MI), 3 * MI, 0);
	assert_double_equal(bytes_of("3k", QUANTITY_OF_PEOPLE, MI), 3000, 0);
}

static void a_text_ends_where_its_slice_ends(void **state)
{
	double ret = NO;

	assert_true(quantity_bytes((struct slice){"12Gi", 3}, QUANTITY_OF_PEOPLE, 0, &ret));
	assert_double_equal(ret, 12e9, 0);
	assert_false(quantity_bytes((struct slice){"12\0", 3}, QUANTITY_OF_PEOPLE, 0, &ret));
	assert_false(quantity_bytes((struct slice){NULL, 0}, QUANTITY_OF_PEOPLE, 0, &ret));
}

static void cores_are_whole_parts_or_thousandths(void **state)
{
	static const struct {
		const char *text;
		double cores;
	} table[] = {
		{"2", 2},
		{"1.5", 1.5},
		{"500m", 0.5},
		{"1500m", 1.5},
		{"0", 0},
		{".25", 0.25},
		{"100u", 1e-4},
		{"1234500000n", 1.2345},
		{"2k", 2000},
		{"500M", NO},
		{"2G", NO},
		{"500Mi", NO},
		{"2 cores", NO},
		{"m", NO},
		{"-1", NO},
		{"", NO},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		double ret = NO;
		bool ok =
			quantity_cores((struct slice){table[i].text, strlen(table[i].text)}, &ret);

		if (ok != (table[i].cores != NO) || ret != table[i].cores)
			fail_msg("%s: %g", table[i].text, ret);
	}
}

static void sizes_that_changed_their_meaning_are_told(void **state)
{
	static const struct {
		const char *text;
		double before; /* NO = the size did not change */
	} table[] = {{"2G", 2 * GI}, {"1.5T", 1.5 * KI * GI}, {"3K", 3 * KI}, {"3M", 3 * MI},
		{"2Gi", NO}, {"2GB", NO}, {"2", NO}, {"2k", NO}, {"2g", NO}, {"G", NO}, {"", NO}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		double ret = NO;
		bool told =
			quantity_was_binary((struct slice){table[i].text, strlen(table[i].text)},
				&ret);

		if (told != (table[i].before != NO) || ret != table[i].before)
			fail_msg("%s: %.0f", table[i].text, ret);
	}
}

/* Each cell of the manual's table agrees with the function. */
static void the_manual_tells_what_holds(void **state)
{
	struct buf out = BUF_MAX(1 << 16);

	quantity_markdown(&out);
	assert_non_null(strstr(buf_text(&out),
		"| none | bytes, or the unit that is named | 2^20 | 1 |\n| `B` | 1 | | 1 |\n"
		"| `K` | 10^3 | 2^10 | 2^10 |\n| `M` | 10^6 | 2^20 | 2^20 |\n"
		"| `G` | 10^9 | 2^30 | 2^30 |\n"));
	assert_non_null(strstr(buf_text(&out), "| `GB` | 10^9 | | 2^30 |\n"));
	assert_non_null(strstr(buf_text(&out), "| `Gi` | 2^30 | | |\n"));
	assert_non_null(strstr(buf_text(&out),
		"| `m` | 1/1000; of bytes only from 1 MiB on | | |\n"));
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_suffix_means_what_its_writer_means),
		cmocka_unit_test(a_unit_is_of_numbers_without_a_suffix),
		cmocka_unit_test(a_text_ends_where_its_slice_ends),
		cmocka_unit_test(cores_are_whole_parts_or_thousandths),
		cmocka_unit_test(sizes_that_changed_their_meaning_are_told),
		cmocka_unit_test(the_manual_tells_what_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
