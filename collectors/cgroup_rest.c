/* Telling a run from the others in its control group. */
#include "collectors/cgroup_rest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/cgroup_own.h"
#include "collectors/pids.h"
#include "collectors/process.h"
#include "collectors/quota.h"

#define OTHERS_MAX 16
/* All others together whose times are not exact, of the run's CPU time, and beside that. */
#define OTHERS_SHARE   0.01
#define OTHERS_SECONDS 0.01
/* Times of children that were waited for: user and system time, each in whole ticks of /proc. */
#define WAITED_TICKS 2
/* How far up the ancestors of a newcomer are looked at. */
#define GENERATIONS_MAX 16

struct other {
	pid_t pid, parent;
	uint64_t start_ticks, waited_faults;
	uint64_t parent_faults;       /* waited_faults of the parent when this one lived */
	double before, used;          /* CPU seconds when it was first seen, and since */
	double waited_before, waited; /* the same of children that it waited for */
	bool has_waited;              /* for a child: its times are in whole ticks */
	bool exact;                   /* used, to the instant: by its CPU clock, and it lives */
};

struct cgroup_rest {
	const struct cgroup *group;
	pid_t ours;         /* this exporter, if it is in the group */
	pid_t root, parent; /* the parent of the root waits for the root, if for nobody else */
	uint64_t root_start_ticks;
	bool root_waited; /* the parent did */
	double before;    /* of the group, less what the run had used */
	size_t n;
	struct other other[OTHERS_MAX];
	double rest; /* as it was last told */
	bool apart;  /* so far, all in the group are known for what they are */
};

double group_cpu_seconds(const struct cgroup *c, const struct host *h)
{
	if (c->place[CGROUP_CPU].version == 2)
		return group_number(&c->place[CGROUP_CPU], h, "cpu.stat", "usage_usec") / 1e6;
	return group_number(&c->place[CGROUP_CPUACCT], h, "cpuacct.usage", NULL) / 1e9;
}

static const struct cgroup_place *place_of(const struct cgroup *c)
{
	return &c->place[c->place[CGROUP_CPU].version == 2 ? CGROUP_CPU : CGROUP_CPUACCT];
}

/* ---- who is there ---- */

/* NULL: the run's, or unknown. */
static struct other *other_of(struct cgroup_rest *r, pid_t pid)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->other[i].pid == pid)
			return &r->other[i];
	return NULL;
}

/* Is one of its ancestors an other? This exporter is none of them: what it forks is the run. */
static bool descends_from_other(struct cgroup_rest *r, const struct host *h, pid_t pid)
{
	struct process_stat s;

	for (int i = 0; i < GENERATIONS_MAX && pid > 0; i++) {
		if (pid == r->root || process_read_stat(h, pid, &s) < 0 || s.ppid == r->ours)
			return false;
		if (other_of(r, s.ppid))
			return true;
		pid = s.ppid;
	}
	return false;
}

/* ---- others ---- */

static double cpu_of(const struct host *h, const struct process_stat *s, bool *ret_exact)
{
	uint64_t clock = process_cpu_clock(h, s->pid);

	*ret_exact = clock != 0;
	return clock ? (double)clock / 1e9 :
		       (double)(s->user_ticks + s->system_ticks) / (double)h->ticks_per_second;
}

/* A parent has its child's times before the child is gone from /proc. */
static bool root_ended(const struct cgroup_rest *r, const struct host *h)
{
	struct process_stat s;

	return process_read_stat(h, r->root, &s) < 0 || s.start_ticks != r->root_start_ticks ||
	       s.state == 'Z' || s.state == 'X';
}

static double waited_of(const struct host *h, const struct process_stat *s)
{
	return (double)(s->waited_user_ticks + s->waited_system_ticks) /
	       (double)h->ticks_per_second;
}

/* Does what it waits for tell of the run, too? Orphans of the run come to this exporter, or to the namespace's first. */
static bool waits_for_run(const struct cgroup_rest *r, pid_t pid)
{
	return pid == r->ours || pid == 1 || pid == r->parent;
}

