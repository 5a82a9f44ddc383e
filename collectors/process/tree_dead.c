#include "collectors/process/tree_dead.h"

#include "collectors/base/mem.h"
#include "collectors/process/tree_index.h"

/* A parent gets the user time and the system time of a child in whole ticks. Both times are rounded
 * down, so each may lack up to one tick. */
#define TICKS_UNKNOWN 2

/* ---- possible heirs: ancestors that may have got the counters of a vanished member ---- */

/* Sums over a pool, which is a set of possible heirs (see struct burial). `left_*`: minor faults
 * and CPU time of the vanished members that these heirs may have got. `got_*`: minor faults and CPU
 * time that the heirs got by waiting for children since process_tree_settle last ran
 * (member_credit). */
struct balance {
	uint64_t left_faults, left_ns, got_faults, got_ns;
};

/* State of one member during process_tree_settle, at the same index as the member. A pool is a set
 * of possible heirs: processes that may have got the counters of the same vanished members. A pool
 * has one balance. */
struct burial {
	size_t heir;            /* if the member has vanished: see find_heir */
	size_t pool;            /* union-find link; the representative of a pool links to itself */
	struct balance balance; /* balance of the pool; used at its representative only */
	bool joined;            /* the member and all its existing ancestors are in one pool */
	bool reads;             /* all members of the pool must be read again */
	bool read;              /* the member was read in this pass */
	bool ended;             /* the member became a zombie in this pass */
	/* An ancestor of the member was read after the member. Between the two readings, the
	 * ancestor may have waited for the member, so it must be checked whether the member still
	 * exists. */
	bool doubted;
	/* The member has vanished, and after that all its possible heirs were read. */
	bool heirs_read;
};

#define HEIR_UNKNOWN (PROCESS_TREE_NONE - 1)
#define HEIR_SOUGHT  (PROCESS_TREE_NONE - 2) /* value while find_heir follows the parents */

static size_t parent_of(const struct process_tree *t, size_t i)
{
	return process_tree_find(t, t->member[i].ppid);
}

/* Finds the heir of the vanished member `i`, the process that got its counters: the nearest
 * ancestor that has not vanished. Parents are those that the last readings showed. All vanished
 * members on the way get the same heir, so that a long chain is followed only once.
 *
 * If all ancestors in the tree have vanished, the heir is the topmost of them. If the parents form
 * a circle, the heir is one member of the circle. A vanished heir is its own heir: no living member
 * can have got its counters. Its counters may include those of the members below it. */
static void find_heir(const struct process_tree *t, struct burial *b, size_t i)
{
	size_t heir = i;

	for (size_t next = i; next != PROCESS_TREE_NONE; next = parent_of(t, heir)) {
		heir = next;
		if (!t->member[heir].vanished || b[heir].heir != HEIR_UNKNOWN)
			break;
		b[heir].heir = HEIR_SOUGHT;
	}
	if (t->member[heir].vanished && b[heir].heir != HEIR_SOUGHT)
		heir = b[heir].heir;
	for (; i != PROCESS_TREE_NONE && b[i].heir == HEIR_SOUGHT; i = parent_of(t, i))
		b[i].heir = heir;
}

/* Returns the representative of the pool that contains the member `i`. Shortens the chain of links
 * on the way, so that the next call is faster. */
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

/* If the parent of member `i` has ended, joins all possible heirs of `i` into one pool, which has
 * one balance. The reason: `i` was then an orphan, so a subreaper among its ancestors, or the
 * wrapper (the reaper), may have waited for it. With separate pools, the counters of `i` could
 * count twice: in the heir that got them and in `retained`. */
