/* Tests the filesystem collector, and how it reads the mount table. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "collectors/base/mem.h"
#include "collectors/mounts.h"
#include "tests/support/test_host.h"

extern const struct collector collector_filesystem;

#define SIZE    "rightsize_filesystem_size_bytes"
#define SKIPPED "rightsize_filesystem_skipped"
#define TOTAL   "rightsize_disk_space_size_bytes"
#define GB      1000000000ull

/* Adds a file system of `gb` GB: a quarter is free, a fifth is available. */
static void add_space(struct test_host *t, const char *point, unsigned gb, unsigned major,
	unsigned minor)
{
	struct tree_space space = {
		.size = gb * GB,
		.free = gb * GB / 4,
		.available = gb * GB / 5,
		.files = 1000,
		.files_free = 300,
	};

	memory_tree_space(t->root, point + 1, space, makedev(major, minor));
}

static void open_table(struct test_host *t, struct test_run *r, const char *mountinfo)
{
	test_host_init(t);
	test_host_file(t, "/proc/self/mountinfo", mountinfo);
	assert_int_equal(test_run_start(r, &collector_filesystem, &t->host), 0);
}

static void collect(struct test_run *r, struct test_host *t)
{
	assert_int_equal(test_run_collect(r, &t->host), 0);
	assert_null(block_fault(r->block));
}

static void done(struct test_run *r, struct test_host *t)
{
	test_run_done(r);
	test_host_done(t);
}

static void a_container_host_counts_each_disk_once(void **state)
{
	struct test_host t;
	struct test_run r;

	test_host_init(&t);
	test_host_fixture(&t, "node");
	add_space(&t, "/", 100, 253, 0);
	add_space(&t, "/boot", 1, 8, 2);
	add_space(&t, "/var/lib/docker", 800, 259, 1);
	add_space(&t, "/srv/db", 800, 259, 1);
	add_space(&t, "/srv/my data", 100, 253, 0);
	add_space(&t, "/var/lib/docker/overlay2/x/merged", 800, 0, 50);
	add_space(&t, "/var/lib/docker/overlay2/y/merged", 800, 0, 51);
	/* The collector must not read the following file systems. Their file server may be dead,
	 * and then reading them hangs. */
	add_space(&t, "/mnt/nfs", 7777, 0, 60);
	add_space(&t, "/mnt/nfs/below", 7777, 8, 17);
	add_space(&t, "/mnt/ssh", 7777, 0, 61);
	add_space(&t, "/mnt/other", 7777, 0, 62);
	assert_int_equal(test_run_start(&r, &collector_filesystem, &t.host), 0);
	collect(&r, &t);
	assert_value(test_run_value(&r, SIZE, "/dev/mapper/node-root|ext4|/"), 100.0 * GB);
	assert_value(test_run_value(&r, SIZE, "/dev/sda2|ext2|/boot"), GB);
	assert_value(test_run_value(&r, SIZE, "/dev/nvme0n1p1|xfs|/srv/db"), 800.0 * GB);
	assert_int_equal(test_run_points(&r, SIZE), 3);
	assert_value(test_run_value(&r, "rightsize_filesystem_free_bytes", "/dev/sda2|ext2|/boot"),
		0.25 * GB);
	assert_value(test_run_value(&r, "rightsize_filesystem_available_bytes",
			     "/dev/sda2|ext2|/boot"),
		0.2 * GB);
	assert_value(test_run_value(&r, "rightsize_filesystem_files", "/dev/sda2|ext2|/boot"),
		1000);
	assert_value(test_run_value(&r, "rightsize_filesystem_files_free", "/dev/sda2|ext2|/boot"),
		300);
	assert_value(test_run_value(&r, TOTAL, ""), 901.0 * GB);
	assert_value(test_run_value(&r, "rightsize_disk_space_used_bytes", ""), 901.0 * GB * 3 / 4);
	assert_value(test_run_value(&r, "rightsize_disk_space_available_bytes", ""),
		901.0 * GB / 5);
	/* Four file systems are skipped as "network": autofs, nfs4, sshfs, and one of an unknown
	 * type. One is skipped as "covered": the ext4 below nfs. */
	assert_value(test_run_value(&r, SKIPPED, "network"), 4);
	assert_value(test_run_value(&r, SKIPPED, "covered"), 1);
	assert_value(test_run_value(&r, SKIPPED, "unreadable"), 0);
	done(&r, &t);
}

