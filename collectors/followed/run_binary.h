/*
 * For which processors the programs of a run were built: by the ELF header of the executable of the process that used
 * most CPU time, and of these processors the least that it says it needs. A program that runs in qemu's user mode is what
 * it emulates, not what qemu is. A file on a network file system or FUSE is not touched, since it may never answer: it is
 * for the processor that it runs on. One that does not answer (collectors/base/tree_guard.h) is read later.
 *
 * Sampler thread only.
 */
#ifndef COLLECTORS_FOLLOWED_RUN_BINARY_H
#define COLLECTORS_FOLLOWED_RUN_BINARY_H

#include "collectors/process/tree.h"

#define RUN_BINARY_TAIL 128

struct run_binary {           /* zeroed memory: nothing seen yet */
	pid_t pid;            /* of the process that was read */
	uint64_t stack_start; /* of it: another one when it executed something since */
	const char *
		architecture; /* as the catalogue calls it, "x86_64", "arm64", "i386"; NULL = unknown */
	char tail[RUN_BINARY_TAIL]; /* the end of the path of what was read; "" = unknown */
	int64_t pause_ns; /* until it is asked again, since it did not answer; 0 = it did */
	struct mono due;  /* when that is over */
	const char *
		cpu_level; /* of that architecture, see run_binary_cpu_level; NULL = it does not say */
};

void run_binary_look(struct run_binary *b, const struct host *h, const struct process_tree *tree);

/* From the first bytes of an executable; NULL: no ELF, or for another processor. */
const char *run_binary_architecture(const unsigned char *head, size_t len);

/*
 * The level of the x86-64 psABI whose instructions an executable says it needs: "x86-64", "x86-64-v2", -v3 or -v4, from
 * the first bytes of it. NULL: it does not say; one that asks the processor at run time (libraries of numerics do) says
 * the least.
 */
const char *run_binary_cpu_level(const unsigned char *head, size_t len);

/* From the path of an executable: "/usr/bin/qemu-aarch64-static" is arm64; NULL = no emulator. */
const char *run_binary_emulated(const char *path);

#endif
