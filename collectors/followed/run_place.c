#include "collectors/followed/run_place.h"

#include <math.h>

static pid_t first_living(const struct process_tree *tree)
{
	for (size_t i = 0; i < tree->n; i++)
		if (member_counts(&tree->member[i]) && !tree->member[i].zombie)
			return member_shown_by(&tree->member[i]);
	return 0;
}

/* Returns the pid of the process that is the parent of the run's root; 0 = unknown. */
static pid_t outside_of(const struct process_tree *tree)
{
	for (size_t i = 0; i < tree->n; i++)
		if (!tree->member[i].reaper && !process_tree_has(tree, tree->member[i].ppid))
			return tree->member[i].ppid;
	return 0;
}

static struct run_disk_writes writes_of(const struct process_tree *tree,
	const double v[RUN_N_METRICS])
{
	double written = v[RUN_UNREADABLE_PROCESSES] > 0 ? (double)NAN : v[RUN_DISK_WRITTEN_BYTES];

	return (struct run_disk_writes){written, (double)tree->total[TREE_CANCELLED_BYTES]};
}

void run_place_look(struct run_place *p, const struct host *h, const struct process_tree *tree,
	double v[RUN_N_METRICS])
{
	pid_t pid = first_living(tree);

	run_network_look(&p->network, h, pid, &v[RUN_NETWORK_RECEIVED_BYTES],
		&v[RUN_NETWORK_SENT_BYTES]);
	double disk = run_disk_look(&p->disk, h, pid, outside_of(tree), writes_of(tree, v));

	if (!isnan(disk))
		v[RUN_DISK_GROWN_BYTES] = disk;
	run_binary_look(&p->binary, h, tree);
	run_addresses_look(&p->addresses, h, tree);
}

void run_place_done(struct run_place *p)
{
	run_disk_done(&p->disk);
}
