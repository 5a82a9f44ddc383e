/* The disk space that a run uses. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/followed/run_place.h"
#include "tests/support/jobs_world.h"

#define GIB (UINT64_C(1) << 30)
/* Space that other processes may have freed unnoticed, in GiB. */
#define FREED 0.25

static void put_root(struct world *w)
{
	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 10, .children = "");
}

static double value(struct world *w, enum run_metric id)
{
	return look(w)->value[id];
}

/* ---- disk ---- */

/* Reads the run once. Compares the disk space in GiB and its source with the expected ones. */
static void assert_disk(struct world *w, double gib, const char *source)
{
	struct account_note note;
	double bytes = value(w, RUN_DISK_GROWN_BYTES);

	assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
	if (bytes != gib * (double)GIB || !note.disk_source ||
		strcmp(note.disk_source, source) != 0)
		fail_msg("%g GiB by %s instead of %g GiB by %s", bytes / (double)GIB,
			note.disk_source ? note.disk_source : "nothing", gib, source);
}

static void put_space(struct world *w, const char *path, uint64_t used)
{
	char below_root[64];

	snprintf(below_root, sizeof below_root, "self/root/%s", path);
	memory_tree_space(w->proc, below_root,
		(struct tree_space){.size = 100 * GIB, .free = 100 * GIB - used}, 7);
}

static void put_writes(struct world *w, uint64_t chars, uint64_t bytes, uint64_t cancelled)
{
	char text[200];

	snprintf(text, sizeof text,
		"rchar: 0\nwchar: %ju\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: %ju\n"
		"cancelled_write_bytes: %ju\n",
		(uintmax_t)chars, (uintmax_t)bytes, (uintmax_t)cancelled);
	memory_tree_text(w->proc, "10/io", text);
}

static void put_written(struct world *w, uint64_t bytes)
{
	put_writes(w, bytes, bytes, 0);
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
	assert_disk(w, 0, "written");
	put_space(w, "", 13 * GIB);
	put_written(w, 5 * GIB);
	/* /home is on the same file system as the root. tmpfs and network file systems are not
	 * read. */
	put_space(w, "home", 13 * GIB);
	put_space(w, "tmp", 13 * GIB);
	put_space(w, "net", 13 * GIB);
	assert_disk(w, 3 + FREED, "growth");
	put_space(w, "", 11 * GIB);
	assert_disk(w, 3 + FREED, "growth");
}

/* Each case has the used space of the file system at the start and at two ticks, and the run's
 * writes at the same times, all in GiB. */
static const struct {
	const char *what;
	double used[3];
	struct {
		double chars, bytes, cancelled;
	} writes[3];
	double disk;
	const char *source;
} disk_cases[] = {
	{"others fill", {10, 90, 90}, {{0}, {.25, .25}, {.25, .25}}, .25, "written"},
	{"others free as much", {90, 90, 90}, {{0}, {8, 8}, {8, 8}}, FREED, "growth"},
	{"others free more", {90, 10, 10}, {{0}, {8, 8}, {8, 8}}, 8, "written"},
	{"others free a little more", {90, 89.5, 89.5}, {{0}, {8, 8}, {8, 8}}, 8, "written"},
	{"less than can be told", {90, 89.75, 89.75}, {{0}, {8, 8}, {8, 8}}, FREED, "growth"},
	{"twice less than can be told", {90, 89.75, 89.5}, {{0}, {8, 8}, {16, 16}}, 8 + FREED,
		"growth"},
	{"others free what little the run keeps", {10, 9, 9}, {{0}, {.25, .25}, {.25, .25}}, .25,
		"written"},
	{"others free first, then the run writes", {90, 10, 18}, {{0}, {0}, {8, 8}}, 8, "written"},
	{"others fill and free", {10, 60, 10}, {{0}, {.25, .25}, {.25, .25}}, .25, "written"},
	{"the run overwrites", {10, 11, 11}, {{0}, {1, 1}, {80, 80}}, 1 + FREED, "growth"},
	{"a little more than can be told", {10, 11, 11}, {{0}, {1, 1}, {1.5, 1.5}}, 1 + FREED,
		"growth"},
	{"as much as can be told", {10, 11, 11}, {{0}, {1, 1}, {1.25, 1.25}}, 1.25, "written"},
	{"written before the first look", {14, 14, 14}, {{4, 4}, {4, 4}, {4, 4}}, 4, "written"},
	{"written to tmpfs", {10, 10, 12}, {{0}, {2, 0}, {2, 0}}, 0, "written"},
	{"through a memory map", {10, 12, 12}, {{0}, {0, 2}, {0, 2}}, 2, "written"},
	{"deleted at once", {10, 10, 10}, {{0}, {.125, .125, .125}, {.125, .125, .125}}, .125,
		"written"},
	{"deleted at once, twice", {10, 10, 10}, {{0}, {.125, .125, .125}, {.25, .25, .25}}, .125,
		"written"},
	{"deletes what others wrote", {10, 10, 10}, {{0}, {0, 0, .125}, {.125, .125, .125}}, .125,
		"written"},
	{"the second deleted", {10, 10, 10}, {{0}, {.125, .125, 0}, {.25, .25, .125}}, .25,
		"written"},
};

