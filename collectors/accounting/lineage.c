#include "collectors/accounting/lineage.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/pid_map.h"

#define LINEAGE_NONE SIZE_MAX
/* No group is known for the run. */
#define LINEAGE_NO_OTHERS UINT32_MAX
/* The run is inside no other run. */
#define LINEAGE_NO_RUN UINT32_MAX

struct lineage_entry {
	pid_t pid;
	unsigned run;
	uint64_t clock_ns;
	struct task_record record;
	uint64_t born_ns, ended_ns; /* times of the fork and exit event; 0 = unknown */
	uint64_t end_ns, took_ns;   /* if priced: CPU time of its end, and from record to event */
	bool recorded, priced;
	bool final;   /* clock_ns was read after its end: it is complete */
	bool seen;    /* its fork event or clock was seen: a record must come */
	bool gone;    /* the clock was not readable */
	bool outside; /* a listing of its group did not contain it */
};

struct run_book {
	bool in_use;
	pid_t root; /* 0 = none, or its pid is reused */
	/* the others of its group, by number; equal to its own number if it is such */
	unsigned others;
	uint64_t base_ns;
	unsigned outer; /* the run around it, whose tally includes this run; or LINEAGE_NO_RUN */
	struct lineage_tally before; /* part of past that outer does not count */
	uint64_t breaks;             /* of others: times that the group's sums lost continuity */
	/* Processes that left the book, plus base_ns; and with those in the book at last settle. */
	struct lineage_tally past, all;
};

struct lineage {
	size_t n, room;
	struct lineage_entry *entry;
	struct pid_map index; /* position in entry by pid */
	size_t n_recorded;
	size_t n_runs, runs_room;
	struct run_book *run;
	bool any_inner; /* a run was inside another at some time */
	double usual;   /* median duration of recent ends, relative to usual_end() */
};

struct lineage *lineage_new(void)
{
	struct lineage *l = xcalloc(1, sizeof *l);

	l->usual = 1;
	return l;
}

void lineage_free(struct lineage *l)
{
	if (!l)
		return;
	free(l->entry);
	pid_map_done(&l->index);
	free(l->run);
	free(l);
}

/* ---- entries by pid ---- */

/* Returns LINEAGE_NONE if there is none. */
static size_t find_entry(const struct lineage *l, pid_t pid)
{
	const uint32_t *i = pid_map_find(&l->index, pid);

	return i ? *i : LINEAGE_NONE;
}

static void index_rebuild(struct lineage *l)
{
	pid_map_clear(&l->index);
	for (size_t i = 0; i < l->n; i++)
		*pid_map_add(&l->index, l->entry[i].pid) = (uint32_t)i;
}

static void break_group(struct lineage *l, unsigned run)
{
	unsigned others = l->run[run].others;

	if (others != LINEAGE_NO_OTHERS)
		l->run[others].breaks++;
}

/* An event or record of the run is missing. */
static void mark_incomplete(struct lineage *l, unsigned run)
{
	l->run[run].past.whole = false;
	break_group(l, run);
}

static void add_entry(struct lineage *l, const struct lineage_entry *e)
{
	if (l->n == LINEAGE_MAX) {
		mark_incomplete(l, e->run);
		return;
	}
	GROW(l->entry, l->n, l->room);
	*pid_map_add(&l->index, e->pid) = (uint32_t)l->n;
	l->entry[l->n++] = *e;
}

/* ---- runs ---- */

static unsigned take_number(struct lineage *l)
{
	size_t i = 0;

	while (i < l->n_runs && l->run[i].in_use)
		i++;
	if (i == l->n_runs) {
		GROW(l->run, l->n_runs, l->runs_room);
		l->n_runs++;
	}
	l->run[i] = (struct run_book){.in_use = true,
		.others = LINEAGE_NO_OTHERS,
		.outer = LINEAGE_NO_RUN,
		.past.whole = true};
	return (unsigned)i;
}

static bool are_others(const struct lineage *l, unsigned run)
{
	return l->run[run].others == run;
}

/* ---- runs inside others: a workflow in a batch job, a step in a pipeline ---- */

