#include "collectors/accounting/lineage.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/pid_map.h"

#define LINEAGE_NONE SIZE_MAX
/* Value of `others`: the control group of the run is unknown. */
#define LINEAGE_NO_OTHERS UINT32_MAX
/* Value of `outer`: the run is not inside another run. */
#define LINEAGE_NO_RUN UINT32_MAX

struct lineage_entry {
	pid_t pid;
	unsigned run;
	uint64_t clock_ns;
	struct task_record record;
	uint64_t voluntary, involuntary; /* context switches of ended threads */
	uint64_t born_ns, ended_ns;      /* times of the fork and exit events; 0 = unknown */
	uint64_t clock_at_ns;            /* time of the last reading of clock_ns; 0 = none */
	uint64_t end_ns, took_ns;        /* if `priced`: CPU time and elapsed time of the end */
	bool recorded, priced;
	bool final;   /* clock_ns was read after the end, so it is complete */
	bool seen;    /* fork event or clock was seen, so a record must follow */
	bool gone;    /* the last attempt to read the clock failed */
	bool outside; /* the last listing of its group lacked this process */
	bool one_thread;
};

struct run_book {
	bool in_use;
	pid_t root; /* 0 = no root, or the root's pid now belongs to another process */
	/* Number of the set of foreign processes in the run's group (lineage_begin_others). If this
	 * struct is itself such a set, `others` is its own number. */
	unsigned others;
	uint64_t base_ns;
	unsigned outer; /* the outer run, whose tally includes this run; or LINEAGE_NO_RUN */
	struct lineage_tally before; /* `past` of this run when it was put inside `outer` */
	uint64_t breaks;
	/* `past`: base_ns plus the usage of processes that were removed from the list. `all`:
	 * `past` plus the usage of the processes that were in the list at the last
	 * lineage_settle. */
	struct lineage_tally past, all;
};

struct lineage {
	size_t n, room;
	struct lineage_entry *entry;
	struct pid_map index; /* position in `entry` by pid */
	size_t n_recorded;
	size_t n_runs, runs_room;
	struct run_book *run;
	bool any_inner; /* some run is or was inside another run */
	double usual;   /* median duration of recent ends, relative to usual_end() */
	unsigned cpus;  /* `cpus` of lineage_without_records; 0 = exit records arrive */
	uint64_t now_ns;
};

struct lineage *lineage_new(void)
{
	struct lineage *l = xcalloc(1, sizeof *l);

	l->usual = 1;
	return l;
}

void lineage_without_records(struct lineage *l, unsigned cpus)
{
	l->cpus = cpus;
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

/* Returns LINEAGE_NONE if the pid is not in the table. */
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

/* Marks the tally of the run as not `whole`. Call this function when an event or record of the run
 * is missing. */
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

/* ---- runs inside runs: a workflow in a batch job, a step in a pipeline ---- */

static const size_t sums[] = {
	offsetof(struct lineage_tally, cpu_ns),
	offsetof(struct lineage_tally, ends_ns),
	offsetof(struct lineage_tally, cpu_wait_ns),
	offsetof(struct lineage_tally, io_wait_ns),
	offsetof(struct lineage_tally, memory_wait_ns),
	offsetof(struct lineage_tally, voluntary),
	offsetof(struct lineage_tally, involuntary),
	offsetof(struct lineage_tally, unseen_ns),
	offsetof(struct lineage_tally, born),
	offsetof(struct lineage_tally, ended),
	offsetof(struct lineage_tally, ends_weight_ns),
	offsetof(struct lineage_tally, ends_most_ns),
};

/* Adds the growth of an inner run from `before` to `now` to the tally `to` of its outer run. The
 * exit status is not copied. */
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

/* Puts `run` inside `outer`. If `run` was inside another run before, adds its growth until now to
 * the sums of that other run. The sums of a group of runs may then count this growth twice, so
 * break_group marks them as not comparable with earlier sums. */
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

static void leave_run(struct lineage *l, unsigned run)
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

/* Puts the run `inner` inside `run` if `pid` is the root of `inner`. A run that is already inside
 * another run moves only deeper: `run` must itself be inside that other run. */
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
	/* A process may move to `run` only from a run that contains `run`, or from a set of foreign
	 * processes. The sums of a group stay valid if the old and the new owner are in the same
	 * group. */
	if (*owner == run || (!are_others(l, *owner) && !is_within(l, run, *owner)))
		return;
	if (l->run[run].others != l->run[*owner].others) {
		break_group(l, *owner);
		break_group(l, run);
	}
	*owner = run;
}