static void a_pod_names_its_disk_by_the_overlay(void **state)
{
	struct test_host t;
	struct test_run r;

	test_host_init(&t);
	test_host_fixture(&t, "pod");
	add_space(&t, "/", 80, 0, 120);
	add_space(&t, "/etc/hosts", 80, 259, 1);
	add_space(&t, "/etc/resolv.conf", 80, 259, 1);
	add_space(&t, "/dev/termination-log", 80, 259, 1);
	add_space(&t, "/data", 20, 259, 9);
	assert_int_equal(test_run_start(&r, &collector_filesystem, &t.host), 0);
	collect(&r, &t);
	assert_value(test_run_value(&r, SIZE, "overlay|overlay|/"), 80.0 * GB);
	assert_value(test_run_value(&r, SIZE, "/dev/nvme1n1|ext4|/data"), 20.0 * GB);
	assert_int_equal(test_run_points(&r, SIZE), 2);
	assert_value(test_run_value(&r, TOTAL, ""), 100.0 * GB);
	done(&r, &t);
}

static void a_disk_is_not_named_by_a_file_in_etc(void **state)
{
	struct test_host t;
	struct test_run r;

	open_table(&t, &r,
		"1 0 8:1 /hosts /etc/hosts rw - ext4 a rw\n"
		"2 0 8:1 /vol /scratch/volume rw - ext4 a rw\n");
	add_space(&t, "/etc/hosts", 80, 8, 1);
	add_space(&t, "/scratch/volume", 80, 8, 1);
	collect(&r, &t);
	assert_value(test_run_value(&r, SIZE, "a|ext4|/scratch/volume"), 80.0 * GB);
	assert_int_equal(test_run_points(&r, SIZE), 1);
	done(&r, &t);
}

static void an_overlay_on_another_disk_counts_too(void **state)
{
	struct test_host t;
	struct test_run r;

	open_table(&t, &r,
		"1 0 0:9 / / rw - overlay overlay rw\n2 1 8:1 / /data rw - xfs /dev/sda1 rw\n");
	add_space(&t, "/", 80, 0, 9);
	add_space(&t, "/data", 81, 8, 1);
	collect(&r, &t);
	assert_value(test_run_value(&r, TOTAL, ""), 161.0 * GB);
	done(&r, &t);
}

static void zfs_datasets_share_the_free_space_of_their_pool(void **state)
{
	struct test_host t;
	struct test_run r;

	open_table(&t, &r,
		"1 0 0:30 / / rw - zfs tank rw\n2 1 0:31 / /home rw - zfs tank/home rw\n"
		"3 1 0:32 / /other rw - zfs tanker/x rw\n");
	add_space(&t, "/", 100, 0, 30);     /* 75 GB used, 25 GB free */
	add_space(&t, "/home", 40, 0, 31);  /* 30 GB used, 10 GB free */
	add_space(&t, "/other", 20, 0, 32); /* 15 GB used, 5 GB free */
	collect(&r, &t);
	assert_int_equal(test_run_points(&r, SIZE), 3);
	assert_value(test_run_value(&r, "rightsize_disk_space_used_bytes", ""), 120.0 * GB);
	assert_value(test_run_value(&r, TOTAL, ""), 150.0 * GB);
	done(&r, &t);
}

