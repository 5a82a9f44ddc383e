/*
 * Trees for tests: files in memory, and a tree that fails its n-th call.
 */
#ifndef TESTS_SUPPORT_TEST_TREE_H
#define TESTS_SUPPORT_TEST_TREE_H

#include "collectors/base/tree.h"

/* In a tree in memory everything is on the mount of this number, and anybody's to read. */
#define MEMORY_TREE_MOUNT 1

/*
 * An empty tree in memory. Directories exist as soon as a file below them does. No descriptor can be kept.
 */
struct tree *memory_tree(void);
void tree_freep(struct tree **t); /* of any kind, for AUTO */

/* Adds or replaces a file; len bytes of data are copied. */
void memory_tree_file(struct tree *t, const char *path, const char *data, size_t len);
void memory_tree_text(struct tree *t, const char *path, const char *text);
void memory_tree_link(struct tree *t, const char *path, const char *target);
/* Removes a file, or everything below a directory. */
void memory_tree_remove(struct tree *t, const char *path);
/* Sets the answers of tree_space and tree_device for a path; unset: -ENOENT and 1. */
void memory_tree_space(struct tree *t, const char *path, struct tree_space space, uint64_t device);
/* Each access of path gives code (for example -EACCES) instead of its content; 0 undoes it. */
void memory_tree_refuse(struct tree *t, const char *path, int code);
/* Each read of path costs so much CPU time of the thread, as slow files of the kernel do. */
void memory_tree_cost(struct tree *t, const char *path, uint64_t ns);
/* How often a path was read. */
size_t memory_tree_reads(struct tree *t, const char *path);

/*
 * For fault sweeps: every call on the result goes to inner, but call number *countdown (counted down to 0
 * over all failing trees that share it) answers code. Does not own inner; countdown < 0 never fails.
 */
struct tree *failing_tree(struct tree *inner, int *countdown, int code);

#endif
