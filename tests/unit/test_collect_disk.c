/* The disk collector. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "tests/support/test_host.h"

extern const struct collector collector_disk;

#define READ    "rightsize_disk_read_bytes"
#define WRITTEN "rightsize_disk_written_bytes"

static void a_container_host_counts_physical_disks_only(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r;

	test_host_fixture(&t, "node");
	assert_int_equal(test_run_start(&r, &collector_disk, &t.host), 0);
	assert_int_equal(test_run_collect(&r, &t.host), 0);
	/* sda has sectors of 4096 bytes, but the kernel always counts in units of 512 bytes. */
	assert_value(test_run_value(&r, READ, "sda"), 800000.0 * 512);
	assert_value(test_run_value(&r, WRITTEN, "sda"), 1600000.0 * 512);
	assert_value(test_run_value(&r, "rightsize_disk_reads", "sda"), 10000);
	assert_value(test_run_value(&r, "rightsize_disk_writes", "sda"), 20000);
	assert_value(test_run_value(&r, "rightsize_disk_read_seconds", "sda"), 5);
	assert_value(test_run_value(&r, "rightsize_disk_write_seconds", "sda"), 9);
	assert_value(test_run_value(&r, "rightsize_disk_io_seconds", "sda"), 7);
	assert_value(test_run_value(&r, READ, "nvme0n1"), 4000000.0 * 512);
	assert_value(test_run_value(&r, READ, "nvme0n10"), 56.0 * 512);
	assert_value(test_run_value(&r, READ, "nvme1n1"),
		24000.0 * 512); /* nvme1c0n1, a path of this disk, is not counted */
	assert_value(test_run_value(&r, READ, "nbd0"), 88.0 * 512);
	/* Partitions, dm, md, loop and zram are not counted. */
	assert_int_equal(test_run_points(&r, READ), 5);
	assert_value(block_sum(r.block, 0), (800000.0 + 4000000 + 56 + 24000 + 88) * 512);
	assert_null(block_fault(r.block));
}

static void add_line(char *text, size_t size, const char *name)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, " 8 0 %s 1 0 2 0 3 0 4 0 0 0 0\n", name);
}

/* Without sysfs the names in /proc/diskstats decide what is a disk. Both lists of names are
 * separated by blanks. */