static void disk_is_what_the_run_can_have_added(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(disk_cases); i++) {
		AUTO(world_freep) struct world *w = disk_world();
		struct account_note note;
		double disk = NAN;

		for (size_t k = 0; k < 3; k++) {
			put_space(w, "", (uint64_t)(disk_cases[i].used[k] * (double)GIB));
			put_writes(w, (uint64_t)(disk_cases[i].writes[k].chars * (double)GIB),
				(uint64_t)(disk_cases[i].writes[k].bytes * (double)GIB),
				(uint64_t)(disk_cases[i].writes[k].cancelled * (double)GIB));
			if (k == 0)
				follow(w, 10, 0);
			disk = value(w, RUN_DISK_GROWN_BYTES) / (double)GIB;
		}
		assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
		if (disk != disk_cases[i].disk || !note.disk_source ||
			strcmp(note.disk_source, disk_cases[i].source) != 0)
			fail_msg("%s: %g GiB by %s", disk_cases[i].what, disk,
				note.disk_source ? note.disk_source : "nothing");
	}
}

static void without_knowing_what_it_wrote_nothing_is_said(void **state)
{
	AUTO(world_freep) struct world *w = disk_world();
	struct account_note note;

	memory_tree_refuse(w->proc, "10/io", -EACCES);
	follow(w, 10, 0);
	look(w);
	put_space(w, "", 90 * GIB);
	assert_true(isnan(value(w, RUN_DISK_GROWN_BYTES)));
	assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
	assert_null(note.disk_source);
}

/* File systems of a container: only it uses /data, unless a case says otherwise. */
static const struct {
	const char *what, *mount;     /* name of the case; mount of /data in the run's table */
	const char *ours, *of_init;   /* mount tables of the exporter and of process 1 */
	const char *parent_namespace; /* mount namespace of the run's parent; NULL = unreadable */
	bool initial_pid_namespace;
	double disk;
	const char *source;
} own_cases[] = {
#define OWN  "21 20 8:2 / /data rw - ext4 /dev/sdb1 rw\n"
#define HOST "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
	{"its own", OWN, HOST, HOST, "mnt:[1]", true, 3, "own"},
	{"ours too", OWN, HOST OWN, HOST, "mnt:[1]", true, 2, "written"},
	{"that of init too", OWN, HOST, HOST OWN, "mnt:[1]", true, 2, "written"},
	{"init unreadable", OWN, HOST, NULL, "mnt:[1]", true, 2, "written"},
	{"that of its parent too", OWN, HOST, HOST, "mnt:[2]", true, 2, "written"},
	{"parent unreadable", OWN, HOST, HOST, NULL, true, 2, "written"},
	{"not the init of the machine", OWN, HOST, HOST, "mnt:[1]", false, 2, "written"},
	{"shares a pool of space", "21 20 0:40 / /data rw - zfs tank/data rw\n", HOST, HOST,
		"mnt:[1]", true, 2, "written"},
};

