#include "collectors/process/tree_dead.h"

#include "collectors/base/mem.h"
#include "collectors/process/tree_index.h"

/* User time and system time each lack up to one tick. */
#define TICKS_UNKNOWN 2

/* ---- possible heirs ---- */

/* Faults and time of vanished members (left), and those that members got by waiting (got). */
struct balance {
	uint64_t left_faults, left_ns, got_faults, got_ns;
};

/* State of settling for each member, by its index. */
struct burial {
	size_t heir; /* of a vanished member: nearest existing ancestor; it may have got the counters */
	size_t pool; /* link towards the representative of its pool (union-find), which links to itself */
	struct balance balance; /* of a pool, at its representative */
	bool joined;            /* is in one pool with all its existing ancestors */
	bool reads;             /* of a pool: read its members again */
	bool read;              /* was read in this pass */
	bool ended;             /* became a zombie in this pass */
	bool doubted;           /* a reader above may have waited for it since its own reading */
	bool heirs_read;        /* vanished, and all its possible heirs were read since */
};

#define HEIR_UNKNOWN (PROCESS_TREE_NONE - 1)

static size_t parent_of(const struct process_tree *t, size_t i)
{
	return process_tree_find(t, t->member[i].ppid);
}

/*
 * Finds the nearest existing ancestor of i by the parents last seen; none when the chain leaves the
 * tree or is a circle. All vanished members on the way get the same heir, so a long chain is
 * climbed once.
 */
static void find_heir(const struct process_tree *t, struct burial *b, size_t i)
{
	size_t heir = i;

	for (size_t steps = 0; heir != PROCESS_TREE_NONE && t->member[heir].vanished; steps++) {
		if (b[heir].heir != HEIR_UNKNOWN)
			heir = b[heir].heir;
		else
			heir = steps <= t->n ? parent_of(t, heir) : PROCESS_TREE_NONE;
	}
	for (; i != PROCESS_TREE_NONE && t->member[i].vanished && b[i].heir == HEIR_UNKNOWN;
		i = parent_of(t, i))
		b[i].heir = heir;
}

/* The representative of a pool; shortens the path on the way, for long chains. */
static size_t pool_of(struct burial *b, size_t i)
{
	while (b[i].pool != i)
		i = b[i].pool = b[b[i].pool].pool;
	return i;
}

static void pool_with(struct burial *b, size_t i, size_t j)
{
	b[pool_of(b, i)].pool = pool_of(b, j);
}

/*
 * If the parent of i has ended too, i may have been an orphan at its end. A subreaper among its
 * ancestors or the reaper may then have waited for it. All these possible heirs form a pool;
 * otherwise the counters of i could count in one of them and also be kept.
 */
static void join_ancestors(const struct process_tree *t, struct burial *b, size_t i)
{
	size_t heir = b[i].heir;

	if (heir == PROCESS_TREE_NONE || (heir == parent_of(t, i) && !t->member[heir].zombie))
		return;
	for (size_t j = heir; j != PROCESS_TREE_NONE;) {
		pool_with(b, heir, j);
		if (b[j].joined)
			break;
		b[j].joined = true;
		j = parent_of(t, j);
		if (j != PROCESS_TREE_NONE && t->member[j].vanished)
			j = b[j].heir;
	}
	if (t->member[0].reaper && !t->member[0].vanished)
		pool_with(b, heir, 0);
}

static void find_heirs(const struct process_tree *t, struct burial *b)
{
	for (size_t i = 0; i < t->n; i++) {
		b[i].pool = i;
		b[i].heir = HEIR_UNKNOWN;
		b[i].joined = false;
	}
	for (size_t i = 0; i < t->n; i++)
		if (t->member[i].vanished)
			find_heir(t, b, i);
	for (size_t i = 0; i < t->n; i++)
		if (t->member[i].vanished)
			join_ancestors(t, b, i);
}

/* ---- until all is sure ---- */

static void set_vanished(struct process_tree *t, struct member *m)
{
	m->vanished = t->any_vanished = true;
	t->vanished++;
}

