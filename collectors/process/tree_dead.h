/* Counters of dead members: they pass to the parent that waited, or stay with the tree. */
#ifndef COLLECTORS_PROCESS_TREE_DEAD_H
#define COLLECTORS_PROCESS_TREE_DEAD_H

#include "collectors/process/tree.h"

/*
 * Call it after members were read. Finds members that vanished meanwhile, decides whether their
 * counters went to a waiting ancestor or stay with the tree, and removes them. Afterwards every
 * member existed at a time after each of its possible heirs was read, so that no counter counts
 * twice.
 */
void process_tree_settle(struct process_tree *t, const struct host *h);

#endif