static const size_t sums[] = {
	offsetof(struct lineage_tally, cpu_ns),
	offsetof(struct lineage_tally, ends_ns),
	offsetof(struct lineage_tally, cpu_wait_ns),
	offsetof(struct lineage_tally, io_wait_ns),
	offsetof(struct lineage_tally, memory_wait_ns),
	offsetof(struct lineage_tally, unseen_ns),
	offsetof(struct lineage_tally, born),
	offsetof(struct lineage_tally, ended),
	offsetof(struct lineage_tally, ends_weight_ns),
	offsetof(struct lineage_tally, ends_most_ns),
};

/* Adds the growth of an inner run to the run around it. Its exit status stays its own. */
static void add_growth(struct lineage_tally *to, const struct lineage_tally *now,
	const struct lineage_tally *before)
{
	for (size_t i = 0; i < ARRAY_LEN(sums); i++)
		*(uint64_t *)(void *)((char *)to + sums[i]) +=
			*(const uint64_t *)(const void *)((const char *)now + sums[i]) -
			*(const uint64_t *)(const void *)((const char *)before + sums[i]);
	if (now->peak_process_bytes > to->peak_process_bytes)
		to->peak_process_bytes = now->peak_process_bytes;
	to->whole = to->whole && now->whole;
}

static bool is_within(const struct lineage *l, unsigned run, unsigned outer)
{
	while (run != outer && run != LINEAGE_NO_RUN)
		run = l->run[run].outer;
	return run == outer;
}

/* Puts run inside outer. A group of both counts its ended processes twice, hence the breaks. */
static void put_into(struct lineage *l, unsigned run, unsigned outer)
{
	struct run_book *r = &l->run[run];

	l->any_inner = true;
	break_group(l, run);
	if (r->outer != LINEAGE_NO_RUN) {
		break_group(l, r->outer);
		add_growth(&l->run[r->outer].past, &r->past, &r->before);
		add_growth(&l->run[r->outer].all, &r->past, &r->before);
	}
	r->outer = outer;
	r->before = r->past;
}

static void leave(struct lineage *l, unsigned run)
{
	struct run_book *r = &l->run[run];

	for (unsigned i = 0; i < l->n_runs; i++)
		if (l->run[i].in_use && l->run[i].outer == run)
			put_into(l, i, r->outer);
	if (r->outer == LINEAGE_NO_RUN)
		return;
	break_group(l, r->outer);
	add_growth(&l->run[r->outer].past, &r->past, &r->before);
	add_growth(&l->run[r->outer].all, &r->all, &r->before);
	for (size_t i = 0; i < l->n; i++)
		if (l->entry[i].run == run)
			l->entry[i].run = r->outer;
}

/* ---- processes of runs ---- */

unsigned lineage_begin(struct lineage *l, pid_t root, uint64_t base_ns)
{
	unsigned run = take_number(l);
	struct run_book *book = &l->run[run];

	book->root = root;
	book->base_ns = book->past.cpu_ns = base_ns;
	book->all = book->past;

	size_t i = find_entry(l, root);

	if (i != LINEAGE_NONE && !are_others(l, l->entry[i].run))
		put_into(l, run, l->entry[i].run);
	lineage_add(l, run, root);
	return run;
}

/* If pid is the root of inner, moves inner into run, unless a nearer run is around it already. */
static void find_outer(struct lineage *l, unsigned run, unsigned inner, pid_t pid)
{
	unsigned outer = l->run[inner].outer;

	if (l->run[inner].root == pid && !are_others(l, run) && !is_within(l, run, inner) &&
		(outer == LINEAGE_NO_RUN || (outer != run && is_within(l, run, outer))))
		put_into(l, inner, run);
}

void lineage_add(struct lineage *l, unsigned run, pid_t pid)
{
	size_t i = find_entry(l, pid);

	if (i == LINEAGE_NONE) {
		add_entry(l, &(struct lineage_entry){.pid = pid, .run = run});
		return;
	}
	unsigned *owner = &l->entry[i].run;

	find_outer(l, run, *owner, pid);
	/* Only others and outer runs give up a process. Within a group, sums stay the same. */
	if (*owner == run || (!are_others(l, *owner) && !is_within(l, run, *owner)))
		return;
	if (l->run[run].others != l->run[*owner].others) {
		break_group(l, *owner);
		break_group(l, run);
	}
	*owner = run;
}

