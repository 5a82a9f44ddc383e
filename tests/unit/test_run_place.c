/* The disk space that a run uses. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/followed/run_place.h"
#include "tests/support/jobs_world.h"

#define GIB (UINT64_C(1) << 30)

static void put_root(struct world *w)
{
	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 10, .children = "");
}

static double value(struct world *w, enum run_metric id)
{
	return look(w)->value[id];
}

/* ---- disk ---- */

static void put_space(struct world *w, const char *path, uint64_t used)
{
	char below_root[64];

	snprintf(below_root, sizeof below_root, "self/root/%s", path);
	memory_tree_space(w->proc, below_root,
		(struct tree_space){.size = 100 * GIB, .free = 100 * GIB - used}, 7);
}

static void put_written(struct world *w, uint64_t bytes)
{
	char text[200];

	snprintf(text, sizeof text,
		"rchar: 0\nwchar: %llu\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: %llu\n"
		"cancelled_write_bytes: 0\n",
		(unsigned long long)bytes, (unsigned long long)bytes);
	memory_tree_text(w->proc, "10/io", text);
}

#define MOUNTS                                                                                     \
	"20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"                                                    \
	"21 20 8:1 /home /home rw - ext4 /dev/sda1 rw\n"                                           \
	"22 20 0:30 / /tmp rw - tmpfs tmpfs rw\n"                                                  \
	"23 20 0:31 / /net rw - nfs4 server:/ rw\n"

static struct world *disk_world(void)
{
	struct world *w = world_new();

	put_root(w);
	memory_tree_text(w->proc, "10/fd/0", "");
	memory_tree_link(w->proc, "self/ns/mnt", "mnt:[1]");
	memory_tree_link(w->proc, "10/ns/mnt", "mnt:[1]");
	memory_tree_text(w->proc, "self/mountinfo", MOUNTS);
	put_space(w, "", 10 * GIB);
	put_space(w, "home", 10 * GIB);
	put_space(w, "tmp", 0);
	put_space(w, "net", 0);
	put_written(w, 0);
	return w;
}

static void the_most_that_was_in_use_at_once_stays(void **state)
{
	AUTO(world_freep) struct world *w = disk_world();

	follow(w, 10, 0);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 0, 0);
	put_space(w, "", 13 * GIB);
	put_written(w, 5 * GIB);
	/* /home is on the same file system as the root. tmpfs and network file systems are not
	 * read. */
	put_space(w, "home", 13 * GIB);
	put_space(w, "tmp", 13 * GIB);
	put_space(w, "net", 13 * GIB);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 3.0 * GIB, 0);
	put_space(w, "", 11 * GIB);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 3.0 * GIB, 0);
}

static void what_others_wrote_is_not_counted(void **state)
{
	AUTO(world_freep) struct world *w = disk_world();

	follow(w, 10, 0);
	look(w);
	put_space(w, "", 90 * GIB);
	put_written(w, GIB / 4);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 0.25 * GIB, 0);
}

static void without_knowing_what_it_wrote_nothing_is_said(void **state)
{
	AUTO(world_freep) struct world *w = disk_world();

	memory_tree_refuse(w->proc, "10/io", -EACCES);
	follow(w, 10, 0);
	look(w);
	put_space(w, "", 90 * GIB);
	assert_true(isnan(value(w, RUN_DISK_GROWN_BYTES)));
}

static void another_mount_namespace_is_reached_through_the_process(void **state)
{
	AUTO(world_freep) struct world *w = disk_world();
	struct tree_space space = {.size = 50 * GIB, .free = 50 * GIB};

	memory_tree_link(w->proc, "10/ns/mnt", "mnt:[2]");
	memory_tree_text(w->proc, "10/mountinfo", "20 1 0:99 / / rw - overlay overlay rw\n");
	memory_tree_space(w->proc, "10/root/", space, 9);
	follow(w, 10, 0);
	look(w);
	put_written(w, 2 * GIB);
	space.free -= GIB;
	memory_tree_space(w->proc, "10/root/", space, 9);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 1.0 * GIB, 0);
}

#define CONTAINER                                                                                  \
	"20 1 0:99 / / rw - overlay overlay rw\n"                                                  \
	"21 20 8:2 / /data rw - ext4 /dev/sdb1 rw\n"

