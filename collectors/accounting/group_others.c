#include "collectors/accounting/group_others.h"

#include <math.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/process/process.h"

/*
 * Most others. Without the run's orphans, a newcomer counts as the run's unless an ancestor is an
 * other. That holds in a container, but not in a login session with many processes.
 */
#define FEW_OTHERS 16
#define MAX_OTHERS 512
/* Most ancestors of a newcomer that are checked. */
#define GENERATIONS_MAX 16
/* Error of waited-for times: user and system time, each in whole ticks of /proc. */
#define WAITED_TICKS 2

struct group_other {
	pid_t pid, parent;
	uint64_t start_ticks, faults;
	uint64_t clock;      /* CPU clock in ns at the last sample; 0 = none */
	double before, used; /* CPU seconds at the first sample, and since */
	/* Seconds of children it waited for: at the first sample, and now. */
	double waited_before, waited;
	uint64_t waited_faults;
	/* Waited-for time before ended others are settled: at this sample and the last. */
	struct waited_then {
		double seconds;
		uint64_t faults;
	} now, last;
	double expected; /* seen time of ended children: at least this must appear in waited */
	bool newcomer, ignores_children, gone;
	bool in_ticks, has_waited;
};

static struct group_other *other_of(struct group_others *o, pid_t pid)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->other[i].pid == pid)
			return &o->other[i];
	return NULL;
}

/* False if gone or being reaped: then parent, threads and waited-for times are 0. */
static bool read_stat(const struct host *h, pid_t pid, struct process_stat *ret)
{
	return process_read_stat(h, pid, ret) == 0 && ret->threads > 0;
}

static double seconds_of(const struct host *h, uint64_t ticks)
{
	return (double)ticks / (double)h->ticks_per_second;
}

static double used_of(const struct host *h, uint64_t clock, const struct process_stat *s)
{
	return clock ? (double)clock / 1e9 : seconds_of(h, s->user_ticks + s->system_ticks);
}

/*
 * Adds half a tick: the average cut off. Not to 0: the kernel puts the whole time of a process
 * shorter than a tick into user or system time (cputime_adjust() in kernel/sched/cputime.c), so the
 * other is truly 0.
 */
static double whole_of(const struct host *h, uint64_t ticks)
{
	return seconds_of(h, ticks) + (ticks ? 0.5 / (double)h->ticks_per_second : 0);
}

static double waited_of(const struct host *h, const struct process_stat *s)
{
	return whole_of(h, s->waited_user_ticks) + whole_of(h, s->waited_system_ticks);
}

/* ---- finding others ---- */

static int compare_ages(const void *a, const void *b)
{
	const struct group_other *p = a, *q = b;

	if (p->start_ticks != q->start_ticks)
		return p->start_ticks < q->start_ticks ? -1 : 1;
	return pids_compare(&p->pid, &q->pid);
}

static bool list_group(const struct group_others *o, const struct host *h, struct pids *ret)
{
	if (cgroup_place_processes(o->place, h, pids_add, ret) < 0)
		return false;
	pids_sort(ret);
	return true;
}

/* All CPU time of a newcomer counts as used in the group. */
static bool add_other(struct group_others *o, const struct host *h, pid_t pid, bool newcomer)
{
	uint64_t clock = process_cpu_clock(h, pid);
	struct process_stat s;

	/* The process is gone, or hidden (hidepid of proc(5)): then its clock still runs. */
	if (!read_stat(h, pid, &s))
		return process_cpu_clock(h, pid) == 0;
	if (o->n == (o->orphans_ours ? MAX_OTHERS : FEW_OTHERS))
		return false;
	double used = used_of(h, clock, &s), waited = waited_of(h, &s);

	GROW(o->other, o->n, o->room);
	o->other[o->n++] = (struct group_other){
		.pid = pid,
		.parent = s.ppid,
		.start_ticks = s.start_ticks,
		.faults = s.minor_faults,
		.clock = clock,
		.before = newcomer ? 0 : used,
		.used = newcomer ? used : 0,
		.waited_before = newcomer ? 0 : waited,
		.waited = waited,
		.waited_faults = s.waited_minor_faults,
		.now = {waited, s.waited_minor_faults},
		.newcomer = newcomer,
		.ignores_children = s.ignores_children,
		.in_ticks = newcomer && !clock,
		.has_waited = newcomer && s.waited_minor_faults,
	};
	if (newcomer && s.ignores_children)
		o->certain = false;
	return true;
}

