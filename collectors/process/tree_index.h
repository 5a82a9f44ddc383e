/* The list of members of a tree and its index by pid. Only for the files of the tree. */
#ifndef COLLECTORS_PROCESS_TREE_INDEX_H
#define COLLECTORS_PROCESS_TREE_INDEX_H

#include "collectors/process/tree.h"

#define PROCESS_TREE_NONE SIZE_MAX
/* Appends a member that process_tree_enter has counted; returns its index. */
size_t process_tree_add(struct process_tree *t, const struct member *m);
/* Index of a member; PROCESS_TREE_NONE = none. Reindex after members were removed. */
size_t process_tree_find(const struct process_tree *t, pid_t pid);
void process_tree_reindex(struct process_tree *t);
/* Frees what a member holds and uncounts it. The caller removes it from the list. */
void process_tree_drop(struct process_tree *t, size_t i);
/*
 * Marks all ancestors of a member that ended to be searched for new children. The orphans went to a
 * subreaper (prctl(2), PR_SET_CHILD_SUBREAPER) that may be asleep.
 */
void process_tree_expect_orphans(struct process_tree *t, size_t of);

/* Counts a process before it is added; the reaper is not counted. False: limit reached. */
bool process_tree_enter(struct process_tree *t, pid_t pid);
void process_tree_leave(struct process_tree *t, pid_t pid);

#endif
