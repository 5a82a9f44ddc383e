/*
 * For which processors the programs of a run were built: by the ELF header of the executable of the process that used
 * most CPU time. A program that runs in qemu's user mode is what it emulates, not what qemu is.
 *
 * Sampler thread only.
 */
#ifndef COLLECTORS_RUN_BINARY_H
#define COLLECTORS_RUN_BINARY_H

#include "collectors/process_tree.h"

struct run_binary {           /* zeroed memory: nothing seen yet */
	pid_t pid;            /* of the process that was read */
	uint64_t stack_start; /* of it: another one when it executed something since */
	const char *
		architecture; /* as the catalogue calls it, "x86_64", "arm64", "i386"; NULL = unknown */
};

void run_binary_look(struct run_binary *b, const struct host *h, const struct process_tree *tree);

/* From the first bytes of an executable; NULL: no ELF, or for another processor. */
const char *elf_architecture(const unsigned char *head, size_t len);

/* From the path of an executable: "/usr/bin/qemu-aarch64-static" is arm64; NULL = no emulator. */
const char *emulated_architecture(const char *path);

#endif
