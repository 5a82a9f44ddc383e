#include "collectors/process/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/process/pids.h"
#include "collectors/process/tree_dead.h"
#include "collectors/process/tree_index.h"

/* ---- new members ---- */

/* Returns true for a failure that may be over at the next tick. Returns false if the process is
 * gone or belongs to another user. */
static bool is_passing(int code)
{
	return code < 0 && !process_gone(code) && !process_refused(code);
}

static bool is_fork_of(const struct member *parent, uint64_t stack_start)
{
	return stack_start && parent->stack_start == stack_start;
}

static void set_helper(struct process_tree *t, struct member *m, enum helper_kind kind)
{
	m->helper = kind;
	t->any_helper = t->any_helper || kind;
	if (kind)
		raise_to(&t->helper_peak_bytes, m->peak_bytes);
}

/* Returns the kind of helper that a new process is. Reads the environment only if the process has
 * executed a program: after a mere fork, it is the same as the parent's. */
static enum helper_kind kind_of_new(const struct process_tree *t, const struct host *h,
	const struct process_stat *s, size_t parent)
{
	bool known = parent != PROCESS_TREE_NONE;

	if (known && t->member[parent].helper == HELPER_DECLARED)
		return HELPER_DECLARED;
	bool read = s->stack_start && !t->root_declares &&
		    !(known && is_fork_of(&t->member[parent], s->stack_start));

	return helper_kind_of(h, s, read);
}

/* Marks all descendants of declared helpers as helpers, too. One pass is mostly enough, because
 * most parents come before their children in the list. */
static void pass_on_helper(struct process_tree *t)
{
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < t->n; i++) {
			size_t parent = process_tree_find(t, t->member[i].ppid);

			if (i == parent || parent == PROCESS_TREE_NONE || t->member[i].root ||
				t->member[i].reaper || t->member[i].helper == HELPER_DECLARED ||
				t->member[parent].helper != HELPER_DECLARED)
				continue;
			set_helper(t, &t->member[i], HELPER_DECLARED);
			again = true;
		}
	}
}

/* Checks whether members became helpers when they executed a program. A helper stays a helper. */
static void look_at_programs(struct process_tree *t, const struct host *h)
{
	bool any = false;

	for (size_t i = 0; i < t->n; i++) {
		struct member *m = &t->member[i];
		struct process_stat s;

		if (!m->program_due || m->vanished || m->zombie || m->reaper)
			continue;
		if (m->root) {
			t->root_declares = helper_by_environment(h, m->pid);
		} else if (!m->helper) {
			if (process_read_stat(h, m->pid, &s) < 0)
				continue;
			set_helper(t, m, helper_kind_of(h, &s, !t->root_declares));
			any = any || m->helper;
		}
		m->program_due = false;
	}
	if (any)
		pass_on_helper(t);
}

/* Adds the process `pid` to the tree. Its parent must be `ppid` or a member of the tree; `ppid` 0
 * accepts any parent. Returns -ESRCH when the process is gone or outside the run. */
static int take_in(struct process_tree *t, const struct host *h, pid_t pid, pid_t ppid)
{
	struct process_stat s;
	int code = process_read_stat(h, pid, &s);

	if (code < 0)
		return code;
	if (ppid && s.ppid != ppid && process_tree_find(t, s.ppid) == PROCESS_TREE_NONE)
		return -ESRCH;
	struct member m = {.pid = pid, .start_ticks = s.start_ticks, .stack_start = s.stack_start};
	size_t parent = process_tree_find(t, s.ppid);

	/* The reaper is the wrapper that waits for the run's processes. Ignore a child that it had
	 * before the run began. */
	if (parent != PROCESS_TREE_NONE && t->member[parent].reaper &&
		s.start_ticks < t->start_ticks)
		return -ESRCH;
	if (parent != PROCESS_TREE_NONE && is_fork_of(&t->member[parent], s.stack_start))
		m.inherited_bytes = t->member[parent].rss_bytes;
	set_helper(t, &m, kind_of_new(t, h, &s, parent));
	if (!member_begin(&m, h))
		return -ESRCH;
	process_tree_add(t, &m);
	return 0;
}

/* Adds the process with take_in, unless it is already a member or the limit is reached. Returns
 * false if the process cannot be read at this tick but may be readable later. */
static bool adopt_process(struct process_tree *t, const struct host *h, pid_t pid, pid_t ppid)
{
	int code = 0;

	if (process_tree_find(t, pid) != PROCESS_TREE_NONE)
		return true;
	if (!process_tree_enter(t, pid))
		t->left_out = true;
	else
		code = take_in(t, h, pid, ppid);
	if (code)
		process_tree_leave(t, pid);
	return !is_passing(code);
}

