#include "collectors/followed/run_binary.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/mounts.h"
#include "collectors/process/netlink.h"
#include "collectors/process/process.h"

#define PATH_SIZE 4096

/* Architecture of this program; NULL = not in this list. The kernel runs programs of this
 * architecture without an emulator. */
#if defined(__x86_64__)
static const char *const native = "x86_64";
#elif defined(__aarch64__)
static const char *const native = "arm64";
#else
static const char *const native = NULL;
#endif

/* If a file does not answer, it is tried again after a pause of 1 s, then 2 s, 4 s and so on.
 * PAUSE_MAX_NS is the longest pause. */
#define PAUSE_MAX_NS (60 * NS_PER_S)
/* Number of bytes that are read from the start of the file. The ELF header and the notes are
 * there. */
#define HEAD_SIZE 4096

/* `machine` is the value of e_machine (elf.h). `name` is the name in uname(2), and in the file
 * names of qemu's programs. */
static const struct {
	unsigned machine;
	const char *name, *architecture;
} machines[] = {
	{EM_X86_64, "x86_64", "x86_64"},
	{EM_AARCH64, "aarch64", "arm64"},
	{EM_386, "i386", "i386"},
};

const char *run_binary_architecture(const unsigned char *head, size_t len)
{
	const size_t at = offsetof(Elf64_Ehdr, e_machine); /* the same offset in a 32-bit header */

	if (len < at + 2 || memcmp(head, ELFMAG, SELFMAG) != 0)
		return NULL;
	unsigned first = head[at], second = head[at + 1];
	unsigned machine = head[EI_DATA] == ELFDATA2MSB ? first << 8 | second : second << 8 | first;

	for (size_t i = 0; i < ARRAY_LEN(machines); i++)
		if (machines[i].machine == machine)
			return machines[i].architecture;
	return NULL;
}

const char *run_binary_emulated(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (strncmp(name, "qemu-", 5) != 0)
		return NULL;
	name += 5;
	for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
		size_t len = strlen(machines[i].name);

		if (strncmp(name, machines[i].name, len) == 0 &&
			(name[len] == '\0' || strcmp(name + len, "-static") == 0))
			return machines[i].architecture;
	}
	return NULL;
}

/* ---- the x86-64 level ---- */

/* Values from "Linux Extensions to gABI" and from the x86-64 psABI. They are listed here because an
 * older elf.h lacks them. */
enum {
	PROPERTY_SEGMENT = 0x6474e553,
	PROPERTY_NOTE = 5,
	NOTE_HEADER = 16, /* name size, data size, type, "GNU" */
	PROPERTY_HEADER = 8,
	PROPERTY_ALIGNMENT = 8,
};
#define X86_ISA_NEEDED 0xc0008002U