void lineage_has_one_thread(struct lineage *l, pid_t pid)
{
	size_t i = find_entry(l, pid);

	if (i != LINEAGE_NONE)
		l->entry[i].one_thread = true;
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
	leave_run(l, run);
	remove_where(l, is_of_run, run);
	l->run[run].in_use = false;
}

void lineage_lost(struct lineage *l)
{
	for (unsigned i = 0; i < l->n_runs; i++) {
		mark_incomplete(l, i);
		/* The exit event of the root's last thread may be lost. It would have had the exit
		 * status of the root. */
		if (find_entry(l, l->run[i].root) != LINEAGE_NONE)
			l->run[i].past.status_heard = false;
	}
}

/* ---- tally of one process ---- */

/* Usual cost of a process end, measured: 60 us, plus 0.45 us for each page. */
#define END_NS      60000
#define END_PAGE_NS 450
/* An end that takes more than USUAL_MAX times the usual time was probably interrupted by another
 * task. It then counts as a usual end. */
#define USUAL_MAX  3
#define USUAL_STEP (1.0 / 32)
/* Assumed upper bound of the time from the exit event until the process is gone. */
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

/* Sets the CPU time that a process end cost. The kernel first makes the exit record, then frees the
 * memory of the process, and then sends the exit event. The cost is the time between the record and
 * the event. A time far above the usual time is replaced by the usual time, because another task
 * had the CPU in between. `usual` follows the median of the times, so a long interruption hardly
 * changes it. */
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
	/* If the first thread ended before the other threads, the record may have only its time.
	 * The clock then shows more. */
	uint64_t counted = r->cpu_ns > e->clock_ns ? r->cpu_ns : e->clock_ns;
	uint64_t with_end = r->cpu_ns + (e->final ? 0 : e->end_ns);

	t->cpu_ns += counted;
	t->ends_ns += with_end > counted ? with_end - counted : 0;
	t->cpu_wait_ns += r->cpu_wait_ns;
	t->io_wait_ns += r->io_wait_ns;
	t->memory_wait_ns += r->memory_wait_ns;
	t->voluntary += e->voluntary;
	t->involuntary += e->involuntary;
	if (e->recorded && !e->final) {
		t->unseen_ns += end_at_most(e) - e->end_ns;
		t->ends_weight_ns += e->priced ? e->end_ns : usual_end(e);
		t->ends_most_ns += e->priced ? e->took_ns + AFTER_NS : end_at_most(e);
	}
	if (r->peak_bytes > t->peak_process_bytes)
		t->peak_process_bytes = r->peak_bytes;
}

/* For an ended process without an exit record: adds to unseen_ns the most CPU time that the process
 * can have used after the last reading of its clock. */
static void add_tail(struct lineage *l, const struct lineage_entry *e)
{
	uint64_t from = e->clock_at_ns > e->born_ns ? e->clock_at_ns : e->born_ns;
	/* A process with several threads may have run after the last event. Its time until now
	 * counts. */
	uint64_t until = e->one_thread && e->ended_ns > from ? e->ended_ns + AFTER_NS : l->now_ns;

	if (!from)
		mark_incomplete(l, e->run);
	else if (until > from)
		l->run[e->run].past.unseen_ns += (until - from) * (e->one_thread ? 1 : l->cpus);
}