static void growth_of_a_file_system_of_the_run_alone_is_its_own(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(own_cases); i++) {
		AUTO(world_freep) struct world *w = disk_world();
		struct tree_space space = {.size = 50 * GIB, .free = 50 * GIB};
		struct account_note note;
		char table[200];

		w->host.initial_pid_namespace = own_cases[i].initial_pid_namespace;
		snprintf(table, sizeof table, "20 1 0:30 / / rw - tmpfs tmpfs rw\n%s",
			own_cases[i].mount);
		memory_tree_text(w->proc, "10/mountinfo", table);
		memory_tree_text(w->proc, "self/mountinfo", own_cases[i].ours);
		if (own_cases[i].of_init)
			memory_tree_text(w->proc, "1/mountinfo", own_cases[i].of_init);
		memory_tree_link(w->proc, "10/ns/mnt", "mnt:[2]");
		if (own_cases[i].parent_namespace)
			memory_tree_link(w->proc, "1/ns/mnt", own_cases[i].parent_namespace);
		memory_tree_space(w->proc, "10/root/data", space, 9);
		follow(w, 10, 0);
		assert_double_equal(value(w, RUN_DISK_GROWN_BYTES), 0, 0);
		/* The run reserves 1 GiB that it does not write. */
		put_written(w, 2 * GIB);
		space.free -= 3 * GIB;
		memory_tree_space(w->proc, "10/root/data", space, 9);
		double disk = value(w, RUN_DISK_GROWN_BYTES) / (double)GIB;

		assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
		if (disk != own_cases[i].disk || !note.disk_source ||
			strcmp(note.disk_source, own_cases[i].source) != 0)
			fail_msg("%s: %g GiB by %s", own_cases[i].what, disk,
				note.disk_source ? note.disk_source : "nothing");
	}
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
	assert_disk(w, 1 + FREED, "growth");
}

#define CONTAINER                                                                                  \
	"20 1 0:99 / / rw - overlay overlay rw\n"                                                  \
	"21 20 8:2 / /data rw - ext4 /dev/sdb1 rw\n"

static void put_through_root(struct world *w, const char *path, uint64_t used)
{
	char whole[64];
	/* The root is an overlay of 40 GiB. Other paths are on a disk of 50 GiB. */
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
	return w;
}

/* While a file system does not answer, everything that was written counts. The growth of the other
 * file systems alone would not be the total. */
static void what_does_not_answer_is_bounded_by_the_writes(void **state)
{
	static const char *const paths[] = {"", "data"};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		AUTO(world_freep) struct world *w = container_world();

		let_hang(w, paths[i], true);
		follow(w, 10, 0);
		look(w);
		put_written(w, GIB / 2);
		assert_disk(w, 0.5, "written");
		put_through_root(w, paths[1 - i], 2 * GIB);
		assert_disk(w, 0.5, "written");
		put_through_root(w, paths[i], 3 * GIB);
		let_hang(w, paths[i], false);
		/* Growth counts from the first reading of each file system. */
		assert_disk(w, 0.5, "written");
		put_written(w, 20 * GIB);
		assert_disk(w, (i ? 1.5 : 2.5) + FREED, "growth");
		put_through_root(w, paths[i], 7 * GIB);
		assert_disk(w, (i ? 5.5 : 6.5) + FREED, "growth");
	}
}

