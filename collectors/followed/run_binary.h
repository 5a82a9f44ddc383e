/*
 * The processor that a run needs: architecture and least CPU level in the ELF header of the
 * executable of the process with the most CPU time. A program in qemu's user mode counts as the
 * program that it emulates. A file on a network file system or FUSE is not opened, because it may
 * never answer; our own architecture is assumed. A file that does not answer
 * (collectors/base/tree_guard.h) is read later.
 *
 * Sampler thread only.
 */
#ifndef COLLECTORS_FOLLOWED_RUN_BINARY_H
#define COLLECTORS_FOLLOWED_RUN_BINARY_H

#include "collectors/process/tree.h"

#define RUN_BINARY_TAIL 128

struct run_binary {           /* zeroed memory: nothing seen yet */
	pid_t pid;            /* process that was read */
	uint64_t stack_start; /* of that process; it changes when the process executes a program */
	/* As in the server catalogue: "x86_64", "arm64", "i386"; NULL = unknown. */
	const char *architecture;
	char tail[RUN_BINARY_TAIL]; /* end of the path of the file that was read; "" = unknown */
	int64_t pause_ns; /* pause before the next try after a failure; 0 = the last read succeeded */
	struct mono due;       /* time of the next try */
	const char *cpu_level; /* see run_binary_cpu_level; NULL = the file does not state one */
};

void run_binary_look(struct run_binary *b, const struct host *h, const struct process_tree *tree);

/* The architecture, from the first bytes of an executable. NULL: not ELF, or an unknown one. */
const char *run_binary_architecture(const unsigned char *head, size_t len);

/*
 * The x86-64 psABI level that an executable states it needs: "x86-64", "x86-64-v2", "-v3" or "-v4",
 * from its first bytes. NULL: none stated. A program that checks the processor at run time, as
 * numerical libraries do, states the least.
 */
const char *run_binary_cpu_level(const unsigned char *head, size_t len);

/* The architecture that "/usr/bin/qemu-aarch64-static" emulates, arm64; NULL = no emulator. */
const char *run_binary_emulated(const char *path);

#endif
