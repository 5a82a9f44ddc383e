/* The processor architecture that a run's programs need. */
#include "tests/unit/test_main.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/followed/run_binary.h"
#include "tests/support/jobs_world.h"

static void put_root(struct world *w)
{
	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 10, .children = "");
}

static void put_exe(struct world *w, int pid, unsigned machine, const char *path)
{
	char name[32];
	Elf64_Ehdr head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
		.e_machine = (Elf64_Half)machine};

	snprintf(name, sizeof name, "%d/exe", pid);
	memory_tree_file(w->proc, name, (const char *)&head, sizeof head);
	memory_tree_link(w->proc, name, path);
}

static const char *architecture(struct world *w)
{
	struct account_note note;

	look(w);
	assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
	return note.architecture;
}

static void the_busiest_process_decides(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .user = 10, .children = "11 ");
	PUT(w, .pid = 11, .ppid = 10, .start = 6, .user = 500, .children = "");
	put_exe(w, 10, EM_X86_64, "/bin/sh");
	put_exe(w, 11, EM_AARCH64, "/opt/job");
	follow(w, 10, 0);
	assert_string_equal(architecture(w), "arm64");
}

static void an_emulated_program_is_not_its_emulator(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	put_root(w);
	put_exe(w, 10, EM_X86_64, "/usr/bin/qemu-aarch64-static");
	follow(w, 10, 0);
	assert_string_equal(architecture(w), "arm64");
}

/* The program's header names an architecture that the exporter is not built for, so a read of the
 * header is noticed. */
static void a_program_that_may_never_answer_is_not_read(void **state)
{
	static const struct {
		const char *mounts;
		bool read;
	} cases[] = {
		{"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n", true},
		{"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:50 / /opt rw - nfs4 s:/ rw\n", false},
		{"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:50 / /opt rw - fuse.sshfs s rw\n",
			false},
		{"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:50 / /op rw - cifs s rw\n", true},
		{"1 0 0:50 / / rw - nfs s:/ rw\n2 1 8:1 / /opt rw - ext4 /dev/sda1 rw\n", true},
		{"1 0 0:50 / / rw - nfs s:/ rw\n", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_freep) struct world *w = world_new();

		put_root(w);
		put_exe(w, 10, EM_386, "/opt/job");
		memory_tree_text(w->proc, "10/mountinfo", cases[i].mounts);
		follow(w, 10, 0);
		const char *found = architecture(w);

		if (cases[i].read != (found && strcmp(found, "i386") == 0))
			fail_msg("%s: %s", cases[i].mounts, found ? found : "unknown");
	}
}

/* A program that hangs is read less and less often. Another program is read at once. */
static void a_program_that_does_not_answer_is_read_later(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	int looks = 0;

	put_root(w);
	PUT(w, .pid = 11, .ppid = 10, .start = 6, .user = 500, .children = "");
	children(w, 10, "11 ");
	put_exe(w, 10, EM_386, "/opt/other");
	put_exe(w, 11, EM_AARCH64, "/opt/job");
	memory_tree_text(w->proc, "11/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
	memory_tree_refuse(w->proc, "11/exe", -ETIMEDOUT);
	follow(w, 10, 0);
	for (int i = 0; i < 300; i++)
		assert_null(architecture(w));
	assert_in_range(memory_tree_reads(w->proc, "11/exe"), 5, 40);
	memory_tree_refuse(w->proc, "11/exe", 0);
	while (!architecture(w) && looks < 1000)
		looks++;
	assert_string_equal(architecture(w), "arm64");
	memory_tree_refuse(w->proc, "11/exe", -ETIMEDOUT);
	PUT(w, .pid = 11, .ppid = 10, .start = 6, .user = 600, .stack = 5);
	assert_string_equal(architecture(w), "arm64");
	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 10, .user = 900);
	assert_string_equal(architecture(w), "i386");
}

static void emulators_are_known_by_name(void **state)
{
	static const struct {
		const char *path, *architecture;
	} cases[] = {
		{"/usr/bin/qemu-x86_64", "x86_64"},
		{"qemu-i386-static", "i386"},
		{"/usr/bin/qemu-system-x86_64", NULL},
		{"/usr/bin/qemu-aarch64_be", NULL},
		{"/usr/bin/python3", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *found = run_binary_emulated(cases[i].path);

		if (cases[i].architecture)
			assert_string_equal(found, cases[i].architecture);
		else
			assert_null(found);
	}
}

static void headers_are_read_in_both_byte_orders_and_never_past_their_end(void **state)
{
	unsigned char head[20] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB};

	head[18] = EM_X86_64;
	assert_string_equal(run_binary_architecture(head, sizeof head), "x86_64");
	assert_null(run_binary_architecture(head, sizeof head - 1));
	head[EI_DATA] = ELFDATA2MSB;
	assert_null(run_binary_architecture(head, sizeof head));
	head[18] = 0;
	head[19] = EM_386;
	assert_string_equal(run_binary_architecture(head, sizeof head), "i386");
	memcpy(head, "#!/b", 4);
	assert_null(run_binary_architecture(head, sizeof head));
}