static void join_ancestors(const struct process_tree *t, struct burial *b, size_t i)
{
	size_t heir = b[i].heir;

	if (t->member[heir].vanished || (heir == parent_of(t, i) && !t->member[heir].zombie))
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

/* ---- reading until all vanished members can be settled ---- */

static void set_vanished(struct process_tree *t, struct member *m)
{
	m->vanished = t->any_vanished = true;
	t->vanished++;
}

/* Reads all possible heirs of each newly vanished member again. A possible heir is an ancestor that
 * may have waited for the member; its last reading may be from before the member ended. Also reads
 * orphans, to find their new parent. */
static void read_heirs(struct process_tree *t, const struct host *h, struct burial *b)
{
	for (size_t i = 0; i < t->n; i++)
		b[i].reads = b[i].read = b[i].ended = false;
	for (size_t i = 0; i < t->n; i++) {
		if (!t->member[i].vanished || b[i].heirs_read)
			continue;
		b[i].heirs_read = true;
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
	/* The heir of a vanished member may have ended in this pass. Other processes may then have
	 * inherited the heir's children just before. These processes are possible heirs, too, so
	 * read them. */
	for (size_t i = 0; i < t->n; i++)
		if (t->member[i].vanished && b[i].heir < t->n && b[b[i].heir].ended)
			b[i].heirs_read = false;
}

/* After a member was read, checks whether the members below it still exist: the member may have
 * waited for some of them just before. Parents mostly come before their children in the list. A
 * child that comes before its parent is always checked. */
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

/* Decides for which vanished members it is too early to say who inherits their counters. The next
 * tick decides. A decision is postponed if the
 * member's parent has vanished, too, and one of these is true:
 * - The decision about the parent is postponed.
 * - The parent comes later in the list. */
static void postpone_below(const struct process_tree *t, struct burial *b)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t parent = parent_of(t, i);

		if (t->member[i].vanished && parent != PROCESS_TREE_NONE &&
			t->member[parent].vanished && (parent > i || !b[parent].heirs_read))
			b[i].heirs_read = false;
	}
}

/* Marks the members that vanished after they were read. */
static void find_vanished(struct process_tree *t, const struct host *h)
{
	for (size_t i = 0; i < t->n; i++)
		if (!member_exists(&t->member[i], h))
			set_vanished(t, &t->member[i]);
}

/* ---- counters that stay with the tree ---- */

/* Returns true if `heir` gets this counter of a child when it waits for the child. Context switches
 * and waiting times are never added to a parent by the kernel. I/O does not count if the heir is
 * the reaper (the wrapper): its I/O includes an unknown amount of its own work. */
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
	case TREE_CANCELLED_BYTES:
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

/* Returns the share (0 to 1) of a counter of vanished members that no living process got by waiting
 * for them. `counter` is the number of the counter. `x` has the sums over the pool of these
 * members. */
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

/* Returns true if the heir of the vanished member `i` is certain: the process that got the member's
 * counters by waiting for it. It is certain after all possible heirs were read. It is also certain
 * if the heir has vanished, because a vanished process is never read again. */
static bool is_decided(const struct process_tree *t, const struct burial *b, size_t i)
{
	return b[i].heirs_read || t->member[b[i].heir].vanished;
}

static void sum_balances(const struct process_tree *t, struct burial *b)
{
	for (size_t i = 0; i < t->n; i++)
		b[i].balance = (struct balance){0};
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];
		size_t of = m->vanished ? b[i].heir : i;
		struct balance *x = &b[pool_of(b, of)].balance;

		/* A vanished member may have got counters from its own children. `left_*` includes
		 * them, so `got_*` must include them, too. */
		x->got_faults += m->waited_faults - m->credited_faults;
		x->got_ns += m->waited_ns - m->credited_ns;
		if (of != i && is_decided(t, b, i)) {
			x->left_faults += m->counter[TREE_MINOR_FAULTS];
			x->left_ns += m->counter[TREE_CPU_NS];
		}
	}
}

/* Returns the share (0 to 1) of a vanished member's counter that no heir got. This share would be
 * lost if the tree did not add it to `retained`. */
static double part_of(const struct process_tree *t, struct burial *b, size_t i, size_t counter,
	uint64_t tick_ns)
{
	size_t heir = b[i].heir;

	if (heir == i || !passes_to(&t->member[heir], counter))
		return 1;
	/* This heir is an exporter, which starts no processes and waits for none. It had its
	 * children before it executed the exporter's program. */
	if (t->member[heir].helper && !t->member[i].helper)
		return 1;
	return is_decided(t, b, i) ? kept_part(&b[pool_of(b, heir)].balance, counter, tick_ns) : 0;
}

/* Adds one counter of the vanished helper `i` to helpers_ended and helpers_waited. `kept` is the
 * share (0 to 1) of the counter that no heir got. If the heir is not a helper, it got the remaining
 * share, 1 - `kept`. */
