/* Trees for tests: files in memory, and a tree whose n-th call fails. */
#ifndef TESTS_SUPPORT_TEST_TREE_H
#define TESTS_SUPPORT_TEST_TREE_H

#include "collectors/base/tree.h"

/* All files of a memory tree are on the mount with this number. Everybody may read them. */
#define MEMORY_TREE_MOUNT 1

/* Makes an empty tree in memory. A directory exists when a file is below it. The tree has no
 * descriptors that a reader could keep open. */
struct tree *memory_tree(void);
void tree_freep(struct tree **t); /* for AUTO; frees any kind of tree */

/* Adds or replaces a file. Copies `len` bytes of `data`. */
void memory_tree_file(struct tree *t, const char *path, const char *data, size_t len);
void memory_tree_text(struct tree *t, const char *path, const char *text);
void memory_tree_link(struct tree *t, const char *path, const char *target);
/* Removes a file, or everything below a directory. */
void memory_tree_remove(struct tree *t, const char *path);
/* Sets what tree_space() and tree_device() return for a path. For other paths, tree_space() returns
 * -ENOENT, and tree_device() sets the device 1. */
void memory_tree_space(struct tree *t, const char *path, struct tree_space space, uint64_t device);
/* Makes each access of `path` fail with `code` (for example -EACCES). 0 ends that. */
void memory_tree_refuse(struct tree *t, const char *path, int code);
/* Makes each read of `path` use this much CPU time of the thread, like a slow file of the
 * kernel. */
void memory_tree_cost(struct tree *t, const char *path, uint64_t ns);
/* Returns the number of reads of a path. */
size_t memory_tree_reads(struct tree *t, const char *path);

/* Makes a tree for tests that let each call fail in turn. It passes each call to `inner`, and each
 * call decrements *countdown. A call made while *countdown is 0 returns `code` instead. If
 * *countdown < 0, no call fails. Several trees may share a countdown. `inner` is not owned. */
struct tree *failing_tree(struct tree *inner, int *countdown, int code);

#endif