/* Children of this exporter are the run: it forks nothing else. */
static enum kin {
	KIN_GONE,
	KIN_RUN,
	KIN_OTHER
} kin_of(struct group_others *o, const struct host *h, pid_t pid)
{
	struct process_stat s;

	for (int i = 0; i < GENERATIONS_MAX && pid > 0; i++) {
		if (other_of(o, pid))
			return KIN_OTHER;
		if (pid == o->root)
			return KIN_RUN;
		if (!read_stat(h, pid, &s))
			/* The parent has just ended: the next sample finds its new parent. */
			return o->orphans_ours || i == 0 ? KIN_GONE : KIN_RUN;
		if (s.ppid == o->ours)
			return KIN_RUN;
		pid = s.ppid;
	}
	return o->orphans_ours ? KIN_OTHER : KIN_RUN;
}

bool group_others_have(struct group_others *o, const struct host *h, pid_t pid)
{
	return kin_of(o, h, pid) == KIN_OTHER;
}

static void find_newcomers(struct group_others *o, const struct host *h)
{
	struct pids found = {0}, run = {0};
	size_t before = o->n;

	if (!list_group(o, h, &found))
		o->certain = false;
	for (size_t i = 0; i < found.n; i++) {
		pid_t pid = found.pid[i];
		enum kin kin = pids_has(&o->run, pid) ? KIN_RUN : kin_of(o, h, pid);

		if (kin == KIN_RUN)
			pids_add(&run, pid);
		else if (kin == KIN_OTHER && !other_of(o, pid) && !add_other(o, h, pid, true))
			o->certain = false;
	}
	if (o->n > before)
		qsort(o->other, o->n, sizeof *o->other, compare_ages);
	pids_done(&found);
	pids_done(&o->run);
	o->run = run;
}

bool group_others_init(struct group_others *o, const struct host *h,
	const struct group_others_spec *spec)
{
	struct process_stat root = {.ppid = group_others_own_pid(h)};
	struct pids found = {0};

	*o = (struct group_others){
		.place = spec->place,
		.ours = group_others_own_pid(h),
		.root = spec->root,
		.orphans_ours = spec->orphans_ours,
	};
	if (spec->root && process_read_stat(h, spec->root, &root) < 0)
		return false;
	o->parent = root.ppid;
	o->root_start_ticks = root.start_ticks;

	bool apart = list_group(o, h, &found);

	for (size_t i = 0; i < found.n && apart; i++) {
		/* 0 is a process outside this PID namespace. */
		if (found.pid[i] == 0)
			apart = false;
		else if (found.pid[i] == o->ours || !spec->members.is_member ||
			 !spec->members.is_member(spec->members.context, found.pid[i]))
			apart = add_other(o, h, found.pid[i], false);
	}
	if (o->n)
		qsort(o->other, o->n, sizeof *o->other, compare_ages);
	pids_done(&found);

	struct group_other *ours = other_of(o, o->ours);

	o->ours_inside = ours != NULL;
	if (ours && !isnan(spec->ours_seconds)) {
		ours->used = fmax(ours->before - spec->ours_seconds, 0);
		ours->before = spec->ours_seconds;
	}
	return apart;
}

bool group_others_wait(const struct group_others *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->other[i].pid != o->ours && o->other[i].ignores_children)
			return false;
	return true;
}

void group_others_done(struct group_others *o)
{
	free(o->other);
	pids_done(&o->run);
	*o = (struct group_others){0};
}

/* ---- the living ---- */

/* The parent has its child's times before the child disappears from /proc. */
static bool root_ended(const struct group_others *o, const struct host *h)
{
	struct process_stat s;
	int code = process_read_stat(h, o->root, &s);

	if (process_unanswered(code))
		return false;
	return code || s.start_ticks != o->root_start_ticks || s.state == 'Z' || s.state == 'X';
}

/* True if pid also waits for the run: its parent, or the reaper of its orphans. */
static bool waits_for_run(const struct group_others *o, pid_t pid)
{
	return pid == o->ours || pid == 1 || pid == o->parent;
}

static void take_waited(struct group_others *o, const struct host *h, struct group_other *p,
	const struct process_stat *s)
{
	if (s->waited_minor_faults == p->waited_faults)
		return;
	p->waited_faults = s->waited_minor_faults;
	if (!waits_for_run(o, p->pid)) {
		p->waited = fmax(p->waited, waited_of(h, s));
		p->has_waited = true;
	} else if (p->pid == o->parent && p->pid != o->ours && p->pid != 1) {
		/* Check after reading the parent's times: every child in them has ended. */
		if (o->root_waited || !root_ended(o, h))
			o->certain = false;
		o->root_waited = true;
	}
}

