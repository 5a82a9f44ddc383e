/* Conservation of what the dead of a tree used. */
#ifndef COLLECTORS_PROCESS_TREE_DEAD_H
#define COLLECTORS_PROCESS_TREE_DEAD_H

#include "collectors/process/tree.h"

/*
 * After members were read. Finds who vanished meanwhile too, settles what became of
 * their time, and removes them. Afterwards every member was there later than any that may wait for it was read, so
 * that none is counted in two places.
 */
void process_tree_settle(struct process_tree *t, const struct host *h);

#endif
