/* Helpers: processes that a run may have below its root, but that are no part of it. They are left
 * out of all its numbers.
 *
 * - An exporter, except the wrapper (rightsize-exporter run), which starts jobs. An exporter starts
 *   no process: its children are from before it executed this program, and belong to the run.
 * - A process with RIGHTSIZE_HELPER=1 in its environment, or one that a client declared, with all
 *   its descendants.
 *
 * The root of a run is never a helper of that run. */
#ifndef COLLECTORS_PROCESS_HELPERS_H
#define COLLECTORS_PROCESS_HELPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/host.h"

struct process_stat;

enum helper_kind {
	HELPER_NONE,
	HELPER_EXPORTER, /* its children are no helpers */
	HELPER_DECLARED, /* its descendants are helpers, too */
};

/* Most living processes that clients have declared. */
#define HELPERS_MAX 1024

/* What all runs share. host->helpers points to it. */
struct helpers {
	uint64_t code_bytes; /* size of the code of this program; 0 = unknown */
	size_t n;
	struct declared_helper {
		pid_t pid;
		uint64_t start_ticks;
	} declared[HELPERS_MAX];
};

/* Reads the size of our own code, by which a copy of this program with another name is found. */
void helpers_begin(struct helpers *ret, const struct host *h);

/* Declares the process as a helper until it ends. Returns 0; -ESRCH: there is no such process;
 * -ENOSPC: HELPERS_MAX living processes are declared. */
int helpers_declare(struct helpers *all, const struct host *h, pid_t pid);
bool helpers_declared(const struct helpers *all, pid_t pid, uint64_t start_ticks);

/* Tells what a process is. Reads files only if its name or the size of its code may be those of an
 * exporter, or if `environment` is set: its environment then counts. */
enum helper_kind helper_kind_of(const struct host *h, const struct process_stat *s,
	bool environment);
/* Returns true if the environment of the process declares it as a helper. False if it is
 * unreadable. */
bool helper_by_environment(const struct host *h, pid_t pid);

#endif
