/* The list of the members of a tree, and the index by pid. For the files of the tree. */
#ifndef COLLECTORS_PROCESS_TREE_INDEX_H
#define COLLECTORS_PROCESS_TREE_INDEX_H

#include "collectors/process/tree.h"

#define PROCESS_TREE_NONE SIZE_MAX
/* Puts a member that process_tree_enter let in at the end; returns its index. */
size_t process_tree_add(struct process_tree *t, const struct member *m);
/* Index of a member, PROCESS_TREE_NONE = none; and what keeps it so after members were removed. */
size_t process_tree_find(const struct process_tree *t, pid_t pid);
void process_tree_reindex(struct process_tree *t);
/* It goes out: what it holds is given back. The caller takes it from the list. */
void process_tree_drop(struct process_tree *t, size_t i);
/*
 * Children of one that ended went to an ancestor, perhaps one that does not run for it: whichever adopts orphans
 * (prctl(2), PR_SET_CHILD_SUBREAPER). They are asked.
 */
void process_tree_expect_orphans(struct process_tree *t, size_t of);

/* Counted with the members of all runs, before it is added; the reaper is not. False: there may be no more. */
bool process_tree_enter(struct process_tree *t, pid_t pid);
void process_tree_leave(struct process_tree *t, pid_t pid);

#endif
