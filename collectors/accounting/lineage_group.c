/* Whoever shares a control group: the runs in it, and the others. */
#include "collectors/accounting/lineage_private.h"

#include <stdlib.h>

#include "collectors/base/mem.h"

unsigned lineage_begin_others(struct lineage *l)
{
	unsigned others = lineage_number(l);

	l->run[others].others = others;
	return others;
}

void lineage_share(struct lineage *l, unsigned run, unsigned others)
{
	l->run[run].others = others;
	lineage_break(l, run);
}

static bool is_of_group(const struct lineage *l, const struct entry *e, unsigned others)
{
	return l->run[e->run].others == others;
}

/* ---- who is in it ---- */

static int compare_pids(const void *a, const void *b)
{
	const pid_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

static bool is_listed(const struct lineage_listing *listing, pid_t pid)
{
	return listing->n && bsearch(&pid, listing->pid, listing->n, sizeof pid, compare_pids);
}

/*
 * A birth is told before the newborn is in its group (kernel/fork.c, copy_process), and what is between may be a while on
 * a busy machine. A record is made before the group is left.
 */
#define NEWBORN_NS 1000000000

static bool is_outside(const struct entry *e, const struct lineage_listing *listing)
{
	return !e->gone && !e->recorded && e->born_ns + NEWBORN_NS < listing->at_ns &&
	       !is_listed(listing, e->pid);
}

static bool has_left(const struct entry *e, unsigned others)
{
	return e->run == others && e->outside;
}

/* Those who came in, and live. */
static bool take_in(struct lineage *l, unsigned others, const struct lineage_listing *listing,
	lineage_clock *clock, void *context)
{
	bool any = false;

	for (size_t i = 0; i < listing->n; i++) {
		pid_t pid = listing->pid[i];
		size_t at = lineage_find(l, pid);
		uint64_t ns;

		if (at != LINEAGE_NONE && is_of_group(l, &l->entry[at], others))
			continue;
		if (!clock(context, pid, &ns))
			continue;
		lineage_add(l, others, pid);
		any = true;
	}
	return any;
}

enum lineage_change lineage_compare(struct lineage *l, unsigned others,
	const struct lineage_listing *listing, lineage_clock *clock, void *context)
{
	enum lineage_change ret = LINEAGE_SAME;
	bool any_left = false;

	if (listing->n)
		qsort(listing->pid, listing->n, sizeof *listing->pid, compare_pids);
	if (take_in(l, others, listing, clock, context))
		ret = LINEAGE_OTHERS_CHANGED;
	for (size_t i = 0; i < l->n; i++) {
		struct entry *e = &l->entry[i];

		e->outside = is_of_group(l, e, others) && is_outside(e, listing);
		if (e->outside && e->run != others)
			ret = LINEAGE_RUN_ELSEWHERE;
		any_left = any_left || has_left(e, others);
	}
	if (lineage_reaches_out(l, others))
		ret = LINEAGE_RUN_ELSEWHERE;
	if (any_left) {
		lineage_remove_where(l, has_left, others);
		if (ret == LINEAGE_SAME)
			ret = LINEAGE_OTHERS_CHANGED;
	}
	if (ret != LINEAGE_SAME)
		l->run[others].breaks++;
	return ret;
}

/* ---- what it did ---- */

static void add_run(struct lineage_group *g, const struct run_book *r)
{
	g->cpu_ns += r->all.cpu_ns - r->base_ns;
	g->ends_weight_ns += r->all.ends_weight_ns;
	g->ends_most_ns += r->all.ends_most_ns;
}

void lineage_group(const struct lineage *l, unsigned others, struct lineage_group *ret)
{
	*ret = (struct lineage_group){.breaks = l->run[others].breaks};
	for (size_t i = 0; i < l->n_runs; i++)
		if (l->run[i].taken && l->run[i].others == others)
			add_run(ret, &l->run[i]);
}