static void without_sysfs_names_decide(void **state)
{
	static const struct {
		const char *names, *reported;
	} table[] = {
		{"sda sda1 sda2 sdb", "sda sdb"},
		{"sda1 sda", "sda"},
		{"vda vda1 vda15 vdaa vdaa1", "vda vdaa"},
		{"nvme0n1 nvme0n1p1 nvme0n10 nvme0n10p2", "nvme0n1 nvme0n10"},
		{"mmcblk0 mmcblk0p1 mmcblk0boot0", "mmcblk0 mmcblk0boot0"},
		{"xvda1", "xvda1"}, /* in some clouds a whole disk has the name of a partition */
		{"loop0 ram0 zram1 dm-3 md127 md0 bcache0 drbd1 zd16", ""},
		{"mdx loop ramdisk", "mdx loop ramdisk"},
		{"cciss/c0d0 cciss/c0d0p1", "cciss/c0d0"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(test_host_done) struct test_host t;
		AUTO(test_run_done) struct test_run r;
		char text[2048] = "", names[256];

		snprintf(names, sizeof names, "%s ", table[i].names);
		for (char *name = names, *blank; (blank = strchr(name, ' ')); name = blank + 1) {
			*blank = '\0';
			add_line(text, sizeof text, name);
		}
		test_host_init(&t);
		test_host_file(&t, "/proc/diskstats", text);
		assert_int_equal(test_run_start(&r, &collector_disk, &t.host), 0);
		assert_int_equal(test_run_collect(&r, &t.host), 0);

		size_t reported = 0;

		snprintf(names, sizeof names, "%s ", table[i].reported);
		for (char *name = names, *blank; (blank = strchr(name, ' ')); name = blank + 1) {
			*blank = '\0';
			if (!*name)
				continue;
			reported++;
			assert_value(test_run_value(&r, READ, name), 1024);
		}
		assert_int_equal(test_run_points(&r, READ), reported);
	}
}

static double read_after(struct test_run *r, struct test_host *t, const char *diskstats)
{
	test_host_advance(t, 1);
	test_host_file(t, "/proc/diskstats", diskstats);
	assert_int_equal(test_run_collect(r, &t->host), 0);
	assert_null(block_fault(r->block));
	return test_run_value(r, READ, "sda");
}

static void a_disk_that_was_replaced_counts_on(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r = test_run_started(&collector_disk, &t.host);

	assert_value(read_after(&r, &t, "8 0 sda 1 0 1000 0 3 0 4 0 0 0 0\n"), 1000 * 512);
	assert_value(read_after(&r, &t, "8 0 sda 1 0 1010 0 3 0 4 0 0 0 0\n"), 1010 * 512);
	assert_value(read_after(&r, &t, "8 0 sda 1 0 1005 0 3 0 4 0 0 0 0\n"), 1010 * 512);
	assert_value(read_after(&r, &t, "8 0 sda 1 0 20 0 3 0 4 0 0 0 0\n"), 1030 * 512);
	assert_value(read_after(&r, &t, "8 0 sdb 1 0 20 0 3 0 4 0 0 0 0\n"), NAN);
	assert_int_equal(test_run_points(&r, READ), 1);
}

static void a_disk_is_looked_at_again_when_one_comes(void **state)
{
	static const char line[] =
		"8 0 sda 1 0 2 0 3 0 4 0 0 0 0\n8 1 sda1 1 0 2 0 3 0 4 0 0 0 0\n";
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r = test_run_started(&collector_disk, &t.host);

	read_after(&r, &t, "8 1 sda1 1 0 2 0 3 0 4 0 0 0 0\n");
	/* No sda is listed, so sda1 is taken for a whole disk. */
	assert_value(test_run_value(&r, READ, "sda1"), 1024);
	read_after(&r, &t, line);
	assert_value(test_run_value(&r, READ, "sda1"), NAN);
	test_host_link(&t, "/sys/class/block/sda1", "../../devices/pci0/ata1/block/sda1");
	read_after(&r, &t, line);
	assert_value(test_run_value(&r, READ, "sda1"), NAN);
	test_host_advance(&t, 60);
	read_after(&r, &t, line);
	assert_value(test_run_value(&r, READ, "sda1"), 1024);
}

static void old_new_and_hostile_lines(void **state)
{
	static const struct {
		const char *text;
		size_t points;
		double sda;
	} table[] = {
		{"", 0, NAN},
		{"8 0 sda 1 0 2 0 3 0 4 0 0 7000 9", 1, 1024},
		{"8 0 sda 1 0 2 0 3 0 4 0 0 7000 9 1 2 3 4 5 6 7 8 9 x", 1, 1024},
		{"8 1 sda1 1 2 3 4\n", 0, NAN}, /* the line of a partition in Linux before 2.6.25 */
		{"8 0 sda 1 0 2 0 3 0 4 0 0\n", 0, NAN},
		{"8 0 sda 1 0 -2 0 3 0 4 0 0 7000 9\n", 0, NAN},
		{"8 0 sda 1 0 99999999999999999999 0 3 0 4 0 0 7000 9\n", 0, NAN},
		{"8 0 sda 1 0 2 0 3 0 4 0 0 7000 9\n8 0 sda 1 0 9 0 3 0 4 0 0 7000 9\n", 1, 1024},
		{"8 0 \xff\xfe 1 0 2 0 3 0 4 0 0 7000 9\n8 0 \xfe\xff 1 0 2 0 3 0 4 0 0 7 9\n", 1,
			NAN},
		{"8 0 ../../\"\\ 1 0 2 0 3 0 4 0 0 7000 9\n", 1, NAN},
		{"8 0 sda 1 0 18446744073709551615 0 3 0 4 0 0 7000 9\n", 1,
			18446744073709551615.0 * 512},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(test_host_done) struct test_host t = test_host_made();
		AUTO(test_run_done) struct test_run r = test_run_started(&collector_disk, &t.host);

		assert_value(read_after(&r, &t, table[i].text), table[i].sda);
		assert_int_equal(test_run_points(&r, READ), table[i].points);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_container_host_counts_physical_disks_only),
		cmocka_unit_test(without_sysfs_names_decide),
		cmocka_unit_test(a_disk_that_was_replaced_counts_on),
		cmocka_unit_test(a_disk_is_looked_at_again_when_one_comes),
		cmocka_unit_test(old_new_and_hostile_lines),
	};

	return cmocka_run_group_tests_name("collect_disk", tests, NULL, NULL);
}
