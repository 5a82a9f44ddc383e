#include "collectors/accounting/group_remainder.h"

#include <math.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/accounting/group_others.h"
#include "collectors/cgroup/cpu_quota.h"

/*
 * How far the result may exceed the truth: a share of the run's CPU time plus a constant. The
 * constant is larger with times in ticks, unless this exporter waits for the run: then wait4(2)
 * gives the exact time.
 */
#define ABOVE_SHARE            0.01
#define ABOVE_SECONDS          0.001
#define ABOVE_SECONDS_IN_TICKS 0.01
/* Error of a time in ticks: at most two; the variance gives three deviations in slack_of(). */
#define OFF_TICKS          2
#define OFF_VARIANCE_TICKS (1.0 / 3)

struct group_remainder {
	struct cgroup group;
	struct group_others others;
	/* group usage during the first sample of the others, without this exporter */
	double blur;
	double before;      /* group usage minus the run's when the run began */
	double ours_before; /* CPU time of this exporter when the run began; NaN = unknown */
	double rest;        /* most likely CPU time of the run */
	double least;       /* certain CPU time of the run, except for ticks */
	double doubtful;    /* doubtful_seconds of the others at the last sample */
	struct group_remainder_reading reported;
};

double cgroup_cpu_seconds(const struct cgroup *c, const struct host *h)
{
	const struct cgroup_place *p = cgroup_cpu_place(c);

	return p->version == 2 ? cgroup_number(p, h, "cpu.stat", "usage_usec") / 1e6 :
				 cgroup_number(p, h, "cpuacct.usage", NULL) / 1e9;
}

struct group_remainder_start group_remainder_start(const struct cgroup *group, const struct host *h)
{
	/* Read this exporter's clock first: the kernel then charges its time to the group. */
	double ours = group_others_cpu_seconds(h, group_others_own_pid(h));

	return (struct group_remainder_start){cgroup_cpu_seconds(group, h), ours};
}

/* Usage of the group without this exporter, whose own use is known exactly. */
static double used_between(const struct group_remainder *r,
	const struct group_remainder_start *from, const struct group_remainder_start *to)
{
	double used = to->usage_seconds - from->usage_seconds;
	double ours = to->ours_seconds - from->ours_seconds;

	return fmax(r->others.ours_inside && ours > 0 ? used - ours : used, 0);
}

struct group_remainder *group_remainder_open(const struct host *h,
	const struct group_remainder_spec *spec)
{
	const struct cgroup_place *p = cgroup_cpu_place(spec->group);

	if (!p->version || isnan(spec->start.usage_seconds) || cgroup_has_groups_below(p, p))
		return NULL;
	struct group_remainder *r = xcalloc(1, sizeof *r);
	r->group = *spec->group;
	struct group_others_spec others = {cgroup_cpu_place(&r->group), spec->root, spec->members,
		spec->orphans_ours, spec->start.ours_seconds};
	r->rest = r->least = spec->known_seconds;
	r->before = spec->start.usage_seconds - r->rest;
	r->ours_before = spec->start.ours_seconds;
	r->reported = (struct group_remainder_reading){r->rest, r->rest};
	bool apart = group_others_init(&r->others, h, &others);

	struct group_remainder_start now = group_remainder_start(&r->group, h);

	r->blur = used_between(r, &spec->start, &now);
	if (apart)
		return r;
	group_remainder_close(r);
	return NULL;
}

bool group_remainder_is_sure(const struct group_remainder *r)
{
	return group_others_wait(&r->others);
}

void group_remainder_close(struct group_remainder *r)
{
	if (!r)
		return;
	group_others_done(&r->others);
	free(r);
}

/*
 * Error of n times in ticks, read at the beginning and now. User and system time are each truncated
 * to whole ticks: four independent errors with a variance of 1/12.
 */
static double slack_of(const struct host *h, unsigned n)
{
	double ticks = fmin(OFF_TICKS * (double)n, 3 * sqrt(OFF_VARIANCE_TICKS * (double)n));

	return ticks / (double)h->ticks_per_second;
}

struct group_remainder_reading group_remainder_read(struct group_remainder *r, const struct host *h,
	double known_seconds)
{
	struct group_remainder_start first = group_remainder_start(&r->group, h);
	struct group_others_used others = group_others_look(&r->others, h);
	/* Read last: CPU time of others in between must not be taken off the run. */
	struct group_remainder_start now = group_remainder_start(&r->group, h);

	/* The group disappeared with its last process. */
	if (isnan(now.usage_seconds))
		return r->reported;
	double ours = r->others.ours_inside ? now.ours_seconds - r->ours_before : others.ours;
	double rest =
		now.usage_seconds - r->before - (isnan(ours) ? others.ours : ours) - others.seconds;
	double slack = slack_of(h, others.in_ticks);

	if (others.certain)
		r->least += rest - r->rest;
	r->least -= others.doubtful_seconds - r->doubtful;
	r->least = fmin(fmax(r->least, known_seconds), rest);
	r->rest = rest;
	r->doubtful = others.doubtful_seconds;
	/* If the possible excess is too large, report only the certain part. */
	double off = slack + r->blur + used_between(r, &first, &now), share = rest * ABOVE_SHARE;
	double allowed = r->others.orphans_ours ? ABOVE_SECONDS : ABOVE_SECONDS_IN_TICKS;
	double reported = rest - r->least + off > share + ABOVE_SECONDS ? r->least : rest;

	return r->reported = (struct group_remainder_reading){
		       .seconds = reported - fmax(off - share - allowed, 0),
		       .most = rest + slack,
	       };
}

void group_remainder_processes(struct group_remainder *r, const struct host *h,
	void (*each)(void *context, pid_t pid), void *context)
{
	struct pids found = {0};

	/* If orphans come to this exporter, the tree finds the run's processes itself. */
	if (r->others.orphans_ours ||
		cgroup_place_processes(cgroup_cpu_place(&r->group), h, pids_add, &found) < 0)
		return;
	for (size_t i = 0; i < found.n; i++)
		if (found.pid[i] && !group_others_have(&r->others, h, found.pid[i]))
			each(context, found.pid[i]);
	pids_done(&found);
}
