/* What the processes of a tree make together: counters that never fall, memory, and its peak. */
#include "collectors/process_tree.h"

#include <string.h>

static void add_up(struct process_tree *t)
{
	uint64_t sum[TREE_COUNTERS];

	memcpy(sum, t->retained, sizeof sum);
	for (size_t i = 0; i < t->n; i++)
		for (size_t c = 0; c < TREE_COUNTERS; c++)
			sum[c] += t->member[i].counter[c];

	uint64_t cpu = sum[TREE_CPU_NS], system = sum[TREE_SYSTEM_NS];
	uint64_t grown = cpu > t->total[TREE_CPU_NS] ? cpu - t->total[TREE_CPU_NS] : 0;
	uint64_t grown_system =
		system > t->total[TREE_SYSTEM_NS] ? system - t->total[TREE_SYSTEM_NS] : 0;

	/* So that user time, the difference, never falls either. */
	sum[TREE_SYSTEM_NS] =
		t->total[TREE_SYSTEM_NS] + (grown_system < grown ? grown_system : grown);
	for (size_t c = 0; c < TREE_COUNTERS; c++)
		raise_to(&t->total[c], sum[c]);
}

/*
 * The peak of the tree since the last look: the sum right now; or, for each process whose own mark rose, that
 * mark and what all others held at both looks. Marks of different processes are never added: they may have
 * happened at different times.
 */
static void raise_peak(struct process_tree *t, uint64_t memory_now)
{
	uint64_t held = 0;

	raise_to(&t->peak_bytes, memory_now);
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		if (!m->reaper)
			held += member_memory(m, m->rss_bytes < m->last_rss_bytes ? m->rss_bytes : m->last_rss_bytes);
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];
		uint64_t least = m->rss_bytes < m->last_rss_bytes ? m->rss_bytes : m->last_rss_bytes;

		if (!m->peak_rose)
			continue;
		raise_to(&t->peak_process_bytes, m->peak_bytes);
		raise_to(&t->peak_bytes, m->peak_bytes + held - member_memory(m, least));
	}
}

/*
 * Reads PSS within the budget: whoever's reading is affordable and is missing or stale by 10 % of RSS. A
 * reading that costs more than a look's budget is saved up for, so a big process is read rarely.
 */
static void read_pss(struct process_tree *t, const struct host *h, size_t processes)
{
	t->pss_budget_ns += PSS_BUDGET_NS;
	if (processes < 2) { /* alone, nothing of its own is shared: RSS will do */
		t->pss_budget_ns = PSS_FIRST_BUDGET_NS;
		return;
	}
	for (size_t k = 0; k < t->n; k++) {
		struct member *m = &t->member[(k + t->looks) % t->n];
		uint64_t guess = m->rss_bytes / 1048576 * PSS_NS_PER_MIB + 10000;
		uint64_t cost = m->pss_cost_ns > guess ? m->pss_cost_ns : guess;
		uint64_t moved = m->rss_bytes > m->pss_rss_bytes ? m->rss_bytes - m->pss_rss_bytes :
								   m->pss_rss_bytes - m->rss_bytes;

		if (m->zombie || m->reaper || m->pss_refused || cost > t->pss_budget_ns ||
			(m->pss_bytes && moved <= m->pss_rss_bytes / 10))
			continue;
		cost = member_read_pss(m, h);
		t->pss_budget_ns -= cost < t->pss_budget_ns ? cost : t->pss_budget_ns;
	}
}

static void sum_now(const struct process_tree *t, struct tree_now *now)
{
	*now = (struct tree_now){.pss_known = true};
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		if (m->reaper || m->zombie)
			continue;
		now->processes++;
		now->threads += m->threads;
		now->rss_bytes += m->rss_bytes;
		now->swap_bytes += m->swap_bytes;
		now->memory_bytes += member_memory(m, m->rss_bytes);
		now->unreadable += m->io_refused || m->fds_refused;
		now->pss_known = now->pss_known && (m->pss_bytes || m->rss_bytes == 0);
		if (m->fds_known) {
			now->open_fds += m->open_fds;
			now->open_fds_known = true;
		}
	}
	now->pss_bytes = now->memory_bytes;
}

void process_tree_sum(struct process_tree *t, const struct host *h, struct tree_now *now)
{
	sum_now(t, now);
	read_pss(t, h, now->processes);
	sum_now(t, now);
	add_up(t);
	raise_peak(t, now->memory_bytes);
}
