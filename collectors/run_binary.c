/* The processor that a run's programs need. */
#include "collectors/run_binary.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"

#define PATH_SIZE 4096

/* machine: e_machine of the ELF header (elf.h); name: of uname(2) and in the names of qemu's programs. */
static const struct {
	unsigned machine;
	const char *name, *architecture;
} machines[] = {
	{EM_X86_64, "x86_64", "x86_64"},
	{EM_AARCH64, "aarch64", "arm64"},
	{EM_386, "i386", "i386"},
};

const char *elf_architecture(const unsigned char *head, size_t len)
{
	const size_t at = offsetof(Elf64_Ehdr, e_machine); /* the same with 32 bits */

	if (len < at + 2 || memcmp(head, ELFMAG, SELFMAG) != 0)
		return NULL;
	unsigned first = head[at], second = head[at + 1];
	unsigned machine = head[EI_DATA] == ELFDATA2MSB ? first << 8 | second : second << 8 | first;

	for (size_t i = 0; i < ARRAY_LEN(machines); i++)
		if (machines[i].machine == machine)
			return machines[i].architecture;
	return NULL;
}

const char *emulated_architecture(const char *path)
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

static const char *read_architecture(const struct host *h, pid_t pid)
{
	unsigned char head[sizeof(Elf64_Ehdr)];
	char path[64], target[PATH_SIZE];

	snprintf(path, sizeof path, "%d/exe", (int)pid);
	if (tree_link(h->proc, path, target, sizeof target) >= 0) {
		const char *emulated = emulated_architecture(target);

		if (emulated)
			return emulated;
	}
	ssize_t n = tree_head(h->proc, path, (char *)head, sizeof head);

	return n < 0 ? NULL : elf_architecture(head, (size_t)n);
}

void run_binary_look(struct run_binary *b, const struct host *h, const struct process_tree *tree)
{
	const struct member *busiest = NULL;

	for (size_t i = 0; i < tree->n; i++) {
		const struct member *m = &tree->member[i];

		if (m->reaper || m->zombie)
			continue;
		if (!busiest || m->counter[TREE_CPU_NS] > busiest->counter[TREE_CPU_NS])
			busiest = m;
	}
	if (!busiest || (busiest->pid == b->pid && busiest->stack_start == b->stack_start))
		return;
	const char *found = read_architecture(h, busiest->pid);

	b->pid = busiest->pid;
	b->stack_start = busiest->stack_start;
	if (found)
		b->architecture = found;
}
