#include "collectors/accounting/helper_use.h"

#include <math.h>

#include "collectors/base/number.h"

void helper_use_clock_begins(struct helper_use *u, const struct process_tree *tree)
{
	uint64_t ended_ns = process_tree_helpers(tree, TREE_CPU_NS);

	u->n_unclocked = 0;
	for (size_t i = 0; i < tree->n && u->n_unclocked < UNCLOCKED_MAX; i++) {
		const struct member *m = &tree->member[i];
		uint64_t ns = m->counter[TREE_CPU_NS];

		if (!m->helper)
			continue;
		u->unclocked[u->n_unclocked++] =
			(struct unclocked_helper){m->pid, m->start_ticks, ns};
		ended_ns -= ns;
	}
	u->seconds_before = (double)ended_ns / 1e9;
}

static double unclocked_seconds(struct helper_use *u, const struct process_tree *tree)
{
	double seconds = u->seconds_before;

	for (size_t k = 0; k < u->n_unclocked; k++) {
		struct unclocked_helper *x = &u->unclocked[k];

		for (size_t i = 0; i < tree->n; i++)
			if (tree->member[i].pid == x->pid &&
				tree->member[i].start_ticks == x->start_ticks)
				raise_to(&x->cpu_ns, tree->member[i].counter[TREE_CPU_NS]);
		seconds += (double)x->cpu_ns / 1e9;
	}
	return seconds;
}

void helper_use_look(struct helper_use *u, const struct process_tree *tree)
{
	u->seconds = (double)process_tree_helpers(tree, TREE_CPU_NS) / 1e9;
	u->system_seconds = (double)process_tree_helpers(tree, TREE_SYSTEM_NS) / 1e9;
	u->unclocked_seconds = unclocked_seconds(u, tree);
	u->unsure_seconds = (double)tree->helpers_unsure_ns / 1e9;
	u->unseen = tree->helper_unseen;
}

/* Returns `all` minus `part`, but at least 0. NaN stays NaN. */
static double without(double all, double part)
{
	return all < part ? 0 : all - part;
}

void helper_use_leave_out_memory(const struct process_tree *tree, double value[RUN_N_METRICS])
{
	double *all = &value[RUN_MEMORY_CGROUP_BYTES];
	double *all_shmem = &value[RUN_MEMORY_CGROUP_SHMEM_BYTES];
	double shmem = (double)process_tree_helper_bytes(tree, MEMORY_SHMEM);
	double private = (double)process_tree_helper_bytes(tree, MEMORY_ANONYMOUS);

	*all = without(*all, private + shmem);
	*all_shmem = without(*all_shmem, shmem);
	value[RUN_MEMORY_CGROUP_PEAK_BYTES] = NAN;
}

double helper_use_foreign(const struct helper_use *u, double beyond)
{
	return u->unsure_seconds + (u->unseen ? fmax(beyond, 0) : 0);
}