static void put_through_root(struct world *w, const char *path, uint64_t used)
{
	char whole[64];
	/* The root is an overlay, and the rest is another disk. */
	uint64_t size = path[0] ? 50 * GIB : 40 * GIB;

	snprintf(whole, sizeof whole, "10/root/%s", path);
	memory_tree_space(w->proc, whole, (struct tree_space){.size = size, .free = size - used},
		9);
}

static void let_hang(struct world *w, const char *path, bool hangs)
{
	char whole[64];

	snprintf(whole, sizeof whole, "10/root/%s", path);
	memory_tree_refuse(w->proc, whole, hangs ? -ETIMEDOUT : 0);
}

static struct world *container_world(void)
{
	struct world *w = disk_world();

	memory_tree_link(w->proc, "10/ns/mnt", "mnt:[2]");
	memory_tree_text(w->proc, "10/mountinfo", CONTAINER);
	put_through_root(w, "", GIB);
	put_through_root(w, "data", 0);
	put_written(w, 20 * GIB);
	return w;
}

/* A file system that does not answer is not "no growth", and the growth of the others is not the
 * total. */
static void what_does_not_answer_is_unknown_until_it_does(void **state)
{
	static const char *const paths[] = {"", "data"};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		AUTO(world_freep) struct world *w = container_world();

		let_hang(w, paths[i], true);
		follow(w, 10, 0);
		look(w);
		assert_true(isnan(value(w, RUN_DISK_GROWN_BYTES)));
		put_through_root(w, paths[1 - i], 2 * GIB);
		assert_true(isnan(value(w, RUN_DISK_GROWN_BYTES)));
		put_through_root(w, paths[i], 3 * GIB);
		let_hang(w, paths[i], false);
		/* Growth counts from the first reading of each file system. */
		assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), (i ? 1.0 : 2.0) * GIB, 0);
		put_through_root(w, paths[i], 7 * GIB);
		assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), (i ? 5.0 : 6.0) * GIB, 0);
	}
}

static void what_answers_no_more_for_a_while_has_not_begun_anew(void **state)
{
	AUTO(world_freep) struct world *w = container_world();

	follow(w, 10, 0);
	look(w);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 0, 0);
	put_through_root(w, "data", 4 * GIB);
	let_hang(w, "data", true);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 0, 0); /* as last read */
	memory_tree_text(w->proc, "10/mountinfo",
		CONTAINER "22 20 0:30 / /tmp rw - tmpfs tmpfs rw\n");
	look(w);
	let_hang(w, "data", false);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 4.0 * GIB, 0);
}

#define DISK    "30 20 8:2 / /data rw - ext4 /dev/sdb1 rw\n"
#define SLOW    "31 30 0:50 / /data rw - fuse.slow slow rw\n"
#define BELOW   "32 31 0:51 / /data/more rw - fuse.slow slow rw\n"
#define ANOTHER "33 20 8:3 / /data rw - ext4 /dev/sdc1 rw\n"

/* statvfs() would report 90 GiB here. On a real machine it would never return. */
static void what_is_mounted_over_a_file_system_later_is_not_asked(void **state)
{
	AUTO(world_freep) struct world *w = disk_world();

	memory_tree_text(w->proc, "self/mountinfo", MOUNTS DISK);
	put_space(w, "data", 20 * GIB);
	follow(w, 10, 0);
	look(w);
	put_written(w, 80 * GIB);
	put_space(w, "data", 21 * GIB);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 1.0 * GIB, 0);
	memory_tree_text(w->proc, "self/mountinfo", MOUNTS DISK SLOW BELOW);
	put_space(w, "data", 90 * GIB);
	put_space(w, "", 12 * GIB);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 2.0 * GIB, 0); /* the others grew */
	/* The slow file system was unmounted. Growth during that time is unknown and not counted,
	 * and neither is the earlier use of another disk. */
	memory_tree_text(w->proc, "self/mountinfo", MOUNTS DISK);
	look(w);
	put_space(w, "data", 91 * GIB);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 3.0 * GIB, 0);
	memory_tree_text(w->proc, "self/mountinfo", MOUNTS ANOTHER);
	put_space(w, "data", 99 * GIB);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 3.0 * GIB, 0);
}

