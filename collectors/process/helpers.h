/* Helpers are processes below the root of a run that are not part of the run. All numbers of the
 * run leave them out. There are two kinds:
 *
 * - A process of this exporter's program, unless it is a wrapper (rightsize-exporter run). The
 *   exporter's program starts no processes. If such a process has children, it started them before
 *   it executed the exporter's program. They belong to the run.
 * - A process with RIGHTSIZE_HELPER=1 in its environment, or a process that a client declared. All
 *   descendants of this process are helpers, too.
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
	HELPER_EXPORTER, /* a process of this program; its children are no helpers */
	HELPER_DECLARED, /* a process that was declared a helper; its descendants are helpers, too */
};

/* Maximum number of living processes that clients have declared as helpers. */
#define HELPERS_MAX 1024

/* Data about helpers that all runs share. host->helpers points to it. */
struct helpers {
	uint64_t code_bytes; /* size of the code of this program; 0 = unknown */
	size_t n;
	struct declared_helper {
		pid_t pid;
		uint64_t start_ticks;
	} declared[HELPERS_MAX];
};

/* Reads the code size of this program. The size and the link /proc/PID/exe show whether a process
 * executes this program's file under another name (a link). */
void helpers_begin(struct helpers *ret, const struct host *h);

/* Declares the process as a helper until it ends. Returns 0; -ESRCH: there is no such process;
 * -ENOSPC: HELPERS_MAX living processes are declared. */
int helpers_declare(struct helpers *all, const struct host *h, pid_t pid);
bool helpers_declared(const struct helpers *all, pid_t pid, uint64_t start_ticks);

/* Returns the kind of helper that a process is. Reads its command line only if its name or its code
 * size may be those of an exporter. Reads its environment only if `environment` is true. */
enum helper_kind helper_kind_of(const struct host *h, const struct process_stat *s,
	bool environment);
/* Returns true if the environment of the process declares it as a helper. Returns false if the
 * environment is unreadable. */
bool helper_by_environment(const struct host *h, pid_t pid);

#endif