static void what_answers_no_more_for_a_while_has_not_begun_anew(void **state)
{
	AUTO(world_freep) struct world *w = container_world();

	follow(w, 10, 0);
	look(w);
	assert_disk(w, 0, "written");
	put_through_root(w, "data", 4 * GIB);
	let_hang(w, "data", true);
	assert_disk(w, 0, "written");
	put_written(w, 3 * GIB); /* all written bytes may be growth */
	assert_disk(w, 3, "written");
	memory_tree_text(w->proc, "10/mountinfo",
		CONTAINER "22 20 0:30 / /tmp rw - tmpfs tmpfs rw\n");
	look(w);
	let_hang(w, "data", false);
	put_written(w, 20 * GIB);
	assert_disk(w, 4 + FREED, "growth");
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
	assert_disk(w, 1 + FREED, "growth");
	memory_tree_text(w->proc, "self/mountinfo", MOUNTS DISK SLOW BELOW);
	put_space(w, "data", 90 * GIB);
	put_space(w, "", 12 * GIB);
	assert_disk(w, 2 + FREED, "growth"); /* the growth of the file systems that answered */
	/* The slow file system was unmounted. Growth during that time is unknown and not counted,
	 * and neither is the earlier use of another disk. */
	memory_tree_text(w->proc, "self/mountinfo", MOUNTS DISK);
	look(w);
	put_space(w, "data", 91 * GIB);
	assert_disk(w, 3 + FREED, "growth");
	memory_tree_text(w->proc, "self/mountinfo", MOUNTS ANOTHER);
	put_space(w, "data", 99 * GIB);
	assert_disk(w, 3 + FREED, "growth");
}

static void a_table_that_cannot_be_read_leads_nowhere(void **state)
{
	AUTO(world_freep) struct world *w = disk_world();

	follow(w, 10, 0);
	look(w);
	put_written(w, 3 * GIB);
	memory_tree_refuse(w->proc, "self/mountinfo", -EIO);
	put_space(w, "", 90 * GIB);
	assert_disk(w, 3, "written");
	memory_tree_refuse(w->proc, "self/mountinfo", 0);
	put_space(w, "", 14 * GIB);
	put_written(w, 80 * GIB);
	assert_disk(w, 4 + FREED, "growth");
}

static void put_written_by(struct world *w, int pid, const char *bytes)
{
	char path[64], text[200];

	snprintf(path, sizeof path, "%d/io", pid);
	snprintf(text, sizeof text,
		"rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: %s\n", bytes);
	memory_tree_text(w->proc, path, text);
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
		put_written_by(w, pid, "0");
		snprintf(path, sizeof path, "%d/fd/0", pid);
		memory_tree_text(w->proc, path, "");
	}
	memory_tree_space(w->proc, "10/root/", space, 9);
	memory_tree_space(w->proc, "11/root/", space, 9);
	follow(w, 10, 0);
	assert_disk(w, 0, "written");
	gone(w, 10);
	put_written_by(w, 11, "90000000000");
	space.free -= GIB;
	memory_tree_space(w->proc, "11/root/", space, 9);
	space.free = 0;
	memory_tree_space(w->proc, "10/root/", space, 9);
	assert_disk(w, 1 + FREED, "growth");
	/* No remaining process of the run has this file system. */
	gone(w, 11);
	memory_tree_space(w->proc, "11/root/", space, 9);
	assert_disk(w, 1 + FREED, "growth");
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
		/* A mount namespace other than ours. Our own table is also read for other purposes, so
		 * its reads cannot be counted. */
		"mnt:[2]");
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
		cmocka_unit_test(disk_is_what_the_run_can_have_added),
		cmocka_unit_test(growth_of_a_file_system_of_the_run_alone_is_its_own),
		cmocka_unit_test(without_knowing_what_it_wrote_nothing_is_said),
		cmocka_unit_test(another_mount_namespace_is_reached_through_the_process),
		cmocka_unit_test(what_does_not_answer_is_bounded_by_the_writes),
		cmocka_unit_test(what_answers_no_more_for_a_while_has_not_begun_anew),
		cmocka_unit_test(what_is_mounted_over_a_file_system_later_is_not_asked),
		cmocka_unit_test(a_table_that_cannot_be_read_leads_nowhere),
		cmocka_unit_test(paths_through_a_process_end_with_it),
		cmocka_unit_test(a_long_table_is_not_read_at_each_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