static void a_table_that_cannot_be_read_leads_nowhere(void **state)
{
	AUTO(world_freep) struct world *w = disk_world();

	follow(w, 10, 0);
	look(w);
	put_written(w, 80 * GIB);
	memory_tree_refuse(w->proc, "self/mountinfo", -EIO);
	put_space(w, "", 90 * GIB);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 0, 0);
	memory_tree_refuse(w->proc, "self/mountinfo", 0);
	put_space(w, "", 11 * GIB);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 1.0 * GIB, 0);
}

/* After the process's end, its pid may belong to a process with other mounts. */
static void paths_through_a_process_end_with_it(void **state)
{
	AUTO(world_freep) struct world *w = disk_world();
	struct tree_space space = {.size = 50 * GIB, .free = 50 * GIB};

	children(w, 10, "11");
	PUT(w, .pid = 11, .ppid = 10, .start = 6, .children = "");
	for (int pid = 10; pid <= 11; pid++) {
		char path[64];

		snprintf(path, sizeof path, "%d/ns/mnt", pid);
		memory_tree_link(w->proc, path, "mnt:[2]");
		snprintf(path, sizeof path, "%d/mountinfo", pid);
		memory_tree_text(w->proc, path, "20 1 0:99 / / rw - overlay overlay rw\n");
		snprintf(path, sizeof path, "%d/io", pid);
		memory_tree_text(w->proc, path,
			"rchar: 0\nwchar: 90000000000\nsyscr: 0\nsyscw: 0\nread_bytes: 0\n"
			"write_bytes: 90000000000\ncancelled_write_bytes: 0\n");
		snprintf(path, sizeof path, "%d/fd/0", pid);
		memory_tree_text(w->proc, path, "");
	}
	memory_tree_space(w->proc, "10/root/", space, 9);
	memory_tree_space(w->proc, "11/root/", space, 9);
	follow(w, 10, 0);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 0, 0);
	gone(w, 10);
	space.free -= GIB;
	memory_tree_space(w->proc, "11/root/", space, 9);
	space.free = 0;
	memory_tree_space(w->proc, "10/root/", space, 9);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 1.0 * GIB, 0);
	/* No remaining process of the run has this file system. */
	gone(w, 11);
	memory_tree_space(w->proc, "11/root/", space, 9);
	assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 1.0 * GIB, 0);
}

/* A long mount table must not be read at each tick. Otherwise many runs would cost one such read
 * each per tick. */
static void a_long_table_is_not_read_at_each_look(void **state)
{
	AUTO(world_freep) struct world *w = disk_world();
	size_t room = 3000 * 64, n = 0;
	AUTO(freep) char *text = xmalloc(room);

	n += (size_t)snprintf(text, room, MOUNTS);
	for (int i = 0; i < 3000; i++)
		n += (size_t)snprintf(text + n, room - n, "%d 20 0:30 / /tmp/%d rw - tmpfs t rw\n",
			100 + i, i);
	memory_tree_link(w->proc, "10/ns/mnt",
		"mnt:[2]"); /* our own table may also be read elsewhere */
	memory_tree_text(w->proc, "10/mountinfo", text);
	follow(w, 10, 0);
	look(w);
	size_t once = memory_tree_reads(w->proc, "10/mountinfo");

	assert_true(once > 0);
	for (int i = 0; i < 30; i++)
		look(w);
	assert_in_range(memory_tree_reads(w->proc, "10/mountinfo"), 10 * once, 11 * once);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_that_was_in_use_at_once_stays),
		cmocka_unit_test(what_others_wrote_is_not_counted),
		cmocka_unit_test(without_knowing_what_it_wrote_nothing_is_said),
		cmocka_unit_test(another_mount_namespace_is_reached_through_the_process),
		cmocka_unit_test(what_does_not_answer_is_unknown_until_it_does),
		cmocka_unit_test(what_answers_no_more_for_a_while_has_not_begun_anew),
		cmocka_unit_test(what_is_mounted_over_a_file_system_later_is_not_asked),
		cmocka_unit_test(a_table_that_cannot_be_read_leads_nowhere),
		cmocka_unit_test(paths_through_a_process_end_with_it),
		cmocka_unit_test(a_long_table_is_not_read_at_each_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
