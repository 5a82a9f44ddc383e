/* What the processes of a tree make together: counters that never fall, memory, and its peak. */
#include "collectors/process/tree.h"

#include <string.h>

static void sum_counters(const struct process_tree *t, uint64_t sum[TREE_COUNTERS])
{
	memcpy(sum, t->retained, sizeof t->retained);
	for (size_t i = 0; i < t->n; i++)
		for (size_t c = 0; c < TREE_COUNTERS; c++)
			sum[c] += t->member[i].counter[c];
	/* A child from before the run, whom its parent got in ticks, may be less than what was taken off for it. */
	for (size_t c = 0; c < TREE_COUNTERS; c++)
		if (sum[c] > UINT64_MAX / 2)
			sum[c] = 0;
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
		t->peak_is_seen = !t->alone || t->from_now;
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
			t->peak_is_seen = m->peak_bytes <= m->old_mark_bytes;
		}
	}
}

static uint64_t pss_cost(const struct member *m)
{
	uint64_t guess = m->rss_bytes / 1048576 * PSS_NS_PER_MIB + 10000;

	return m->pss_cost_ns > guess ? m->pss_cost_ns : guess;
}

/*
 * Missing, or stale since RSS moved by 10 % or processes came or went. Moved since: the stat file's RSS is that of
 * smaps_rollup but for what the CPUs have not added up yet, and of a small process that is more than a tenth.
 */
static bool pss_is_due(const struct process_tree *t, const struct member *m)
{
	uint64_t moved = m->rss_bytes > m->pss_stat_bytes ? m->rss_bytes - m->pss_stat_bytes :
							    m->pss_stat_bytes - m->rss_bytes;

	return is_live(m) && !m->pss_refused &&
	       (!m->pss_bytes || m->pss_generation != t->generation ||
		       moved > m->pss_stat_bytes / 10);
}

/*
 * Reads PSS that is due, within the budget, and says whether any was. What costs more than a look's budget is saved
 * up for, so a big process is read rarely; deferred: how many are.
 */
static bool read_pss(struct process_tree *t, const struct host *h, size_t *deferred)
{
	uint64_t most = PSS_FIRST_BUDGET_NS;
	bool any = false;

	*deferred = 0;
	t->pss_budget_ns += PSS_BUDGET_NS;
	for (size_t k = 0; k < t->n; k++) {
		struct member *m = &t->member[(k + t->looks) % t->n];
		uint64_t cost = pss_cost(m);

		if (!pss_is_due(t, m))
			continue;
		if (cost > t->pss_budget_ns) {
			raise_to(&most, cost);
			++*deferred;
			continue;
		}
		any = true;
		/* Where it could not be read it stays due. */
		if (member_read_pss(m, h, &cost))
			m->pss_generation = t->generation;
		t->pss_budget_ns -= cost < t->pss_budget_ns ? cost : t->pss_budget_ns;
	}
	/* However long nothing was due: what was saved up is spent at once. */
	if (t->pss_budget_ns > most)
		t->pss_budget_ns = most;
	return any;
}

static void add_memory(struct tree_now *now, const struct member *m, const struct host *h)
{
	double age = mono_seconds_between(m->pss_at, h->now.mono);

	now->rss_bytes += m->rss_bytes;
	now->swap_bytes += m->swap_bytes;
	now->pss_bytes += member_memory(m, h, m->rss_bytes);
	now->huge_bytes += m->huge_bytes;
	for (size_t i = 0; i < MEMORY_KINDS; i++)
		now->kind_bytes[i] += m->kind_bytes[i];
	now->kinds_known = now->kinds_known && m->kinds_known;
	now->pss_known = now->pss_known && (m->pss_bytes || m->rss_bytes == 0);
	if (m->pss_bytes && age > now->pss_age_seconds)
		now->pss_age_seconds = age;
}

static void sum_now(struct process_tree *t, const struct host *h, struct tree_now *now)
{
	*now = (struct tree_now){.pss_known = true, .kinds_known = true};
	for (size_t i = 0; i < t->n; i++)
		now->processes += is_live(&t->member[i]);
	t->alone = now->processes < 2;
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		if (!is_live(m))
			continue;
		now->threads += m->threads;
		add_memory(now, m, h);
		now->memory_bytes += counted(t, m, h, m->rss_bytes);
		now->shmem_counted += t->alone ? m->kind_bytes[MEMORY_SHMEM] : member_shmem(m, h);
		t->io_known = t->io_known || m->io_known;
		now->unreadable += m->io_refused || m->fds_refused;
		if (m->fds_known) {
			now->open_fds += m->open_fds;
			now->open_fds_known = true;
		}
	}
}

void process_tree_sum(struct process_tree *t, const struct host *h, struct tree_now *now)
{
	size_t deferred;

	sum_now(t, h, now);
	if (read_pss(t, h, &deferred))
		sum_now(t, h, now);
	now->pss_deferred = deferred;
	add_up(t);
	raise_peak(t, h, now->memory_bytes);
}