/* Adds the children of one member. Returns false when some may be missing. */
static bool find_children_of(struct process_tree *t, const struct host *h, size_t i, struct pids *f)
{
	const struct member *m = &t->member[i];
	pid_t pid = m->pid;
	/* The kernel makes orphans children of the reaper's first thread (find_new_reaper()), so
	 * reading the children of this thread is enough. */
	uint64_t threads = m->reaper ? 1 : m->threads;

	f->n = 0;
	int code = process_children(h, pid, threads, m->files ? &m->files->children : NULL,
		pids_add, f);
	bool all = !is_passing(code);

	for (size_t k = 0; k < f->n; k++)
		all = adopt_process(t, h, f->pid[k], pid) && all;
	return all;
}

/* Finds new members if the kernel has no children files (CONFIG_PROC_CHILDREN): reads the parent
 * pid of every process. Returns false when some new members may be missing. */
static bool find_by_scan(struct process_tree *t, const struct host *h, struct pids *f)
{
	struct {
		pid_t pid, ppid;
	} *unknown = NULL;
	size_t n = 0, room = 0;
	bool again = true;

	f->n = 0;
	bool all = process_list(h, pids_add, f) == 0;

	for (size_t i = 0; i < f->n; i++) {
		struct process_stat s;

		if (process_tree_find(t, f->pid[i]) != PROCESS_TREE_NONE)
			continue;
		int code = process_read_stat(h, f->pid[i], &s);

		all = all && !is_passing(code);
		if (code < 0 || s.start_ticks < t->start_ticks)
			continue;
		GROW(unknown, n, room);
		unknown[n].pid = s.pid;
		unknown[n++].ppid = s.ppid;
	}
	/* Pids are not in order of creation, so a child may come before its parent. Repeat until a
	 * pass finds no new member. */
	while (again) {
		again = false;
		for (size_t i = 0; i < n; i++) {
			/* cppcheck-suppress nullPointer ; unknown is not NULL when n is not 0 */
			if (!unknown[i].pid ||
				process_tree_find(t, unknown[i].ppid) == PROCESS_TREE_NONE)
				continue;
			size_t before = t->n;

			all = adopt_process(t, h, unknown[i].pid, unknown[i].ppid) && all;
			unknown[i].pid = 0;
			again = again || t->n > before;
		}
	}
	free(unknown);
	return all;
}

static void find_new(struct process_tree *t, const struct host *h)
{
	struct pids f = {0};
	bool all = true;

	/* Read the children only of members that may have new ones: members that ran or may have
	 * got orphans (children_due), and the reaper (the wrapper), which may get orphans at any
	 * time. */
	for (size_t i = 0; i < t->n && !t->no_children_file; i++) {
		struct member *m = &t->member[i];
		bool children_sought = m->children_due || m->reaper;

		m->children_due = false;
		/* A zombie with several threads may still have children, because some of its
		 * threads run. */
		if (children_sought && (!m->zombie || m->threads > 1) &&
			!find_children_of(t, h, i, &f)) {
			t->member[i].children_due = true;
			all = false;
		}
	}
	if (t->n && t->no_children_file)
		all = find_by_scan(t, h, &f);
	/* After a failed reading, search again at the next tick, even if the kernel creates no
	 * process until then. */
	if (!all)
		t->births = 0;
	pids_done(&f);
}

/* ---- reading the known members and searching for new ones ---- */

static void look_at_known(struct process_tree *t, const struct host *h)
{
	bool waited = false;

	t->any_vanished = false;
	/* Read each parent before its children. If a child were read first and then ended, its
	 * usage would count twice: in the child, and in the parent that is read next. */
	for (size_t i = 0; i < t->n; i++) {
		struct member *m = &t->member[i];

		/* A member that vanished at the last tick may still be in the list. Do not read it
		 * again. */
		if (!m->vanished && !member_look(m, h)) {
			m->vanished = true;
			t->vanished++;
		}
		t->any_vanished = t->any_vanished || m->vanished;
		waited = waited || m->waited_faults != m->credited_faults;
		if (m->zombie && m->ran)
			process_tree_expect_orphans(t, i);
	}
	look_at_programs(t, h);
	if (t->any_vanished || waited)
		process_tree_settle(t, h);
}

/* Finds new members. If a known member has just ended, a new member may be the process that waited
 * for it and got its counters. process_tree_settle then decides again who got them. */
static void look_for_new(struct process_tree *t, const struct host *h)
{
	size_t before = t->n;
	bool waited = false;

	find_new(t, h);
	for (size_t i = before; i < t->n; i++)
		waited = waited || t->member[i].waited_faults;
	if (waited)
		process_tree_settle(t, h);
}

