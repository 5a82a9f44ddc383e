/* Network traffic, disk growth, processor needs and address-space limit of one run. Sampler thread
 * only. */
#ifndef COLLECTORS_FOLLOWED_RUN_PLACE_H
#define COLLECTORS_FOLLOWED_RUN_PLACE_H

#include "collectors/followed/run_addresses.h"
#include "collectors/followed/run_binary.h"
#include "collectors/followed/run_disk.h"
#include "collectors/followed/run_network.h"
#include "collectors/runs.h"

struct run_place { /* zeroed memory = nothing read yet */
	struct run_network network;
	struct run_disk disk;
	struct run_binary binary;
	struct run_addresses addresses;
};

/* Sets the network and disk values in `v`, and reads the executable and the limits. Call it after
 * process_tree_look, when `v` has the values of the tree. */
void run_place_look(struct run_place *p, const struct host *h, const struct process_tree *tree,
	double v[RUN_N_METRICS]);
void run_place_done(struct run_place *p);

#endif
