#include "collectors/accounting/exit_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/accounting/group_owner.h"
#include "collectors/process/pids.h"

/* Ticks to wait after a failed attempt to start a measurement. */
#define RETRY_TICKS 10

struct exit_cost_group {
	struct cgroup group;
	unsigned others; /* number of the set of foreign processes in the group (lineage.h) */
	struct exit_cost *runs;
	/* Values of the last exit_cost_groups_read. */
	bool listed;
	struct pids present;
	uint64_t listed_at_ns;
	double usage_seconds;
	/* Values at the start of the measurement. */
	bool measuring;
	double usage_before;
	struct lineage_group before;
	unsigned wait_ticks;
};

static double seconds_between(uint64_t earlier_ns, uint64_t later_ns)
{
	return ((double)later_ns - (double)earlier_ns) / 1e9;
}

/* ---- runs ---- */

void exit_cost_estimate(struct exit_cost *r, const struct lineage_tally *now)
{
	r->seconds += seconds_between(r->last.ends_ns, now->ends_ns);
	r->missed_seconds += seconds_between(r->last.unseen_ns, now->unseen_ns);
	r->last = *now;
}

static void estimate_all(struct exit_cost_group *g, struct exit_events *x)
{
	for (struct exit_cost *r = g->runs; r; r = r->next) {
		struct lineage_tally now;

		lineage_tally(exit_events_book(x), r->run, &now);
		exit_cost_estimate(r, &now);
	}
}

/* Sums over all process ends in the group since the measurement began. `seconds`: measured CPU
 * time. `more_seconds`: amount by which the true CPU time may exceed `seconds`. `weight`: estimated
 * CPU time. `most`: elapsed time. */
struct measured {
	double seconds, more_seconds, weight, most;
};

/* Gives the run its share of the measured cost of process ends in the group. The share is
 * proportional to the estimated cost of the run's own ends, within two bounds:
 * - At most the elapsed time of the run's own ends. An end cannot use more CPU time than it took.
 * - At least the measured cost minus the elapsed time of all other ends in the group. */
static void take_share(struct exit_cost *r, const struct lineage_tally *now,
	const struct measured *m)
{
	double weight = seconds_between(r->before.ends_weight_ns, now->ends_weight_ns);
	double most = seconds_between(r->before.ends_most_ns, now->ends_most_ns);
	double share = m->seconds * fmin(fmax(weight / m->weight, 0), 1);

	share = fmin(fmax(share, m->seconds - (m->most - most)), most);
	double missed = fmin(most, m->seconds + m->more_seconds) - share;

	r->seconds = r->seconds_before + share;
	r->missed_seconds = r->missed_before + fmax(missed, 0);
	r->last = *now;
}

/* ---- groups ---- */

static void list_group(struct exit_cost_group *g, const struct host *h)
{
	clock_read(CLOCK_MONOTONIC, &g->listed_at_ns);
	g->present.n = 0;
	g->listed = cgroup_place_processes(cgroup_cpu_place(&g->group), h, pids_add, &g->present) ==
			    0 &&
		    g->present.n <= EXIT_COST_PROCESSES_MAX;
	for (size_t i = 0; i < g->present.n; i++)
		g->listed = g->listed && g->present.pid[i];
}

static enum lineage_change compare_group(struct exit_cost_group *g, struct exit_events *x)
{
	struct lineage_listing listing = {g->present, g->listed_at_ns};

	return exit_events_compare(x, g->others, &listing);
}

/* Starts a measurement. Reads the clocks of the processes first and the group's usage second. CPU
 * time that is used between the two readings is then part of the usage at the start. It cannot
 * count as the cost of ends. */
static void begin_measuring(struct exit_cost_group *g, struct exit_events *x, const struct host *h)
{
	g->measuring = false;
	if (g->wait_ticks > 0) {
		g->wait_ticks--;
		return;
	}
	g->wait_ticks = RETRY_TICKS;
	if (cgroup_has_groups_below(cgroup_cpu_place(&g->group), cgroup_cpu_place(&g->group)))
		return;
	list_group(g, h);
	if (!g->listed || compare_group(g, x) == LINEAGE_RUN_ELSEWHERE)
		return;
	g->wait_ticks = 0;
	exit_events_settle(x);
	lineage_group(exit_events_book(x), g->others, &g->before);
	estimate_all(g, x);
	g->usage_before = cgroup_cpu_seconds(&g->group, h);
	g->measuring = !isnan(g->usage_before);
	for (struct exit_cost *r = g->runs; r; r = r->next) {
		r->before = r->last;
		r->seconds_before = r->seconds;
		r->missed_before = r->missed_seconds;
	}
}