/* It waited for somebody. False: maybe for more than the root, by its parent, once. */
static bool take_waited(struct cgroup_rest *r, const struct host *h, struct other *o,
	const struct process_stat *s)
{
	if (!waits_for_run(r, o->pid)) {
		o->waited = fmax(o->waited, waited_of(h, s) - o->waited_before);
		o->has_waited = true;
	} else if (o->pid == r->parent && o->pid != r->ours && o->pid != 1) {
		/* Asked after the parent's times were read: who was waited for until then has ended. */
		if (r->root_waited || !root_ended(r, h))
			return false;
		r->root_waited = true;
	}
	o->waited_faults = s->waited_minor_faults;
	return true;
}

/* False: it is gone. */
static bool look_at_living(struct cgroup_rest *r, const struct host *h, struct other *o)
{
	const struct other *parent = other_of(r, o->parent);
	uint64_t parent_faults = parent ? parent->waited_faults : 0;
	struct process_stat s;

	if (process_read_stat(h, o->pid, &s) < 0 || s.start_ticks != o->start_ticks)
		return false;
	double used = cpu_of(h, &s, &o->exact) - o->before;

	/* Whoever runs may fork, and nobody would be told of such children. */
	if (s.ignores_children && used > o->used && o->pid != r->ours)
		r->apart = false;
	o->parent_faults = parent_faults;
	o->used = fmax(o->used, used);
	if (s.waited_minor_faults != o->waited_faults)
		r->apart = take_waited(r, h, o, &s) && r->apart;
	return true;
}

/* Whoever waited for it has its times by now, all of them. Else what it did last is not known. */
static void look_at_gone(struct cgroup_rest *r, const struct host *h, struct other *o)
{
	struct other *parent = other_of(r, o->parent);

	o->exact = false;
	if (!parent || o->before > 0 || o->waited_before > 0 || waits_for_run(r, o->parent))
		return;
	if (look_at_living(r, h, parent) && parent->waited_faults != o->parent_faults)
		o->pid = 0;
}

static void forget_waited(struct cgroup_rest *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->other[i].pid)
			r->other[n++] = r->other[i];
	r->n = n;
}

/* A newcomer is a child of an other: all that it used, it used here. */
static bool add_other(struct cgroup_rest *r, const struct host *h, pid_t pid, bool newcomer)
{
	struct process_stat s;

	if (process_read_stat(h, pid, &s) < 0)
		return true; /* gone meanwhile */
	if (r->n == OTHERS_MAX)
		return false;
	const struct other *parent = other_of(r, s.ppid);
	bool exact;
	double used = cpu_of(h, &s, &exact), waited = waited_of(h, &s);

	r->other[r->n++] = (struct other){
		.pid = pid,
		.parent = s.ppid,
		.start_ticks = s.start_ticks,
		.waited_faults = s.waited_minor_faults,
		.parent_faults = parent ? parent->waited_faults : 0,
		.before = newcomer ? 0 : used,
		.used = newcomer ? used : 0,
		.waited_before = newcomer ? 0 : waited,
		.waited = newcomer ? waited : 0,
		.has_waited = newcomer && s.waited_minor_faults,
		.exact = exact,
	};
	return true;
}

static bool find_first_others(struct cgroup_rest *r, const struct host *h,
	const struct cgroup_rest_spec *spec)
{
	struct pids found = {0};
	bool apart = cgroup_place_processes(place_of(r->group), h, pids_add, &found) == 0;

	for (size_t i = 0; i < found.n && apart; i++) {
		/* 0 is one that this PID namespace does not show. */
		if (found.pid[i] == 0)
			apart = false;
		else if (found.pid[i] == r->ours || !spec->is_member(spec->context, found.pid[i]))
			apart = add_other(r, h, found.pid[i], false);
	}
	pids_done(&found);
	return apart;
}

static bool find_new_others(struct cgroup_rest *r, const struct host *h)
{
	struct pids found = {0};
	bool apart = cgroup_place_processes(place_of(r->group), h, pids_add, &found) == 0;

	for (size_t i = 0; i < found.n && apart; i++)
		if (!other_of(r, found.pid[i]) && descends_from_other(r, h, found.pid[i]))
			apart = add_other(r, h, found.pid[i], true);
	pids_done(&found);
	return apart;
}