/*
 * Reads the possible heirs of newly missed members again, because they were read before the loss
 * was seen; once for each vanished member. Reads orphans too, which have a new parent.
 */
static void read_heirs(struct process_tree *t, const struct host *h, struct burial *b)
{
	for (size_t i = 0; i < t->n; i++)
		b[i].reads = b[i].read = b[i].ended = false;
	for (size_t i = 0; i < t->n; i++) {
		if (!t->member[i].vanished || b[i].heirs_read)
			continue;
		b[i].heirs_read = true;
		if (b[i].heir != PROCESS_TREE_NONE)
			b[pool_of(b, b[i].heir)].reads = true;
	}
	for (size_t i = 0; i < t->n; i++) {
		struct member *m = &t->member[i];
		size_t parent = parent_of(t, i);
		bool orphan = parent != PROCESS_TREE_NONE && t->member[parent].vanished;

		if (m->vanished || !(b[pool_of(b, i)].reads || orphan))
			continue;
		b[i].read = true;
		b[i].ended = !m->zombie;
		if (!member_read(m, h, false))
			set_vanished(t, m);
		b[i].ended = b[i].ended && m->zombie;
	}
	/* The heir ended: its children may have gone to other heirs before. */
	for (size_t i = 0; i < t->n; i++)
		if (t->member[i].vanished && b[i].heir < t->n && b[b[i].heir].ended)
			b[i].heirs_read = false;
}

/*
 * Checks whether members below one that was read still exist: it may have waited for them just
 * before. Parents mostly come first in the list; a child that precedes its parent is checked to be
 * safe.
 */
static void find_vanished_below(struct process_tree *t, const struct host *h, struct burial *b)
{
	for (size_t i = 0; i < t->n; i++) {
		struct member *m = &t->member[i];
		size_t parent = parent_of(t, i);

		b[i].doubted = parent != PROCESS_TREE_NONE &&
			       (parent > i || b[parent].read || b[parent].doubted);
		if (b[i].doubted && !m->vanished && !member_exists(m, h))
			set_vanished(t, m);
	}
}

static bool all_heirs_read(const struct process_tree *t, const struct burial *b)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->member[i].vanished && !b[i].heirs_read)
			return false;
	return true;
}

/* Postpones a vanished member too if its vanished parent is postponed or comes later. */
static void postpone_below(const struct process_tree *t, struct burial *b)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t parent = parent_of(t, i);

		if (t->member[i].vanished && parent != PROCESS_TREE_NONE &&
			t->member[parent].vanished && (parent > i || !b[parent].heirs_read))
			b[i].heirs_read = false;
	}
}

/* Marks members that vanished since they were read. */
static void find_vanished(struct process_tree *t, const struct host *h)
{
	for (size_t i = 0; i < t->n; i++)
		if (!member_exists(&t->member[i], h))
			set_vanished(t, &t->member[i]);
}

/* ---- counters that stay with the tree ---- */

/*
 * Does a waiting parent get this counter of its child? Not context switches and waits. I/O of a
 * reaper is not counted at all, because its own part is unknown.
 */
static bool passes_to(const struct member *heir, size_t counter)
{
	switch ((enum tree_counter)counter) {
	case TREE_CPU_NS:
	case TREE_SYSTEM_NS:
	case TREE_MINOR_FAULTS:
	case TREE_MAJOR_FAULTS:
		return true;
	case TREE_READ_CHARS:
	case TREE_WRITTEN_CHARS:
	case TREE_READ_BYTES:
	case TREE_WRITTEN_BYTES:
		return !heir || !heir->reaper;
	case TREE_VOLUNTARY_SWITCHES:
	case TREE_INVOLUNTARY_SWITCHES:
	case TREE_CPU_WAIT_NS:
	case TREE_IO_WAIT_NS:
	case TREE_MEMORY_WAIT_NS:
	case TREE_COUNTERS:
		return false;
	}
	return false;
}

