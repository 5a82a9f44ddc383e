/* Trees for tests: files in memory, and a tree whose n-th call fails. */
#ifndef TESTS_SUPPORT_TEST_TREE_H
#define TESTS_SUPPORT_TEST_TREE_H

#include "collectors/base/tree.h"

/* In a memory tree everything is on the mount with this number, and readable for all. */
#define MEMORY_TREE_MOUNT 1

/* Makes an empty tree in memory. A directory exists when a file is below it. Descriptors cannot be
 * kept. */
struct tree *memory_tree(void);
void tree_freep(struct tree **t); /* of any kind, for AUTO */

/* Adds or replaces a file. Copies `len` bytes of `data`. */
void memory_tree_file(struct tree *t, const char *path, const char *data, size_t len);
void memory_tree_text(struct tree *t, const char *path, const char *text);
void memory_tree_link(struct tree *t, const char *path, const char *target);
/* Removes a file, or everything below a directory. */
void memory_tree_remove(struct tree *t, const char *path);
/* Sets the results of tree_space() and tree_device() for a path. The defaults are -ENOENT and 1. */
void memory_tree_space(struct tree *t, const char *path, struct tree_space space, uint64_t device);
/* Lets each access of `path` return `code` (for example -EACCES); 0 = normal again. */
void memory_tree_refuse(struct tree *t, const char *path, int code);
/* Lets each read of `path` use this much CPU time of the thread, like slow files of the kernel. */
void memory_tree_cost(struct tree *t, const char *path, uint64_t ns);
/* Returns the number of reads of a path. */
size_t memory_tree_reads(struct tree *t, const char *path);

/* For fault sweeps: passes all calls to `inner`, except that the call that counts *countdown down
 * to 0 returns `code`. Several trees may share a countdown. `inner` is not owned; *countdown < 0 =
 * no failure. */
struct tree *failing_tree(struct tree *inner, int *countdown, int code);

#endif