static void ignore_child(void *context, pid_t child)
{
	(void)context;
	(void)child;
}

int process_tree_begin(struct process_tree *t, const struct host *h, pid_t pid,
	uint64_t start_ticks, pid_t reaper_pid)
{
	struct process_stat s;
	int code = process_read_stat(h, pid, &s);

	if (code < 0)
		return process_gone(code) ? -ESRCH : code;
	if (start_ticks && s.start_ticks != start_ticks)
		return -ESRCH;
	*t = (struct process_tree){.all = h->members, .passes_max = PROCESS_TREE_PASSES};

	struct member root = {.pid = pid, .start_ticks = s.start_ticks, .root = true};
	struct member reaper = {.pid = reaper_pid, .reaper = true};

	if (!process_tree_enter(t, pid))
		return -EDQUOT;
	if (!member_begin(&root, h)) {
		process_tree_leave(t, pid);
		return -ESRCH;
	}
	t->start_ticks = root.start_ticks;
	t->root_declares = helper_by_environment(h, pid);
	t->pss_budget_ns = PSS_FIRST_BUDGET_NS;
	t->no_children_file = process_children(h, pid, 1, NULL, ignore_child, NULL) == -ENOENT;
	if (reaper_pid && process_read_stat(h, reaper_pid, &s) == 0) {
		reaper.start_ticks = s.start_ticks;
		if (member_begin(&reaper, h)) {
			member_credit(&reaper);
			process_tree_add(t, &reaper);
		}
		/* The reaper is the wrapper that waits for the run's processes. Subtract the usage
		 * that it got from children before this run. */
		for (size_t c = 0; c < TREE_COUNTERS; c++)
			t->retained[c] -= reaper.counter[c];
	}
	process_tree_add(t, &root);
	find_new(t, h);
	/* The peak before the first tick is at least the highest high-water mark of one process. A
	 * peak of the sum is not known for that time. */
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		raise_to(m->helper ? &t->helper_peak_bytes : &t->peak_process_bytes, m->peak_bytes);
	}
	t->peak_bytes = t->peak_process_bytes;
	return 0;
}

void process_tree_from_now(struct process_tree *t)
{
	t->from_now = true;
	t->peak_bytes = t->peak_process_bytes = 0;
	for (size_t i = 0; i < t->n; i++) {
		struct member *m = &t->member[i];

		for (size_t c = 0; c < TREE_COUNTERS && !m->helper; c++)
			t->retained[c] -= m->counter[c];
		m->old_mark_bytes = m->peak_bytes;
		m->peak_bytes = 0;
	}
}

void process_tree_adopt(struct process_tree *t, const struct host *h, pid_t pid)
{
	struct pids f = {0};
	size_t i = t->n;

	adopt_process(t, h, pid, 0);
	for (; i < t->n && !t->no_children_file; i++)
		if (!t->member[i].zombie)
			find_children_of(t, h, i, &f);
	pids_done(&f);
}

bool process_tree_has(const struct process_tree *t, pid_t pid)
{
	size_t i = process_tree_find(t, pid);

	return i != PROCESS_TREE_NONE && member_counts(&t->member[i]);
}

bool process_tree_helps(const struct process_tree *t, pid_t pid)
{
	size_t i = process_tree_find(t, pid);

	return i != PROCESS_TREE_NONE && t->member[i].helper;
}

void process_tree_declare_helper(struct process_tree *t, pid_t pid)
{
	size_t i = process_tree_find(t, pid);

	if (i == PROCESS_TREE_NONE || t->member[i].reaper || t->member[i].root)
		return;
	set_helper(t, &t->member[i], HELPER_DECLARED);
	pass_on_helper(t);
}

uint64_t process_tree_helpers(const struct process_tree *t, enum tree_counter counter)
{
	uint64_t sum = t->helpers_ended[counter];

	for (size_t i = 0; t->any_helper && i < t->n; i++)
		if (t->member[i].helper)
			sum += t->member[i].counter[counter];
	return sum;
}

uint64_t process_tree_helper_bytes(const struct process_tree *t, enum memory_kind kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; t->any_helper && i < t->n; i++)
		if (t->member[i].helper && !t->member[i].zombie)
			sum += t->member[i].kind_bytes[kind];
	return sum;
}

/* ---- sums: counters that never fall, memory, and its peak ---- */