/* ---- what others ask ---- */

static pid_t own_pid(const struct host *h)
{
	char self[16];
	uint64_t pid;
	ssize_t n = tree_link(h->proc, "self", self, sizeof self);
	struct scan text = SCAN(self, n > 0 ? n : 0);

	/* Nobody has the number -1. */
	return scan_u64(&text, &pid) && pid <= INT32_MAX ? (pid_t)pid : -1;
}

struct cgroup_rest_start cgroup_rest_start(const struct cgroup *group, const struct host *h)
{
	struct cgroup_rest_start ret = {NAN, NAN};
	struct process_stat s;
	pid_t ours = own_pid(h);

	ret.usage_seconds = group_cpu_seconds(group, h);
	bool exact;

	if (process_read_stat(h, ours, &s) == 0)
		ret.ours_seconds = cpu_of(h, &s, &exact);
	return ret;
}

struct cgroup_rest *cgroup_rest_open(const struct host *h, const struct cgroup_rest_spec *spec)
{
	const struct cgroup_place *p = place_of(spec->group);
	struct process_stat root;

	if (!p->version || isnan(spec->start.usage_seconds) || cgroup_has_groups_below(p, p) ||
		process_read_stat(h, spec->root, &root) < 0)
		return NULL;
	struct cgroup_rest *r = xcalloc(1, sizeof *r);

	r->group = spec->group;
	r->ours = own_pid(h);
	r->root = spec->root;
	r->parent = root.ppid;
	r->root_start_ticks = root.start_ticks;
	r->rest = spec->known_seconds;
	r->before = spec->start.usage_seconds - r->rest;
	r->apart = find_first_others(r, h, spec);
	for (size_t i = 0; i < r->n; i++)
		if (r->other[i].pid == r->ours)
			r->other[i].before = spec->start.ours_seconds;
	if (r->apart)
		return r;
	cgroup_rest_close(r);
	return NULL;
}

void cgroup_rest_close(struct cgroup_rest *r)
{
	free(r);
}

/* Parents come before their children: a child that is gone is in what its parent waited for. */
static void look_at_others(struct cgroup_rest *r, const struct host *h)
{
	for (size_t i = 0; i < r->n; i++)
		if (!look_at_living(r, h, &r->other[i]))
			look_at_gone(r, h, &r->other[i]);
	forget_waited(r);
}

struct cgroup_rest_reading cgroup_rest_read(struct cgroup_rest *r, const struct host *h)
{
	double others = 0, ours = 0, inexact = 0, ticks = 0;
	bool was_apart = r->apart;

	r->apart = r->apart && find_new_others(r, h);
	look_at_others(r, h);
	for (size_t i = 0; i < r->n; i++) {
		const struct other *o = &r->other[i];

		*(o->pid == r->ours ? &ours : &others) += o->used + o->waited;
		if (o->pid == r->ours)
			continue;
		inexact += o->exact ? 0 : o->used;
		ticks += o->has_waited ? WAITED_TICKS : 0;
	}
	/* Read last: what others do from one reading to the other must not be taken off the run. */
	double usage = group_cpu_seconds(r->group, h);

	/* A group that is gone with its last process says nothing more. */
	if (isnan(usage)) {
		r->apart = was_apart;
		return (struct cgroup_rest_reading){r->rest, r->apart};
	}
	r->rest = usage - r->before - ours - others;
	double allowed = r->rest * OTHERS_SHARE + OTHERS_SECONDS;

	r->apart = r->apart && inexact <= allowed;
	return (struct cgroup_rest_reading){
		r->rest, r->apart && ticks / (double)h->ticks_per_second <= allowed};
}

void cgroup_rest_processes(struct cgroup_rest *r, const struct host *h,
	void (*each)(void *context, pid_t pid), void *context)
{
	struct pids found = {0};

	if (!r->apart || cgroup_place_processes(place_of(r->group), h, pids_add, &found) < 0)
		return;
	for (size_t i = 0; i < found.n; i++)
		if (found.pid[i] && !other_of(r, found.pid[i]) &&
			!descends_from_other(r, h, found.pid[i]))
			each(context, found.pid[i]);
	pids_done(&found);
}
