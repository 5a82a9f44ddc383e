/* A folder like /proc whose files have gates. A reader of a file with a shut gate waits until the
 * gate opens. The tests of collectors/base/tree_guard.h use it: there a helper thread waits, and
 * not the caller. */
#ifndef TESTS_SUPPORT_GATED_TREE_H
#define TESTS_SUPPORT_GATED_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/tree.h"

/* Texts of the files `statm` and `status` of a process. */
#define IN_EXEC  "1 1 0 0 0 1 0\n"
#define RUNNING  "900 300 200 40 0 90 0\n"
#define SLEEPER  "Name:\tx\nState:\tS (sleeping)\nThreads:\t1\n"
#define MAPPING  "Name:\tx\nState:\tD (disk sleep)\nThreads:\t1\n"
#define THREADED "Name:\tx\nState:\tS (sleeping)\nThreads:\t2\n"

struct gated_world {
	char path[64];
	int top;
	struct tree *tree; /* the guarded tree; owned by the world */
};

/* Makes a world where process 8 exists and sleeps. `self` is the text of this process's own
 * `statm`. The calling thread is the world's owner. There may be only one world at a time. */
struct gated_world *gated_world_new(const char *self);

/* Frees the tree first. Then opens the gates for the threads that still wait at one. */
void gated_world_freep(struct gated_world **owner); /* for AUTO */

void put_file(const struct gated_world *w, const char *path, const char *text);
void put_file_of(const struct gated_world *w, int pid, const char *file, const char *text);

/* Makes a process with only statm, stat and io. */
void put_locks(const struct gated_world *w, int pid, const char *statm);

/* Makes a process. The text of each file is the file's name, except for statm and status. Both of
 * its threads have the same status. */
void put_gated(const struct gated_world *w, int pid, const char *statm, const char *status);

/* ---- gates of a file, or of a folder and everything below ---- */

void gate_shut(const char *path);
void gate_shut_of(int pid, const char *file);
/* Opens all gates, and returns when all waiting readers have passed. */
void gate_open(const struct gated_world *w);

/* Each read of this path uses this much CPU time; NULL = no path is slow. */
void gate_slow(const char *path, double seconds);

/* gate_passed() returns how often the owner's thread has read a file since the previous
 * gate_passed(). gate_is_owner() returns true in the owner's thread. */
unsigned gate_passed(void);
bool gate_is_owner(void);

#endif
