/* Decides what becomes of the counters of a dead member. If an ancestor waited for the member, the
 * ancestor's counters already include them. If not, the tree adds them to `retained`. */
#ifndef COLLECTORS_PROCESS_TREE_DEAD_H
#define COLLECTORS_PROCESS_TREE_DEAD_H

#include "collectors/process/tree.h"

/* Finds members that vanished during the last readings and removes them. Decides whether their
 * counters went to an ancestor that waited, or must be added to `retained`. Call this function
 * after members were read.
 *
 * The possible heirs of a member are the ancestors that may have waited for it. After the call,
 * each member in the list still existed when its possible heirs were read. No counter then counts
 * twice. */
void process_tree_settle(struct process_tree *t, const struct host *h);

#endif
