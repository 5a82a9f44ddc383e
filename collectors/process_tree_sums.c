/* What the processes of a tree make together: counters that never fall, memory, and its peak. */
#include "collectors/process_tree.h"

#include <string.h>

static void sum_counters(const struct process_tree *t, uint64_t sum[TREE_COUNTERS])
{
	memcpy(sum, t->retained, sizeof t->retained);
	for (size_t i = 0; i < t->n; i++)
		for (size_t c = 0; c < TREE_COUNTERS; c++)
			sum[c] += t->member[i].counter[c];
}

uint64_t process_tree_cpu_ns(const struct process_tree *t)
{
	uint64_t sum[TREE_COUNTERS];

	sum_counters(t, sum);
	return sum[TREE_CPU_NS];
}

static void add_up(struct process_tree *t)
{
	uint64_t sum[TREE_COUNTERS];

	sum_counters(t, sum);

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

static bool is_live(const struct member *m)
{
	return !m->reaper && !m->zombie;
}

/* Memory that counts for the run: of one that is alone all of it, since libraries shared with strangers are its too. */
static uint64_t counted(const struct process_tree *t, const struct member *m, const struct host *h,
	uint64_t rss)
{
	return t->alone ? rss : member_memory(m, h, rss);
}

/*
 * The peak of the tree since the last look: the sum right now; or, for each process whose own mark rose, that
 * mark and what all others held at both looks. Marks of different processes are never added: they may have
 * happened at different times.
 */
static void raise_peak(struct process_tree *t, const struct host *h, uint64_t memory_now)
{
	uint64_t held = 0;

	if (memory_now > t->peak_bytes) {
		t->peak_bytes = memory_now;
		t->peak_is_sum = !t->alone;
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		if (is_live(m))
			held += counted(t, m, h,
				m->rss_bytes < m->last_rss_bytes ? m->rss_bytes :
								   m->last_rss_bytes);
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];
		uint64_t least =
			m->rss_bytes < m->last_rss_bytes ? m->rss_bytes : m->last_rss_bytes;

		if (!m->peak_rose)
			continue;
		raise_to(&t->peak_process_bytes, m->peak_bytes);
		uint64_t peak = counted(t, m, h, m->peak_bytes) + held - counted(t, m, h, least);

		if (peak > t->peak_bytes) {
			t->peak_bytes = peak;
			t->peak_is_sum = false;
		}
	}
}

/*
 * Reads PSS within the budget: whoever's reading is affordable and is missing, or stale since RSS moved by 10 % or
 * processes came or went. What costs more than a look's budget is saved up for, so a big process is read rarely.
 */
static void read_pss(struct process_tree *t, const struct host *h)
{
	t->pss_budget_ns += PSS_BUDGET_NS;
	for (size_t k = 0; k < t->n; k++) {
		struct member *m = &t->member[(k + t->looks) % t->n];
		uint64_t guess = m->rss_bytes / 1048576 * PSS_NS_PER_MIB + 10000;
		uint64_t cost = m->pss_cost_ns > guess ? m->pss_cost_ns : guess;
		uint64_t moved = m->rss_bytes > m->pss_rss_bytes ? m->rss_bytes - m->pss_rss_bytes :
								   m->pss_rss_bytes - m->rss_bytes;

		if (m->zombie || m->reaper || m->pss_refused || cost > t->pss_budget_ns ||
			(m->pss_bytes && m->pss_generation == t->generation &&
				moved <= m->pss_rss_bytes / 10))
			continue;
		m->pss_generation = t->generation;
		cost = member_read_pss(m, h);
		t->pss_budget_ns -= cost < t->pss_budget_ns ? cost : t->pss_budget_ns;
	}
}

static void sum_now(struct process_tree *t, const struct host *h, struct tree_now *now)
{
	uint64_t pss = 0;

	*now = (struct tree_now){.pss_known = true};
	for (size_t i = 0; i < t->n; i++)
		now->processes += is_live(&t->member[i]);
	t->alone = now->processes < 2;
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		if (!is_live(m))
			continue;
		now->threads += m->threads;
		now->rss_bytes += m->rss_bytes;
		now->swap_bytes += m->swap_bytes;
		pss += member_memory(m, h, m->rss_bytes);
		now->memory_bytes += counted(t, m, h, m->rss_bytes);
		t->io_known = t->io_known || m->io_known;
		now->unreadable += m->io_refused || m->fds_refused;
		now->pss_known = now->pss_known && (m->pss_bytes || m->rss_bytes == 0);
		if (m->fds_known) {
			now->open_fds += m->open_fds;
			now->open_fds_known = true;
		}
	}
	now->pss_bytes = pss;
}

void process_tree_sum(struct process_tree *t, const struct host *h, struct tree_now *now)
{
	sum_now(t, h, now);
	read_pss(t, h);
	sum_now(t, h, now);
	add_up(t);
	raise_peak(t, h, now->memory_bytes);
}