/* Measures the CPU time of process ends in a group: the growth of the group's usage minus the
 * growth of the recorded CPU time. Returns false if no process ended, or if this difference is not
 * plausible:
 * - Below half of the estimate: a process of the group must have run in another group.
 * - Above the elapsed time of the ends: a process must have entered and left the group between two
 *   ticks. */
static bool measure_ends(const struct exit_cost_group *g, const struct lineage_group *now,
	struct measured *ret)
{
	double recorded = seconds_between(g->before.cpu_ns, now->cpu_ns);

	ret->most = seconds_between(g->before.ends_most_ns, now->ends_most_ns);
	ret->seconds = g->usage_seconds - g->usage_before - recorded;
	ret->weight = seconds_between(g->before.ends_weight_ns, now->ends_weight_ns);
	return ret->weight > 0 && ret->seconds >= ret->weight / 2 && ret->seconds <= ret->most;
}

static void measure_group(struct exit_cost_group *g, struct exit_events *x, const struct host *h)
{
	struct lineage_group now;
	struct measured m;
	bool same = g->measuring && g->listed && compare_group(g, x) == LINEAGE_SAME;

	lineage_group(exit_events_book(x), g->others, &now);
	if (!same || now.breaks != g->before.breaks) {
		estimate_all(g, x);
		begin_measuring(g, x, h);
		return;
	}
	if (!measure_ends(g, &now, &m)) {
		estimate_all(g, x);
		return;
	}
	m.more_seconds = fmax(cgroup_cpu_seconds(&g->group, h) - g->usage_seconds, 0);
	for (struct exit_cost *r = g->runs; r; r = r->next) {
		struct lineage_tally tally;

		lineage_tally(exit_events_book(x), r->run, &tally);
		take_share(r, &tally, &m);
	}
}

void exit_cost_groups_read(struct exit_cost_groups *all, const struct host *h)
{
	for (size_t i = 0; i < all->n; i++) {
		struct exit_cost_group *g = all->group[i];

		if (!g->measuring)
			continue;
		list_group(g, h);
		g->usage_seconds = cgroup_cpu_seconds(&g->group, h);
	}
}

void exit_cost_groups_measure(struct exit_cost_groups *all, struct exit_events *x,
	const struct host *h)
{
	for (size_t i = 0; i < all->n; i++)
		measure_group(all->group[i], x, h);
}

/* ---- the group of a run ---- */

/* Returns false for the v2 root group. The kernel counts its CPU time in ticks, which are too
 * coarse for this measurement. The root group is the only group without a file cgroup.type. */
static bool is_counted(const struct cgroup_place *p)
{
	char file[CGROUP_FILE_MAX];

	return p->version == 1 ||
	       (p->version == 2 && tree_size(p->tree, cgroup_file(p, "cgroup.type", file)) >= 0);
}

static struct exit_cost_group *group_of(struct exit_cost_groups *all, struct exit_events *x,
	const struct cgroup *group)
{
	const struct cgroup_place *place = cgroup_cpu_place(group);

	for (size_t i = 0; i < all->n; i++) {
		const struct cgroup_place *p = cgroup_cpu_place(&all->group[i]->group);

		if (p->tree == place->tree && strcmp(p->path, place->path) == 0)
			return all->group[i];
	}
	GROW(all->group, all->n, all->room);
	struct exit_cost_group *g = all->group[all->n++] = xcalloc(1, sizeof *g);

	g->group = *group;
	g->others = lineage_begin_others(exit_events_book(x));
	return g;
}

void exit_cost_begin(struct exit_cost *r, struct exit_cost_groups *all, struct exit_events *x,
	unsigned run, const struct cgroup *group, const struct host *h)
{
	*r = (struct exit_cost){.run = run};
	if (!group || !is_counted(cgroup_cpu_place(group)))
		return;
	struct exit_cost_group *g = r->group = group_of(all, x, group);

	r->next = g->runs;
	g->runs = r;
	lineage_share(exit_events_book(x), run, g->others);
	g->wait_ticks = 0;
	begin_measuring(g, x, h);
}

static void group_free(struct exit_cost_groups *all, struct exit_cost_group *g,
	struct exit_events *x)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (all->group[i] != g)
			all->group[n++] = all->group[i];
	all->n = n;
	if (n == 0) {
		free(all->group);
		*all = (struct exit_cost_groups){0};
	}
	lineage_forget(exit_events_book(x), g->others);
	pids_done(&g->present);
	free(g);
}

void exit_cost_done(struct exit_cost *r, struct exit_cost_groups *all, struct exit_events *x)
{
	struct exit_cost_group *g = r->group;

	if (!g)
		return;
	for (struct exit_cost **at = &g->runs; *at; at = &(*at)->next)
		if (*at == r) {
			*at = r->next;
			break;
		}
	if (!g->runs)
		group_free(all, g, x);
	*r = (struct exit_cost){0};
}
