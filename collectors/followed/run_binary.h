/* The processor that a run needs: the architecture and the lowest CPU level. Both are read from the
 * first 4096 bytes of one ELF executable, that of the process with the most CPU time. If it is an
 * emulator of qemu's user mode, the emulated architecture counts.
 *
 * A file on a network file system or FUSE is not opened, because the file system may never answer.
 * Our own architecture is then assumed. A file that does not answer in time
 * (collectors/base/tree_guard.h) is read later.
 *
 * Sampler thread only. */
#ifndef COLLECTORS_FOLLOWED_RUN_BINARY_H
#define COLLECTORS_FOLLOWED_RUN_BINARY_H

#include "collectors/process/tree.h"

#define RUN_BINARY_TAIL 128

struct run_binary {           /* zeroed memory = nothing read yet */
	pid_t pid;            /* the process that was read */
	uint64_t stack_start; /* changes when that process executes a program */
	/* The name used in the server catalogue: "x86_64", "arm64", "i386"; NULL = unknown. */
	const char *architecture;
	char tail[RUN_BINARY_TAIL]; /* end of the path of the executable; "" = unknown */
	int64_t pause_ns;           /* pause before the next try; 0 = the last try succeeded */
	struct mono due;            /* time of the next try */
	const char *cpu_level;      /* see run_binary_cpu_level; NULL = not stated */
};

void run_binary_look(struct run_binary *b, const struct host *h, const struct process_tree *tree);

/* Returns the architecture, from the first bytes of an executable. Returns NULL for a file that is
 * not ELF, or for an unknown architecture. */
const char *run_binary_architecture(const unsigned char *head, size_t len);

/* Returns the lowest x86-64 psABI level that an executable needs, according to its first bytes:
 * "x86-64", "x86-64-v2", "x86-64-v3" or "x86-64-v4". Returns NULL when the executable states no
 * level. Numerical libraries often choose faster code at run time, and may use a higher level. */
const char *run_binary_cpu_level(const unsigned char *head, size_t len);

/* Returns the architecture that an emulator emulates: "arm64" for "/usr/bin/qemu-aarch64-static".
 * Returns NULL when the program is not an emulator. */
const char *run_binary_emulated(const char *path);

#endif