/* Adds the usage of a process that is gone to `past` of its run. The caller removes the entry. */
static void bury_entry(struct lineage *l, struct lineage_entry *e)
{
	struct lineage_tally *past = &l->run[e->run].past;

	price_end(l, e);
	tally_entry(past, e);
	past->ended++;
	/* A missing exit record usually means that a message was lost. But if `seen` is false, the
	 * process had already ended when it was added, and no record can come. */
	if (!e->recorded && l->cpus)
		add_tail(l, e);
	else if (!e->recorded && e->seen)
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
	/* The pid was reused: its earlier process is gone. */
	if (old != LINEAGE_NONE) {
		l->now_ns = event->at_ns;
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
			     .seen = true,
			     .one_thread = true});
}

static void ended(struct lineage *l, const struct process_event *event)
{
	size_t i = find_entry(l, event->pid);

	/* Each thread sends an exit event. The last event overwrites the earlier events. */
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
	size_t i = find_entry(l, event->pid);

	if (event->kind == PROCESS_FORKED)
		forked(l, event);
	else if (event->kind == THREAD_ENDED)
		ended(l, event);
	else if (i != LINEAGE_NONE)
		l->entry[i].one_thread = false;
}

/* Adds the context switches of a record to its process. Only exit records of single threads contain
 * them. The `whole` record of an ended process contains none. */
static void add_switches(struct lineage *l, const struct task_record *record)
{
	size_t i = find_entry(l, record->process ? record->process : record->id);

	if (record->whole || i == LINEAGE_NONE)
		return;
	l->entry[i].voluntary += record->voluntary;
	l->entry[i].involuntary += record->involuntary;
}

void lineage_record(struct lineage *l, const struct task_record *record)
{
	add_switches(l, record);

	size_t i = find_entry(l, record->id);
	struct lineage_entry *e = i == LINEAGE_NONE ? NULL : &l->entry[i];

	/* A `whole` record has the sums of all threads, so a later record of a single thread adds
	 * nothing. */
	if (!e || (e->recorded && e->record.whole))
		return;
	l->n_recorded += !e->recorded;
	e->recorded = true;

	uint64_t peak = e->record.peak_bytes;

	e->record = *record;
	/* An earlier record may have been that of the first thread only. Other threads then still
	 * ran when the clock was read, so `final` was set too early. */
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

size_t lineage_size(const struct lineage *l)
{
	return l->n;
}

size_t lineage_ended(const struct lineage *l)
{
	return l->n_recorded;
}

/* ---- living processes ---- */

void lineage_read_clocks(struct lineage *l, uint64_t now_ns, lineage_clock *clock, void *context)
{
	for (size_t i = 0; i < l->n; i++) {
		struct lineage_entry *e = &l->entry[i];
		uint64_t ns;

		/* If the clock ran backwards, the pid belongs to a new process. */
		e->gone = !clock(context, e->pid, &ns) || ns < e->clock_ns;
		if (e->gone)
			continue;
		e->clock_ns = ns;
		e->clock_at_ns = now_ns;
		e->seen = true;
		e->final = e->recorded && e->ended_ns;
	}
}

static bool is_gone(const struct lineage_entry *e, unsigned run)
{
	(void)run;
	return e->gone;
}

void lineage_settle(struct lineage *l, uint64_t now_ns)
{
	l->now_ns = now_ns;
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

/* ---- control groups that runs share ---- */

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

/* If a process was younger than this (ns) when the group was listed, the list may lack it although
 * it belongs to the group. The kernel sends the fork event before it adds the process to the group
 * (kernel/fork.c, copy_process). On a busy machine, much time can pass between these two steps.
 *
 * If an older process is missing and has no exit record, it is in another group. (When a process
 * ends, its exit record is made before it leaves its group.) */
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

/* Adds the living processes that are listed in the group but are missing from its part of the
 * table. They become foreign processes. Returns true if any was added. */
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

/* Returns true if a run in this group contains a run that is in another group. */
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
