/* Telling a run from the others in its control group. */
#include "collectors/accounting/group_remainder.h"

#include <math.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/accounting/group_others.h"
#include "collectors/cgroup/cpu_quota.h"

/*
 * So much more than was spent may be told, of the run's CPU time, and beside that. For the sake of times in ticks that is
 * more, unless this exporter waits for the run: then what was waited for will be told to the instant.
 */
#define ABOVE_SHARE            0.01
#define ABOVE_SECONDS          0.001
#define ABOVE_SECONDS_IN_TICKS 0.01
/* A time in ticks is off by two at most, and by more than three standard deviations hardly ever: see slack_of(). */
#define OFF_TICKS          2
#define OFF_VARIANCE_TICKS (1.0 / 3)

struct cgroup_rest {
	struct cgroup group;
	struct others others;
	double blur;   /* what the group used, but for us, while the others were looked at first */
	double before; /* of the group, less what the run had used */
	double ours_before; /* of this exporter; NaN = unknown */
	double rest;        /* of the group now: what is most likely the run's */
	double least;       /* of that, what is the run's for certain, but for ticks */
	double doubtful;    /* others_used, at the last look */
	struct cgroup_rest_reading told;
};

double group_cpu_seconds(const struct cgroup *c, const struct host *h)
{
	const struct cgroup_place *p = cgroup_cpu_place(c);

	return p->version == 2 ? group_number(p, h, "cpu.stat", "usage_usec") / 1e6 :
				 group_number(p, h, "cpuacct.usage", NULL) / 1e9;
}

struct cgroup_rest_start cgroup_rest_start(const struct cgroup *group, const struct host *h)
{
	/* Reading one's own clock has the kernel charge to the group what was used until then. */
	double ours = others_cpu_seconds(h, others_own_pid(h));

	return (struct cgroup_rest_start){group_cpu_seconds(group, h), ours};
}

/* By all in the group but this exporter, whose own looking is known to the instant. */
static double used_between(const struct cgroup_rest *r, const struct cgroup_rest_start *from,
	const struct cgroup_rest_start *to)
{
	double used = to->usage_seconds - from->usage_seconds;
	double ours = to->ours_seconds - from->ours_seconds;

	return fmax(r->others.ours_inside && ours > 0 ? used - ours : used, 0);
}

struct cgroup_rest *cgroup_rest_open(const struct host *h, const struct cgroup_rest_spec *spec)
{
	const struct cgroup_place *p = cgroup_cpu_place(spec->group);

	if (!p->version || isnan(spec->start.usage_seconds) || cgroup_has_groups_below(p, p))
		return NULL;
	struct cgroup_rest *r = xcalloc(1, sizeof *r);
	r->group = *spec->group;
	struct others_spec others = {cgroup_cpu_place(&r->group), spec->root, spec->members,
		spec->orphans_ours, spec->start.ours_seconds};
	r->rest = r->least = spec->known_seconds;
	r->before = spec->start.usage_seconds - r->rest;
	r->ours_before = spec->start.ours_seconds;
	r->told = (struct cgroup_rest_reading){r->rest, r->rest};
	bool apart = others_init(&r->others, h, &others);

	struct cgroup_rest_start now = cgroup_rest_start(&r->group, h);

	r->blur = used_between(r, &spec->start, &now);
	if (apart)
		return r;
	cgroup_rest_close(r);
	return NULL;
}

bool cgroup_rest_is_sure(const struct cgroup_rest *r)
{
	return others_wait(&r->others);
}

void cgroup_rest_close(struct cgroup_rest *r)
{
	if (!r)
		return;
	others_done(&r->others);
	free(r);
}

/*
 * n times were read in ticks when the run began, and again: user and system time, each truncated to a whole tick. That is
 * four errors of a variance of 1/12 each, which do not know of each other.
 */
static double slack_of(const struct host *h, unsigned n)
{
	double ticks = fmin(OFF_TICKS * (double)n, 3 * sqrt(OFF_VARIANCE_TICKS * (double)n));

	return ticks / (double)h->ticks_per_second;
}

struct cgroup_rest_reading cgroup_rest_read(struct cgroup_rest *r, const struct host *h,
	double known_seconds)
{
	struct cgroup_rest_start first = cgroup_rest_start(&r->group, h);
	struct others_used others = others_look(&r->others, h);
	/* Read last: what others do from one reading to the other must not be taken off the run. */
	struct cgroup_rest_start now = cgroup_rest_start(&r->group, h);

	/* A group that is gone with its last process says nothing more. */
	if (isnan(now.usage_seconds))
		return r->told;
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
	/* By that it may be too much; and by what is above the least, of which there may be nothing. */
	double off = slack + r->blur + used_between(r, &first, &now), share = rest * ABOVE_SHARE;
	double allowed = r->others.orphans_ours ? ABOVE_SECONDS : ABOVE_SECONDS_IN_TICKS;
	double told = rest - r->least + off > share + ABOVE_SECONDS ? r->least : rest;

	return r->told = (struct cgroup_rest_reading){
		       .seconds = told - fmax(off - share - allowed, 0),
		       .most = rest + slack,
	       };
}

void cgroup_rest_processes(struct cgroup_rest *r, const struct host *h,
	void (*each)(void *context, pid_t pid), void *context)
{
	struct pids found = {0};

	/* The tree finds them itself where orphans come to this exporter. */
	if (r->others.orphans_ours ||
		cgroup_place_processes(cgroup_cpu_place(&r->group), h, pids_add, &found) < 0)
		return;
	for (size_t i = 0; i < found.n; i++)
		if (found.pid[i] && !others_have(&r->others, h, found.pid[i]))
			each(context, found.pid[i]);
	pids_done(&found);
}
