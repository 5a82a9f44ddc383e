/* The list of members of a tree, and its index by pid. Only the files tree*.c use this header. */
#ifndef COLLECTORS_PROCESS_TREE_INDEX_H
#define COLLECTORS_PROCESS_TREE_INDEX_H

#include "collectors/process/tree.h"

#define PROCESS_TREE_NONE SIZE_MAX
/* Appends a member and returns its index. Call process_tree_enter first, to count the member. */
size_t process_tree_add(struct process_tree *t, const struct member *m);
/* Returns the index of a member, or PROCESS_TREE_NONE. After members were removed, call
 * process_tree_reindex first. */
size_t process_tree_find(const struct process_tree *t, pid_t pid);
void process_tree_reindex(struct process_tree *t);
/* Frees the resources of a member and reduces the count of members. The caller removes it from the
 * list. */
void process_tree_drop(struct process_tree *t, size_t i);
/* Call this function when the member with the index `of` has ended, because the kernel gave its
 * orphaned children to one of its ancestors (prctl(2), PR_SET_CHILD_SUBREAPER). Makes the next
 * search read the children of all these ancestors. Otherwise the children of a sleeping ancestor
 * would not be read. */
void process_tree_expect_orphans(struct process_tree *t, size_t of);

/* Counts a process. Call it before process_tree_add. The reaper (struct member) is not counted.
 * Returns false when a limit is reached. */
bool process_tree_enter(struct process_tree *t, pid_t pid);
void process_tree_leave(struct process_tree *t, pid_t pid);

#endif