static void bury_helper(struct process_tree *t, const struct burial *b, size_t i, size_t counter,
	double kept)
{
	bool left = b[i].heir == i || !t->member[b[i].heir].helper;
	double all = (double)t->member[i].counter[counter];

	t->helpers_ended[counter] += (uint64_t)(all * (left ? 1 : kept));
	t->helpers_waited[counter] += (uint64_t)(all * (left ? 1 - kept : 0));
}

/* Adds to helpers_unsure_ns an upper bound of the CPU time that a vanished helper used after its
 * last reading. It is the CPU time that the possible heirs got by waiting minus the last readings
 * of all ended processes. The rounding of the times to ticks is added. */
static void note_unsure(struct process_tree *t, struct burial *b, size_t i, uint64_t tick_ns)
{
	const struct member *m = &t->member[i];

	if (!m->vanished || !m->helper || !is_decided(t, b, i))
		return;
	t->helper_unseen = t->helper_unseen || !m->zombie;
	if (b[i].heir == i || t->member[b[i].heir].helper)
		return;
	struct balance *x = &b[pool_of(b, b[i].heir)].balance;
	bool any = x->got_ns || x->got_faults;
	uint64_t got = any ? x->got_ns + TICKS_UNKNOWN * tick_ns : 0;

	t->helpers_unsure_ns += got > x->left_ns ? got - x->left_ns : 0;
	/* Do not count the same excess again for the next helper of the pool. */
	x->left_ns = got > x->left_ns ? got : x->left_ns;
}

/* Keeps the part of each vanished member's counters that no heir got. This part is added to
 * `retained` or, if the member was a helper, to helpers_ended and helpers_waited (bury_helper). */
static void bury_vanished(struct process_tree *t, const struct host *h, struct burial *b)
{
	uint64_t tick_ns = (uint64_t)NS_PER_S / (uint64_t)h->ticks_per_second;

	sum_balances(t, b);
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		for (size_t c = 0; m->vanished && c < TREE_COUNTERS; c++) {
			double kept = part_of(t, b, i, c, tick_ns);

			if (m->helper)
				bury_helper(t, b, i, c, kept);
			else
				t->retained[c] += (uint64_t)((double)m->counter[c] * kept);
		}
	}
	for (size_t i = 0; i < t->n; i++)
		note_unsure(t, b, i, tick_ns);
}

/* Clears the values of a vanished member that is removed only at a later tick. The entry stays in
 * the list until then, because it may still be the parent of other members. */
static void become_nothing(struct member *m)
{
	member_done(m);
	*m = (struct member){
		.pid = m->pid,
		.ppid = m->ppid,
		.start_ticks = m->start_ticks,
		.reaper = m->reaper,
		.root = m->root,
		.helper = m->helper,
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

/* Prevents the times of a zombie from counting twice, in the zombie and in its parent. When a
 * parent waits for a zombie, the kernel first adds the zombie's times to the parent and then
 * removes the zombie (wait_task_zombie() in kernel/exit.c). The two may have been read between
 * these steps. A zombie that is new at this tick is therefore not counted if the parent's faults
 * have grown by as much (perhaps_waited). The parent's times are compared only at the next tick,
 * when the zombie has vanished (credit_held). */
static void hold_credits(struct process_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->member[i].credit_held = t->member[i].perhaps_waited = false;
	for (size_t i = 0; i < t->n; i++) {
		struct member *m = &t->member[i];
		size_t heir = i;

		if (!m->zombie || m->was_zombie)
			continue;
		/* If the parent is a zombie too, the grandparent may already have got the times of
		 * both. Therefore hold the credit of every ancestor up to the first that is not a
		 * zombie. */
		for (size_t steps = 0; steps <= t->n && t->member[heir].zombie; steps++) {
			heir = parent_of(t, heir);
			if (heir == PROCESS_TREE_NONE)
				break;
			struct member *h = &t->member[heir];

			h->credit_held = true;
			if (h->waited_faults > h->credited_faults &&
				h->waited_faults - h->credited_faults >=
					m->counter[TREE_MINOR_FAULTS])
				m->perhaps_waited = true;
		}
	}
}

void process_tree_settle(struct process_tree *t, const struct host *h)
{
	if (!any_to_settle(t))
		find_vanished(t, h);
	if (any_to_settle(t))
		settle_dead(t, h);
	hold_credits(t);
	for (size_t i = 0; i < t->n; i++)
		if (!t->member[i].credit_held)
			member_credit(&t->member[i]);
}