/* False if it is gone. */
static bool look_at(struct group_others *o, const struct host *h, struct group_other *p)
{
	uint64_t clock = process_cpu_clock(h, p->pid);
	struct process_stat s;

	if (clock && clock == p->clock)
		return true;
	if (!read_stat(h, p->pid, &s) || s.start_ticks != p->start_ticks)
		return false;
	double used = used_of(h, clock, &s) - p->before;

	if (s.ignores_children && used > p->used && s.minor_faults != p->faults &&
		p->pid != o->ours)
		o->certain = false;
	p->parent = s.ppid;
	p->clock = clock;
	p->faults = s.minor_faults;
	p->ignores_children = s.ignores_children;
	p->in_ticks = p->in_ticks || (!clock && used > p->used);
	p->used = fmax(p->used, used);
	take_waited(o, h, p, &s);
	return true;
}

/* ---- those that ended ---- */

/* The process that has waited for gone: its parent or an ancestor. NULL = unknown. */
static struct group_other *heir_of(struct group_others *o, const struct group_other *gone)
{
	struct group_other *p = other_of(o, gone->parent);

	for (int i = 0; p && p->gone && i < GENERATIONS_MAX; i++)
		p = other_of(o, p->parent);
	return p && !p->gone && !p->ignores_children && !waits_for_run(o, p->pid) ? p : NULL;
}

/*
 * A parent that waited has all of its CPU time. Otherwise its time after the last sample is
 * unknown. Sampling goes from old to young: gone ended after its heir was sampled.
 */
static void settle_gone(struct group_others *o, const struct host *h,
	const struct group_other *gone)
{
	struct group_other *heir = heir_of(o, gone);

	while (heir && !look_at(o, h, heir)) {
		heir->gone = true;
		heir = heir_of(o, gone);
	}
	if (heir && gone->pid == o->parent) {
		/* The heir now also waits for the run. */
		o->parent = heir->pid;
		heir->waited = heir->last.seconds;
		heir = NULL;
	}
	if (!heir || heir->waited_faults == heir->last.faults) {
		double used = gone->used + gone->waited - gone->waited_before;

		o->ended_seconds += used;
		/* Assume that its unseen time is at most its seen time. */
		o->doubtful_seconds += used;
		return;
	}
	heir->waited_before += gone->before + gone->waited_before;
	heir->expected += gone->before + gone->used + gone->waited;
	heir->in_ticks = heir->in_ticks || gone->waited_before > 0;
}

static void settle_ended(struct group_others *o, const struct host *h)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++)
		if (o->other[i].gone)
			settle_gone(o, h, &o->other[i]);
	for (size_t i = 0; i < o->n; i++)
		if (!o->other[i].gone)
			o->other[n++] = o->other[i];
	o->n = n;
	for (size_t i = 0; i < o->n; i++) {
		struct group_other *p = &o->other[i];

		/* A process was orphaned, and another process waited for it. */
		if (p->expected > p->waited - p->last.seconds + seconds_of(h, WAITED_TICKS))
			o->certain = false;
		p->expected = 0;
	}
}

/* ---- for callers ---- */

pid_t group_others_own_pid(const struct host *h)
{
	char self[16];
	uint64_t pid;
	ssize_t n = tree_link(h->proc, "self", self, sizeof self);
	struct scan text = SCAN(self, n > 0 ? n : 0);

	return scan_u64(&text, &pid) && pid <= INT32_MAX ? (pid_t)pid : -1;
}

double group_others_cpu_seconds(const struct host *h, pid_t pid)
{
	struct process_stat s;

	return process_read_stat(h, pid, &s) == 0 ? used_of(h, process_cpu_clock(h, pid), &s) :
						    (double)NAN;
}

static void look_at_all(struct group_others *o, const struct host *h)
{
	for (size_t i = 0; i < o->n; i++) {
		struct group_other *p = &o->other[i];

		p->last = p->now;
		p->gone = !look_at(o, h, p);
		p->now = (struct waited_then){p->waited, p->waited_faults};
	}
}

struct group_others_used group_others_look(struct group_others *o, const struct host *h)
{
	struct group_others_used ret = {0};

	o->certain = true;
	look_at_all(o, h);
	settle_ended(o, h);
	find_newcomers(o, h);
	for (size_t i = 0; i < o->n; i++) {
		const struct group_other *p = &o->other[i];
		double seconds = p->used + p->waited - p->waited_before;

		if (p->pid == o->ours) {
			ret.ours = seconds;
			continue;
		}
		ret.seconds += seconds;
		ret.in_ticks += p->in_ticks || p->has_waited;
	}
	ret.seconds += o->ended_seconds;
	ret.certain = o->certain;
	ret.doubtful_seconds = o->doubtful_seconds;
	return ret;
}