static void remove_where(struct lineage *l,
	bool (*goes)(const struct lineage_entry *e, unsigned run), unsigned run)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (!goes(&l->entry[i], run))
			l->entry[n++] = l->entry[i];
		else
			l->n_recorded -= l->entry[i].recorded;
	}
	if (n == l->n)
		return;
	l->n = n;
	index_rebuild(l);
}

static bool is_of_run(const struct lineage_entry *e, unsigned run)
{
	return e->run == run;
}

void lineage_forget(struct lineage *l, unsigned run)
{
	break_group(l, run);
	leave(l, run);
	remove_where(l, is_of_run, run);
	l->run[run].in_use = false;
}

void lineage_lost(struct lineage *l)
{
	for (unsigned i = 0; i < l->n_runs; i++) {
		mark_incomplete(l, i);
		/* The lost messages may include the exit of the last thread. */
		if (find_entry(l, l->run[i].root) != LINEAGE_NONE)
			l->run[i].past.status_heard = false;
	}
}

/* ---- the tally of an entry ---- */

/* Usual cost of an end, measured: 60 us and 0.45 us a page. */
#define END_NS      60000
#define END_PAGE_NS 450
/* An end longer than this many usual ones was interrupted: its own cost is unknown. */
#define USUAL_MAX  3
#define USUAL_STEP (1.0 / 32)
/* Longest time from the exit event until the process is gone. */
#define AFTER_NS 100000

static uint64_t pages_of(const struct lineage_entry *e)
{
	return e->record.peak_bytes / 4096;
}

static uint64_t end_at_most(const struct lineage_entry *e)
{
	return LINEAGE_END_NS + pages_of(e) * LINEAGE_END_PAGE_NS;
}

static uint64_t usual_end(const struct lineage_entry *e)
{
	return END_NS + pages_of(e) * END_PAGE_NS;
}

/*
 * The record precedes the freeing of memory, the event follows it. The time between is the end's
 * cost, unless another task had the CPU. usual is a median, so the length of such interruptions
 * does not matter.
 */
static void price_end(struct lineage *l, struct lineage_entry *e)
{
	uint64_t record_at = e->born_ns + e->record.elapsed_ns;

	if (e->priced || !e->recorded || !e->born_ns || !e->record.elapsed_ns ||
		e->ended_ns <= record_at)
		return;
	double expected = (double)usual_end(e);

	e->took_ns = e->ended_ns - record_at;
	double of_usual = (double)e->took_ns / expected;

	bool interrupted = of_usual > USUAL_MAX * l->usual;

	e->priced = true;
	e->end_ns = (uint64_t)((interrupted ? l->usual : of_usual) * expected);
	l->usual *= of_usual > l->usual ? 1 + USUAL_STEP : 1 / (1 + USUAL_STEP);
	if (e->end_ns > end_at_most(e))
		e->end_ns = end_at_most(e);
}

static void tally_entry(struct lineage_tally *t, const struct lineage_entry *e)
{
	const struct task_record *r = &e->record;
	/* The record of a first thread that ended before the others has its own time only. */
	uint64_t counted = r->cpu_ns > e->clock_ns ? r->cpu_ns : e->clock_ns;
	uint64_t with_end = r->cpu_ns + (e->final ? 0 : e->end_ns);

	t->cpu_ns += counted;
	t->ends_ns += with_end > counted ? with_end - counted : 0;
	t->cpu_wait_ns += r->cpu_wait_ns;
	t->io_wait_ns += r->io_wait_ns;
	t->memory_wait_ns += r->memory_wait_ns;
	if (e->recorded && !e->final) {
		t->unseen_ns += end_at_most(e) - e->end_ns;
		t->ends_weight_ns += e->priced ? e->end_ns : usual_end(e);
		t->ends_most_ns += e->priced ? e->took_ns + AFTER_NS : end_at_most(e);
	}
	if (r->peak_bytes > t->peak_process_bytes)
		t->peak_process_bytes = r->peak_bytes;
}