/* If bit i of the ELF property X86_ISA_NEEDED is set, the program needs the level levels[i]. */
static const char *const levels[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

static const char *level_of(uint32_t needed)
{
	for (size_t i = ARRAY_LEN(levels); i > 0; i--)
		if (needed & 1U << (i - 1))
			return levels[i - 1];
	return NULL;
}

static const char *level_of_note(struct bytes note)
{
	if (note.len < NOTE_HEADER || netlink_u32(note, 0) != 4 ||
		netlink_u32(note, 8) != PROPERTY_NOTE || memcmp(note.data + 12, "GNU", 4) != 0)
		return NULL;
	netlink_skip(&note, NOTE_HEADER);
	while (note.len >= PROPERTY_HEADER + 4) {
		uint64_t size = netlink_u32(note, 4);

		if (netlink_u32(note, 0) == X86_ISA_NEEDED)
			return level_of(netlink_u32(note, PROPERTY_HEADER));
		size += PROPERTY_HEADER + PROPERTY_ALIGNMENT - 1;
		size -= size % PROPERTY_ALIGNMENT;
		if (size > note.len)
			return NULL;
		netlink_skip(&note, (size_t)size);
	}
	return NULL;
}

const char *run_binary_cpu_level(const unsigned char *head, size_t len)
{
	Elf64_Ehdr elf;
	Elf64_Phdr segment;

	if (len < sizeof elf || head[EI_CLASS] != ELFCLASS64 || head[EI_DATA] != ELFDATA2LSB)
		return NULL;
	memcpy(&elf, head, sizeof elf);
	if (memcmp(head, ELFMAG, SELFMAG) != 0 || elf.e_machine != EM_X86_64)
		return NULL;
	for (uint64_t i = 0, at = elf.e_phoff; i < elf.e_phnum; i++, at += sizeof segment) {
		if (at > len || len - at < sizeof segment)
			return NULL;
		memcpy(&segment, head + at, sizeof segment);
		if (segment.p_type != PROPERTY_SEGMENT)
			continue;
		if (segment.p_offset > len || len - segment.p_offset < segment.p_filesz)
			return NULL;
		return level_of_note((struct bytes){
			head + segment.p_offset, (size_t)segment.p_filesz});
	}
	return NULL;
}

/* ---- reading the file ---- */

/* Returns true when the file is on a file system that may never answer. The mount table decides,
 * because even statfs(2) could block. Returns false when the table is unreadable. */
static bool may_hang(const struct host *h, pid_t pid, const char *path)
{
	const struct mount *at = NULL;
	AUTO(mounts_done) struct mounts all = {0};
	char table[PROCESS_PATH_MAX];

	if (mounts_read(&all, h->proc, process_path(table, pid, "mountinfo"), NULL) == 0)
		at = mounts_find(&all, path);
	return at && mount_kind_of(at) == MOUNT_REMOTE;
}

/* Schedules another try for a file that does not answer. */
static void put_off(struct run_binary *b, const struct host *h)
{
	b->tail[0] = '\0';
	b->pause_ns = b->pause_ns ? 2 * b->pause_ns : NS_PER_S;
	if (b->pause_ns > PAUSE_MAX_NS)
		b->pause_ns = PAUSE_MAX_NS;
	b->due.ns = h->now.mono.ns + b->pause_ns;
}

static void read_head(struct run_binary *b, const struct host *h, const char *exe)
{
	unsigned char head[HEAD_SIZE];
	ssize_t n = tree_head(h->proc, exe, (char *)head, sizeof head);
	size_t len = n < 0 ? 0 : (size_t)n;
	const char *found = run_binary_architecture(head, len);

	if (n == -ETIMEDOUT)
		put_off(b, h);
	else
		b->pause_ns = 0;
	if (!found)
		return;
	b->architecture = found;
	b->cpu_level = run_binary_cpu_level(head, len);
}

/* Returns the last bytes of a path. Paths of different programs differ in this part. */
static const char *tail_of(const char *path)
{
	size_t len = strlen(path);

	return len < RUN_BINARY_TAIL ? path : path + len - (RUN_BINARY_TAIL - 1);
}

/* Reads the executable of process `pid`. Does nothing if the file is the same as at the last call:
 * in many runs, several processes of the same program take turns as the busiest process. */
static void read_binary(struct run_binary *b, const struct host *h, pid_t pid)
{
	char exe[PROCESS_PATH_MAX], path[PATH_SIZE];
	const char *found;

	process_path(exe, pid, "exe");
	if (tree_link(h->proc, exe, path, sizeof path) < 0) {
		read_head(b, h, exe);
		return;
	}
	if (b->architecture && strcmp(b->tail, tail_of(path)) == 0)
		return;
	text_copy(tail_of(path), b->tail, sizeof b->tail);
	found = run_binary_emulated(path);
	if (!found && !may_hang(h, pid, path)) {
		read_head(b, h, exe);
		return;
	}
	b->architecture = found ? found : native;
	b->cpu_level = NULL;
}

void run_binary_look(struct run_binary *b, const struct host *h, const struct process_tree *tree)
{
	const struct member *busiest = NULL;

	for (size_t i = 0; i < tree->n; i++) {
		const struct member *m = &tree->member[i];

		if (!member_counts(m) || m->zombie)
			continue;
		if (!busiest || m->counter[TREE_CPU_NS] > busiest->counter[TREE_CPU_NS])
			busiest = m;
	}
	if (!busiest)
		return;
	bool same = busiest->pid == b->pid && busiest->stack_start == b->stack_start;

	if (same && (!b->pause_ns || h->now.mono.ns < b->due.ns))
		return;
	if (!same)
		b->pause_ns = 0;
	b->pid = busiest->pid;
	b->stack_start = busiest->stack_start;
	read_binary(b, h, member_shown_by(busiest));
}