/* The part of a counter of a pool's vanished members that no heir got. */
static double kept_part(const struct balance *x, size_t counter, uint64_t tick_ns)
{
	bool time = counter == TREE_CPU_NS || counter == TREE_SYSTEM_NS;
	uint64_t got_at_most = x->got_ns + TICKS_UNKNOWN * tick_ns;

	if (x->got_faults == 0 && x->got_ns == 0)
		return 1;
	if (x->got_faults >= x->left_faults)
		return 0;
	if (!time)
		return 1 - (double)x->got_faults / (double)x->left_faults;
	return got_at_most >= x->left_ns ? 0 : 1 - (double)got_at_most / (double)x->left_ns;
}

static void sum_balances(const struct process_tree *t, struct burial *b)
{
	for (size_t i = 0; i < t->n; i++)
		b[i].balance = (struct balance){0};
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];
		size_t of = m->vanished ? b[i].heir : i;

		if (of == PROCESS_TREE_NONE)
			continue;
		struct balance *x = &b[pool_of(b, of)].balance;

		/* A vanished member's waited counters are part of what it left, too. */
		x->got_faults += m->waited_faults - m->credited_faults;
		x->got_ns += m->waited_ns - m->credited_ns;
		if (m->vanished && b[i].heirs_read) {
			x->left_faults += m->counter[TREE_MINOR_FAULTS];
			x->left_ns += m->counter[TREE_CPU_NS];
		}
	}
}

/* The part of a counter of a vanished member that stays with the tree. */
static double part_of(const struct process_tree *t, struct burial *b, size_t i, size_t counter,
	uint64_t tick_ns)
{
	size_t heir = b[i].heir;

	if (heir == PROCESS_TREE_NONE || !passes_to(&t->member[heir], counter))
		return 1;
	return b[i].heirs_read ? kept_part(&b[pool_of(b, heir)].balance, counter, tick_ns) : 0;
}

/* Adds to the tree what no heir got. */
static void bury_vanished(struct process_tree *t, const struct host *h, struct burial *b)
{
	uint64_t tick_ns = (uint64_t)NS_PER_S / (uint64_t)h->ticks_per_second;

	sum_balances(t, b);
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		for (size_t c = 0; m->vanished && c < TREE_COUNTERS; c++)
			t->retained[c] +=
				(uint64_t)((double)m->counter[c] * part_of(t, b, i, c, tick_ns));
	}
}

/* Clears an unsettled member; its children may still name it as parent at the next look. */
static void become_nothing(struct member *m)
{
	member_done(m);
	*m = (struct member){
		.pid = m->pid,
		.ppid = m->ppid,
		.start_ticks = m->start_ticks,
		.reaper = m->reaper,
		.zombie = true,
		.vanished = true,
	};
}

static void remove_vanished(struct process_tree *t, const struct burial *b)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->member[i].vanished)
			process_tree_expect_orphans(t, i);
	for (size_t i = 0; i < t->n; i++) {
		if (t->member[i].vanished && b[i].heirs_read) {
			process_tree_drop(t, i);
			continue;
		}
		if (t->member[i].vanished)
			become_nothing(&t->member[i]);
		t->member[n++] = t->member[i];
	}
	t->n = n;
	t->generation++;
	process_tree_reindex(t);
}

static void settle_dead(struct process_tree *t, const struct host *h)
{
	AUTO(freep) struct burial *b = xcalloc(t->n, sizeof *b);

	for (unsigned passes = 0; passes < t->passes_max && !all_heirs_read(t, b); passes++) {
		find_heirs(t, b);
		read_heirs(t, h, b);
		find_vanished_below(t, h, b);
	}
	if (!all_heirs_read(t, b))
		postpone_below(t, b);
	find_heirs(t, b);
	bury_vanished(t, h, b);
	remove_vanished(t, b);
}

static bool any_to_settle(const struct process_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->member[i].vanished)
			return true;
	return false;
}

void process_tree_settle(struct process_tree *t, const struct host *h)
{
	if (!any_to_settle(t))
		find_vanished(t, h);
	if (any_to_settle(t))
		settle_dead(t, h);
	for (size_t i = 0; i < t->n; i++)
		member_credit(&t->member[i]);
}