/* Adds an entry to the past of its run. The caller removes the entry. */
static void bury_entry(struct lineage *l, struct lineage_entry *e)
{
	struct lineage_tally *past = &l->run[e->run].past;

	price_end(l, e);
	tally_entry(past, e);
	past->ended++;
	/* No record comes for a process that was added after its end. */
	if (!e->recorded && e->seen)
		mark_incomplete(l, e->run);
}

/* ---- events ---- */

static void forked(struct lineage *l, const struct process_event *event)
{
	pid_t pid = event->pid;
	size_t old = find_entry(l, pid);

	/* The process was found in /proc before its fork event arrived. */
	if (old != LINEAGE_NONE && !l->entry[old].seen) {
		l->entry[old].seen = true;
		l->entry[old].born_ns = event->at_ns;
		return;
	}
	/* The pid is reused: its former owner is gone. */
	if (old != LINEAGE_NONE) {
		bury_entry(l, &l->entry[old]);
		l->n_recorded -= l->entry[old].recorded;
		l->entry[old] = l->entry[--l->n];
		index_rebuild(l);
	}
	for (size_t i = 0; i < l->n_runs; i++)
		if (l->run[i].root == pid)
			l->run[i].root = 0;

	size_t of = find_entry(l, event->parent);

	if (of == LINEAGE_NONE)
		return;
	l->run[l->entry[of].run].past.born++;
	add_entry(l, &(struct lineage_entry){.pid = pid,
			     .run = l->entry[of].run,
			     .born_ns = event->at_ns,
			     .seen = true});
}

static void ended(struct lineage *l, const struct process_event *event)
{
	size_t i = find_entry(l, event->pid);

	/* The event of the last thread counts. */
	if (i != LINEAGE_NONE)
		l->entry[i].ended_ns = event->at_ns;
	for (i = 0; i < l->n_runs; i++)
		if (l->run[i].in_use && l->run[i].root == event->pid) {
			l->run[i].past.status_heard = true;
			l->run[i].past.status = event->status;
		}
}

void lineage_event(struct lineage *l, const struct process_event *event)
{
	if (event->kind == PROCESS_FORKED)
		forked(l, event);
	else
		ended(l, event);
}

void lineage_record(struct lineage *l, const struct task_record *record)
{
	size_t i = find_entry(l, record->id);
	struct lineage_entry *e = i == LINEAGE_NONE ? NULL : &l->entry[i];

	/* Ignore later threads once the whole process is recorded: the last record has the sum. */
	if (!e || (e->recorded && e->record.whole))
		return;
	l->n_recorded += !e->recorded;
	e->recorded = true;

	uint64_t peak = e->record.peak_bytes;

	e->record = *record;
	/* If the first thread ended earlier, the clock was read before the process ended. */
	e->priced = e->final = false;
	e->end_ns = 0;
	if (peak > e->record.peak_bytes)
		e->record.peak_bytes = peak;
}

bool lineage_awaits(const struct lineage *l, pid_t pid)
{
	size_t i = find_entry(l, pid);

	return i != LINEAGE_NONE && !l->entry[i].recorded;
}

size_t lineage_ended(const struct lineage *l)
{
	return l->n_recorded;
}

/* ---- the living ---- */

void lineage_read_clocks(struct lineage *l, lineage_clock *clock, void *context)
{
	for (size_t i = 0; i < l->n; i++) {
		struct lineage_entry *e = &l->entry[i];
		uint64_t ns;

		/* A clock that runs backwards belongs to another process. */
		e->gone = !clock(context, e->pid, &ns) || ns < e->clock_ns;
		if (e->gone)
			continue;
		e->clock_ns = ns;
		e->seen = true;
		e->final = e->recorded && e->ended_ns;
	}
}

static bool is_gone(const struct lineage_entry *e, unsigned run)
{
	(void)run;
	return e->gone;
}

