/* Settles the counters of dead members. They belong to the parent that waited, or stay with the
 * tree. */
#ifndef COLLECTORS_PROCESS_TREE_DEAD_H
#define COLLECTORS_PROCESS_TREE_DEAD_H

#include "collectors/process/tree.h"

/* Finds members that vanished while members were read, and removes them. Decides whether their
 * counters went to an ancestor that waited, or stay with the tree. Call it after members were read.
 * Afterwards every member existed after each of its possible heirs was read. Therefore no counter
 * counts twice. */
void process_tree_settle(struct process_tree *t, const struct host *h);

#endif