/* An executable with two segments. The second is a note with an unknown property before the
 * property of the CPU level. */
struct executable {
	Elf64_Ehdr head;
	Elf64_Phdr segment[2];
	uint32_t note[4 + 4 + 4];
};

static struct executable executable_of(uint32_t needed)
{
	return (struct executable){
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
			.e_machine = EM_X86_64,
			.e_phoff = offsetof(struct executable, segment),
			.e_phnum = 2},
		.segment = {{.p_type = PT_LOAD},
			{.p_type = 0x6474e553,
				.p_offset = offsetof(struct executable, note),
				.p_filesz = sizeof(uint32_t[12])}},
		/* "GNU"; an unknown property of 4 bytes, padded; the CPU level. */
		.note = {4, 32, 5, 0x554e47, 0xc0000002, 4, 3, 0, 0xc0008002, 4, needed, 0},
	};
}

static void level_is_the_highest_that_the_executable_needs(void **state)
{
	static const struct {
		uint32_t needed;
		const char *level;
	} cases[] = {
		{1, "x86-64"}, {3, "x86-64-v2"}, {7, "x86-64-v3"}, {15, "x86-64-v4"}, {0, NULL}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct executable x = executable_of(cases[i].needed);
		const char *level = run_binary_cpu_level((const unsigned char *)&x, sizeof x);

		if (cases[i].level)
			assert_string_equal(level, cases[i].level);
		else
			assert_null(level);
	}
}

static void executable_that_does_not_say_or_is_cut_has_no_level(void **state)
{
	struct executable x = executable_of(7), other;

	for (size_t len = 0; len < sizeof x - 8; len++) {
		AUTO(freep) unsigned char *cut = xmalloc(len + 1);

		memcpy(cut, &x, len);
		assert_null(run_binary_cpu_level(cut, len));
	}
	other = x;
	other.head.e_machine = EM_AARCH64;
	assert_null(run_binary_cpu_level((const unsigned char *)&other, sizeof other));
	other = x;
	other.segment[1].p_type = PT_NOTE;
	assert_null(run_binary_cpu_level((const unsigned char *)&other, sizeof other));
	other = x;
	other.segment[1].p_offset = UINT64_MAX;
	assert_null(run_binary_cpu_level((const unsigned char *)&other, sizeof other));
	other = x;
	other.head.e_phoff = UINT64_MAX - 1;
	assert_null(run_binary_cpu_level((const unsigned char *)&other, sizeof other));
	other = x;
	other.note[5] = UINT32_MAX; /* the unknown property exceeds the note */
	assert_null(run_binary_cpu_level((const unsigned char *)&other, sizeof other));
	other = x;
	other.note[3] = 0;
	assert_null(run_binary_cpu_level((const unsigned char *)&other, sizeof other));
}

static void level_is_kept_with_the_run_and_not_an_emulators(void **state)
{
	static const struct {
		const char *path, *level;
	} table[] = {{"/opt/job", "x86-64-v3"}, {"/usr/bin/qemu-x86_64", NULL}};
	struct executable x = executable_of(7);

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(world_freep) struct world *w = world_new();
		struct account_note note;

		put_root(w);
		memory_tree_file(w->proc, "10/exe", (const char *)&x, sizeof x);
		memory_tree_link(w->proc, "10/exe", table[i].path);
		follow(w, 10, 0);
		look(w);
		assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
		assert_string_equal(note.architecture, "x86_64");
		if (table[i].level)
			assert_string_equal(note.cpu_level, table[i].level);
		else
			assert_null(note.cpu_level);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_busiest_process_decides),
		cmocka_unit_test(an_emulated_program_is_not_its_emulator),
		cmocka_unit_test(a_program_that_may_never_answer_is_not_read),
		cmocka_unit_test(a_program_that_does_not_answer_is_read_later),
		cmocka_unit_test(emulators_are_known_by_name),
		cmocka_unit_test(headers_are_read_in_both_byte_orders_and_never_past_their_end),
		cmocka_unit_test(level_is_the_highest_that_the_executable_needs),
		cmocka_unit_test(executable_that_does_not_say_or_is_cut_has_no_level),
		cmocka_unit_test(level_is_kept_with_the_run_and_not_an_emulators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