void lineage_settle(struct lineage *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->entry[i].gone)
			bury_entry(l, &l->entry[i]);
	remove_where(l, is_gone, 0);
	for (size_t i = 0; i < l->n_runs; i++)
		l->run[i].all = l->run[i].past;
	for (size_t i = 0; i < l->n; i++) {
		price_end(l, &l->entry[i]);
		tally_entry(&l->run[l->entry[i].run].all, &l->entry[i]);
	}
}

void lineage_living(const struct lineage *l, unsigned run, void (*each)(void *context, pid_t pid),
	void *context)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->entry[i].gone && is_within(l, l->entry[i].run, run))
			each(context, l->entry[i].pid);
}

void lineage_tally(const struct lineage *l, unsigned run, struct lineage_tally *ret)
{
	*ret = l->run[run].all;
	for (unsigned i = 0; i < l->n_runs && l->any_inner; i++) {
		const struct run_book *r = &l->run[i];

		if (i != run && r->in_use && r->outer != LINEAGE_NO_RUN && is_within(l, i, run))
			add_growth(ret, &r->all, &r->before);
	}
}

/* ---- a control group that runs share ---- */

unsigned lineage_begin_others(struct lineage *l)
{
	unsigned others = take_number(l);

	l->run[others].others = others;
	return others;
}

void lineage_share(struct lineage *l, unsigned run, unsigned others)
{
	l->run[run].others = others;
	break_group(l, run);
}

static bool is_of_group(const struct lineage *l, const struct lineage_entry *e, unsigned others)
{
	return l->run[e->run].others == others;
}

/* ---- comparing with a listing ---- */

/*
 * A fork event precedes the entry into the group (kernel/fork.c, copy_process), by long on a busy
 * machine. A record is made before the process leaves the group.
 */
#define NEWBORN_NS 1000000000

static bool is_outside(const struct lineage_entry *e, const struct lineage_listing *listing)
{
	return !e->gone && !e->recorded && e->born_ns + NEWBORN_NS < listing->at_ns &&
	       !pids_has(&listing->pids, e->pid);
}

static bool has_left(const struct lineage_entry *e, unsigned others)
{
	return e->run == others && e->outside;
}

/* Adds living processes that entered the group. */
static bool take_in(struct lineage *l, unsigned others, const struct lineage_listing *listing,
	lineage_clock *clock, void *context)
{
	bool any = false;

	for (size_t i = 0; i < listing->pids.n; i++) {
		pid_t pid = listing->pids.pid[i];
		size_t at = find_entry(l, pid);
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

/* True if a run inside one of this group is in another group. */
static bool reaches_out(const struct lineage *l, unsigned others)
{
	for (unsigned i = 0; i < l->n_runs; i++) {
		const struct run_book *r = &l->run[i];

		if (r->in_use && r->outer != LINEAGE_NO_RUN && r->others != others &&
			l->run[r->outer].others == others)
			return true;
	}
	return false;
}

enum lineage_change lineage_compare(struct lineage *l, unsigned others,
	struct lineage_listing *listing, lineage_clock *clock, void *context)
{
	enum lineage_change ret = LINEAGE_SAME;
	bool any_left = false;

	pids_sort(&listing->pids);
	if (take_in(l, others, listing, clock, context))
		ret = LINEAGE_OTHERS_CHANGED;
	for (size_t i = 0; i < l->n; i++) {
		struct lineage_entry *e = &l->entry[i];

		e->outside = is_of_group(l, e, others) && is_outside(e, listing);
		if (e->outside && e->run != others)
			ret = LINEAGE_RUN_ELSEWHERE;
		any_left = any_left || has_left(e, others);
	}
	if (reaches_out(l, others))
		ret = LINEAGE_RUN_ELSEWHERE;
	if (any_left) {
		remove_where(l, has_left, others);
		if (ret == LINEAGE_SAME)
			ret = LINEAGE_OTHERS_CHANGED;
	}
	if (ret != LINEAGE_SAME)
		l->run[others].breaks++;
	return ret;
}

/* ---- sums of a group ---- */

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
		if (l->run[i].in_use && l->run[i].others == others)
			add_run(ret, &l->run[i]);
}