static void what_is_covered_is_not_touched(void **state)
{
#define ROOT "1 0 8:1 / / rw - ext4 a rw\n"
	static const struct {
		const char *table;
		size_t points;
		double covered;
	} cases[] = {
		/* nfs mounted on a disk's mount point */
		{ROOT "2 1 8:2 / /d rw - ext4 b rw\n3 2 0:9 / /d rw - nfs s rw\n", 1, 1},
		/* nfs mounted on the parent folder of a disk's mount point */
		{ROOT "2 1 8:2 / /d/e rw - ext4 b rw\n3 1 0:9 / /d rw - nfs s rw\n", 1, 1},
		/* tmpfs mounted on a disk's mount point: reading /d is safe, but gives the numbers
		 * of the tmpfs and not of the disk */
		{ROOT "2 1 8:2 / /d rw - ext4 b rw\n3 2 0:9 / /d rw - tmpfs t rw\n", 1, 1},
		/* nfs mounted on /d does not cover /data */
		{ROOT "2 1 8:2 / /data rw - ext4 b rw\n3 1 0:9 / /d rw - nfs s rw\n", 2, 0},
		/* a disk mounted on a tmpfs is reachable through the tmpfs */
		{ROOT "3 1 0:9 / /d rw - tmpfs t rw\n2 3 8:2 / /d/e rw - ext4 b rw\n", 2, 0},
		/* a disk mounted below a FUSE mount is covered */
		{ROOT "3 1 0:9 / /d rw - fuse.x t rw\n2 3 8:2 / /d/e rw - ext4 b rw\n", 1, 1},
		/* the disk is covered at /d, but is also mounted at /data */
		{ROOT "2 1 8:2 / /d rw - ext4 b rw\n3 2 0:9 / /d rw - nfs s rw\n"
		      "4 1 8:2 / /data rw - ext4 b rw\n",
			2, 1},
		/* two mounts that name each other as parent */
		{ROOT "2 3 8:2 / /d rw - ext4 b rw\n3 2 8:3 / /d/e rw - ext4 c rw\n", 2, 1},
		/* a mount that names itself as parent */
		{"1 1 8:1 / / rw - ext4 a rw\n", 1, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct test_host t;
		struct test_run r;

		open_table(&t, &r, cases[i].table);
		add_space(&t, "/", 10, 8, 1);
		add_space(&t, "/d", 20, 8, 2);
		add_space(&t, "/d/e", 30, 8, 2);
		add_space(&t, "/data", 40, 8, 2);
		collect(&r, &t);
		if (test_run_points(&r, SIZE) != cases[i].points ||
			test_run_value(&r, SKIPPED, "covered") != cases[i].covered)
			fail_msg("case %zu: %zu file systems, %g covered", i,
				test_run_points(&r, SIZE), test_run_value(&r, SKIPPED, "covered"));
		done(&r, &t);
	}
}

static void mount_points_may_hold_any_byte(void **state)
{
	struct test_host t;
	struct test_run r;

	open_table(&t, &r,
		"1 0 8:1 / / rw - ext4 a\\040b rw\n"
		"2 1 8:2 / /q\"\\134\\012\\011\\043x rw - ext4 b rw\n"
		"3 1 8:3 / /caf\xc3 rw - ext4 c rw\n"
		"4 1 8:4 / /caf\xc4 rw - ext4 d rw\n" /* equal to /caf\xc3 after UTF-8 cleaning */
		"5 1 8:5 / /z\\000y\\9 rw - ext4 e rw\n");
	add_space(&t, "/", 10, 8, 1);
	add_space(&t, "/q\"\\\n\t#x", 20, 8, 2);
	add_space(&t, "/caf\xc3", 30, 8, 3);
	add_space(&t, "/caf\xc4", 40, 8, 4);
	add_space(&t, "/z", 50, 8, 5);
	collect(&r, &t);
	assert_value(test_run_value(&r, SIZE, "a b|ext4|/"), 10.0 * GB);
	assert_value(test_run_value(&r, SIZE, "b|ext4|/q\"\\\n\t#x"), 20.0 * GB);
	assert_value(test_run_value(&r, SIZE, "c|ext4|/caf\xef\xbf\xbd"), 30.0 * GB);
	assert_value(test_run_value(&r, SIZE, "e|ext4|/z"), 50.0 * GB);
	assert_int_equal(test_run_points(&r, SIZE), 4);
	done(&r, &t);
}

static void a_mount_that_goes_is_gone_at_once(void **state)
{
	struct test_host t;
	struct test_run r;

	open_table(&t, &r, "1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / /d rw - ext4 b rw\n");
	add_space(&t, "/", 10, 8, 1);
	add_space(&t, "/d", 20, 8, 2);
	collect(&r, &t);
	assert_value(test_run_value(&r, TOTAL, ""), 30.0 * GB);
	/* After the unmount the folder /d belongs to the root file system, so statvfs returns the
	 * root's numbers. */
	add_space(&t, "/d", 10, 8, 1);
	test_host_advance(&t, 1);
	collect(&r, &t);
	assert_value(test_run_value(&r, TOTAL, ""), 10.0 * GB);
	assert_int_equal(test_run_points(&r, SIZE), 1);
	done(&r, &t);
}

static void a_new_mount_is_seen_within_5_s(void **state)
{
	struct test_host t;
	struct test_run r;

	open_table(&t, &r, "1 0 8:1 / / rw - ext4 a rw\n");
	add_space(&t, "/", 10, 8, 1);
	add_space(&t, "/d", 20, 8, 2);
	collect(&r, &t);
	test_host_file(&t, "/proc/self/mountinfo",
		"1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / /d rw - ext4 b rw\n");
	test_host_advance(&t, 4.9);
	add_space(&t, "/", 12, 8, 1);
	collect(&r, &t);
	assert_value(test_run_value(&r, TOTAL, ""),
		12.0 * GB); /* the size was read again, the mount table was not */
	test_host_advance(&t, 0.1);
	collect(&r, &t);
	assert_value(test_run_value(&r, TOTAL, ""), 32.0 * GB);
	done(&r, &t);
}

static void unreadable_file_systems_are_counted_as_such(void **state)
{
	struct test_host t;
	struct test_run r;

	open_table(&t, &r, "1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / /d rw - ext4 b rw\n");
	memory_tree_refuse(t.root, "d", -EACCES);
	collect(&r, &t);
	assert_int_equal(test_run_points(&r, SIZE), 0);
	assert_value(test_run_value(&r, TOTAL, ""), NAN);
	assert_value(test_run_value(&r, SKIPPED, "unreadable"), 2);
	memory_tree_refuse(t.root, "d", 0);
	add_space(&t, "/d", 20, 8, 2);
	test_host_advance(&t, 5);
	collect(&r, &t);
	assert_value(test_run_value(&r, TOTAL, ""), 20.0 * GB);
	assert_value(test_run_value(&r, SKIPPED, "unreadable"), 1);
	done(&r, &t);
}

static void impossible_space_is_no_number(void **state)
{
	struct test_host t;
	struct test_run r;

	open_table(&t, &r, "1 0 8:1 / / rw - ext4 a rw\n");
	memory_tree_space(t.root, "", (struct tree_space){.size = 5, .free = 6}, makedev(8, 1));
	collect(&r, &t);
	assert_int_equal(test_run_points(&r, SIZE), 0);
	assert_value(test_run_value(&r, SKIPPED, "unreadable"), 1);
	done(&r, &t);
}

static void a_file_system_without_inodes_has_no_count_of_them(void **state)
{
	struct test_host t;
	struct test_run r;

	open_table(&t, &r, "1 0 0:40 / / rw - btrfs a rw\n2 1 0:40 /x /x rw - btrfs a rw\n");
	memory_tree_space(t.root, "", (struct tree_space){.size = 5, .free = 1}, makedev(0, 77));
	collect(&r, &t);
	assert_value(test_run_value(&r, SIZE, "a|btrfs|/"), 5);
	assert_int_equal(test_run_points(&r, SIZE), 1); /* subvolumes are one file system */
	assert_int_equal(test_run_points(&r, "rightsize_filesystem_files"), 0);
	done(&r, &t);
}

static void the_table_of_process_1_is_used_when_it_fits_the_root(void **state)
{
	struct test_host t;
	struct test_run r;

	open_table(&t, &r,
		"1 0 0:99 / / rw - overlay overlay rw\n2 1 8:7 / /host rw - ext4 a rw\n");
	test_host_file(&t, "/proc/1/mountinfo",
		"1 0 8:7 / / rw - ext4 a rw\n2 1 8:8 / /home rw - ext4 b rw\n");
	add_space(&t, "/", 10, 8, 7);
	add_space(&t, "/home", 20, 8, 8);
	collect(&r, &t);
	assert_value(test_run_value(&r, SIZE, "b|ext4|/home"), 20.0 * GB);
	assert_int_equal(test_run_points(&r, SIZE), 2);
	done(&r, &t);
}

static void no_table_is_an_error_and_later_works(void **state)
{
	struct test_host t;
	struct test_run r;

	open_table(&t, &r, "1 0 8:1 / / rw - ext4 a rw\n");
	add_space(&t, "/", 10, 8, 1);
	collect(&r, &t);
	memory_tree_refuse(t.proc, "self/mountinfo", -EIO);
	test_host_advance(&t, 5);
	assert_int_equal(test_run_collect(&r, &t.host), -EIO);
	assert_string_equal(r.err.text, "read proc/self/mountinfo: Input/output error");
	memory_tree_refuse(t.proc, "self/mountinfo", 0);
	collect(&r, &t);
	assert_value(test_run_value(&r, TOTAL, ""), 10.0 * GB);
	done(&r, &t);
}

static void long_tables_are_read_whole(void **state)
{
	AUTO(tree_freep) struct tree *proc = memory_tree();
	AUTO(mounts_done) struct mounts m = {0};
	struct err e = {0};
	size_t room = 64u * 20000, n = 0;
	AUTO(freep) char *text = xmalloc(room);

	for (unsigned i = 0; i < 3000; i++)
		n += (size_t)snprintf(text + n, room - n, "%u 1 8:%u / /m%u rw a b c - ext4 x rw\n",
			i, i, i);
	memory_tree_file(proc, "self/mountinfo", text, n);
	assert_int_equal(mounts_read(&m, proc, "self/mountinfo", &e), 0);
	assert_int_equal(m.n, 3000);
	assert_string_equal(m.mount[2999].point, "/m2999");
	assert_int_equal(m.mount[2999].device, makedev(8, 2999));
	uint64_t hash = m.hash;

	assert_int_equal(mounts_read(&m, proc, "self/mountinfo", &e), 0);
	assert_int_equal(m.hash, hash);
}

static void lines_that_are_no_mounts_are_left_out(void **state)
{
	static const char *const lines[] = {
		"",
		"\n\n",
		"1",
		"1 0 8:1",
		"1 0 8:1 / /",
		"1 0 8:1 / / rw",
		"1 0 8:1 / / rw -",
		"1 0 8:1 / / rw - ext4",
		"x 0 8:1 / / rw - ext4 a rw",
		"1 0 8 / / rw - ext4 a rw",
		"1 0 8:1 / / rw ext4 a rw",
		"-1 0 8:1 / / rw - ext4 a rw",
	};
	AUTO(tree_freep) struct tree *proc = memory_tree();
	AUTO(mounts_done) struct mounts m = {0};
	struct err e = {0};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		memory_tree_text(proc, "self/mountinfo", lines[i]);
		assert_int_equal(mounts_read(&m, proc, "self/mountinfo", &e), 0);
		assert_int_equal(m.n, 0);
	}
	memory_tree_text(proc, "self/mountinfo", "1 0 8:1 / /a rw shared:1 master:2 - ext4 a");
	assert_int_equal(mounts_read(&m, proc, "self/mountinfo", &e), 0);
	assert_int_equal(m.n, 1);
	assert_string_equal(m.mount[0].source, "a");
	assert_string_equal(m.mount[0].options, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_container_host_counts_each_disk_once),
		cmocka_unit_test(a_pod_names_its_disk_by_the_overlay),
		cmocka_unit_test(a_disk_is_not_named_by_a_file_in_etc),
		cmocka_unit_test(an_overlay_on_another_disk_counts_too),
		cmocka_unit_test(zfs_datasets_share_the_free_space_of_their_pool),
		cmocka_unit_test(what_is_covered_is_not_touched),
		cmocka_unit_test(mount_points_may_hold_any_byte),
		cmocka_unit_test(a_mount_that_goes_is_gone_at_once),
		cmocka_unit_test(a_new_mount_is_seen_within_5_s),
		cmocka_unit_test(unreadable_file_systems_are_counted_as_such),
		cmocka_unit_test(impossible_space_is_no_number),
		cmocka_unit_test(a_file_system_without_inodes_has_no_count_of_them),
		cmocka_unit_test(the_table_of_process_1_is_used_when_it_fits_the_root),
		cmocka_unit_test(no_table_is_an_error_and_later_works),
		cmocka_unit_test(long_tables_are_read_whole),
		cmocka_unit_test(lines_that_are_no_mounts_are_left_out),
	};

	return cmocka_run_group_tests_name("collect_filesystem", tests, NULL, NULL);
}