static void sum_counters(const struct process_tree *t, uint64_t sum[TREE_COUNTERS])
{
	for (size_t c = 0; c < TREE_COUNTERS; c++)
		sum[c] = t->retained[c] - t->helpers_waited[c];
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		for (size_t c = 0; c < TREE_COUNTERS && !m->helper && !m->perhaps_waited; c++)
			sum[c] += m->counter[c];
	}
	/* The sum may be slightly negative: a parent gets its child's CPU time in ticks, but
	 * `retained` and `helpers_waited` are in nanoseconds. */
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

	/* System time must not grow more than CPU time. If it did, user time (CPU time minus system
	 * time) would fall. */
	sum[TREE_SYSTEM_NS] =
		t->total[TREE_SYSTEM_NS] + (grown_system < grown ? grown_system : grown);
	for (size_t c = 0; c < TREE_COUNTERS; c++)
		raise_to(&t->total[c], sum[c]);
}

/* Returns the RSS that a member had at both this tick and the previous tick. */
static uint64_t held_bytes(const struct member *m)
{
	return m->rss_bytes < m->last_rss_bytes ? m->rss_bytes : m->last_rss_bytes;
}

/* Returns how much of the member's RSS counts. If the tree has only one process, its whole RSS
 * counts, even libraries that it shares with processes outside the run. */
static uint64_t counted(const struct process_tree *t, const struct member *m, const struct host *h,
	uint64_t rss)
{
	return t->alone ? rss : member_memory(m, h, rss);
}

/* Raises the peak of the tree to the current sum of memory. If the high-water mark of a process
 * rose, the peak may lie between two ticks. Then also tries this mark plus the memory that all
 * other members had at both ticks. Marks of different processes are never added, because they may
 * be from different times. */
static void raise_peak(struct process_tree *t, const struct host *h, uint64_t memory_now)
{
	uint64_t held = 0;

	if (memory_now > t->peak_bytes) {
		t->peak_bytes = memory_now;
		t->peak_is_seen = !t->alone || t->from_now;
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		if (member_lives(m))
			held += counted(t, m, h, held_bytes(m));
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		if (!m->peak_rose)
			continue;
		if (m->helper) {
			raise_to(&t->helper_peak_bytes, m->peak_bytes);
			continue;
		}
		raise_to(&t->peak_process_bytes, m->peak_bytes);
		uint64_t peak =
			counted(t, m, h, m->peak_bytes) + held - counted(t, m, h, held_bytes(m));

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

/* Returns true when PSS was never read or is stale. PSS is stale when RSS changed by more than 10 %
 * or the list of members changed. Both RSS values come from the stat file, not from smaps_rollup:
 * for a small process they may differ by 10 %, because the stat file lacks the newest counts of
 * each CPU. */
static bool pss_is_due(const struct process_tree *t, const struct member *m)
{
	uint64_t moved = m->rss_bytes > m->pss_stat_bytes ? m->rss_bytes - m->pss_stat_bytes :
							    m->pss_stat_bytes - m->rss_bytes;

	return member_lives(m) && !m->pss_refused &&
	       (!m->pss_bytes || m->pss_generation != t->generation ||
		       moved > m->pss_stat_bytes / 10);
}

/* Reads PSS of the members for which it is due, until the CPU time budget is spent. A process that
 * costs more than the budget waits for later ticks, when the budget has grown. `*deferred` is the
 * number of processes that wait. Returns true when at least one reading was tried. */
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
		/* If the reading failed, keep the old generation, so that PSS stays due. */
		if (member_read_pss(m, h, &cost))
			m->pss_generation = t->generation;
		t->pss_budget_ns -= cost < t->pss_budget_ns ? cost : t->pss_budget_ns;
	}
	/* Unused budget is saved for later ticks, and one tick may spend all of it. Keep at most
	 * what one expensive process costs. */
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
		now->processes += member_lives(&t->member[i]);
	t->alone = now->processes < 2;
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		t->children_ignored = t->children_ignored || (m->ignored_children && !m->reaper);
		if (!member_lives(m))
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

static void sum(struct process_tree *t, const struct host *h, struct tree_now *now)
{
	size_t deferred;

	sum_now(t, h, now);
	if (read_pss(t, h, &deferred))
		sum_now(t, h, now);
	now->pss_deferred = deferred;
	add_up(t);
	raise_peak(t, h, now->memory_bytes);
}

/* ---- one tick ---- */

size_t process_tree_look(struct process_tree *t, const struct host *h, uint64_t births,
	struct tree_now *now)
{
	bool none_born = births && births == t->births;

	t->births = births;
	look_at_known(t, h);
	t->looks++;
	if (t->n && (!none_born || t->looks % SEARCH_LOOKS == 0))
		look_for_new(t, h);
	sum(t, h, now);
	return now->processes;
}

void process_tree_let_go(struct process_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		process_tree_drop(t, i);
	free(t->member);
	pid_map_done(&t->index);
	t->member = NULL;
	t->n = t->room = 0;
}

void process_tree_done(struct process_tree *t)
{
	process_tree_let_go(t);
	*t = (struct process_tree){0};
}
