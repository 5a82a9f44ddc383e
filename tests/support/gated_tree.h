/*
 * A folder like /proc with gates before its files: who comes to one that is shut waits until it is opened. For tests of
 * collectors/base/tree_guard.h, whose threads wait in its stead.
 */
#ifndef TESTS_SUPPORT_GATED_TREE_H
#define TESTS_SUPPORT_GATED_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/tree.h"

/* Texts of statm and status. */
#define IN_EXEC  "1 1 0 0 0 1 0\n"
#define RUNNING  "900 300 200 40 0 90 0\n"
#define SLEEPER  "Name:\tx\nState:\tS (sleeping)\nThreads:\t1\n"
#define MAPPING  "Name:\tx\nState:\tD (disk sleep)\nThreads:\t1\n"
#define THREADED "Name:\tx\nState:\tS (sleeping)\nThreads:\t2\n"

struct gated_world {
	char path[64];
	int top;
	struct tree *tree; /* guarded; the world's */
};

/* self: its statm. There is a process 8, which sleeps. One world at a time; the caller is its owner. */
struct gated_world *gated_world_new(const char *self);

/* The tree goes before those who still wait for it. */
void gated_world_freep(struct gated_world **owner); /* for AUTO */

void put_file(const struct gated_world *w, const char *path, const char *text);
void put_file_of(const struct gated_world *w, int pid, const char *file, const char *text);

/* With statm, stat and io alone. */
void put_locks(const struct gated_world *w, int pid, const char *statm);

/* Each of its files says its own name, but statm and status, which is that of its two threads as well. */
void put_gated(const struct gated_world *w, int pid, const char *statm, const char *status);

/* ---- gates: of a file, or of a folder and all below it ---- */

void gate_shut(const char *path);
void gate_shut_of(int pid, const char *file);
/* All; who waited goes on, and has by then. */
void gate_open(const struct gated_world *w);

/* A read of this path uses CPU time for so long; NULL: no path does. */
void gate_slow(const char *path, double seconds);

/* How often the owner's thread came by since this was last asked, and is this that thread? */
unsigned gate_passed(void);
bool gate_is_owner(void);

#endif
