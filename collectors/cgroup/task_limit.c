#include "collectors/cgroup/task_limit.h"

#include <math.h>

#include "collectors/cgroup/cpu_quota.h"

static double has_limit(const struct cgroup_place *p, const struct host *h)
{
	/* "max" means that there is no limit. */
	return cgroup_number(p, h, "pids.max", NULL);
}

static double refused(const struct cgroup_place *p, const struct host *h)
{
	return cgroup_number(p, h, "pids.events", "max");
}

/* Returns `p`, or the nearest group above it, for which the function `number` does not return NaN.
 * `version` of the result is 0 if there is none. */
static struct cgroup_place nearest_with(struct cgroup_place p, const struct host *h,
	double (*number)(const struct cgroup_place *, const struct host *))
{
	if (!p.version)
		return p;
	do
		if (!isnan(number(&p, h)))
			return p;
	while (cgroup_parent(&p));
	return (struct cgroup_place){0};
}

static struct task_counter count_from(const struct cgroup_place *p, const struct cgroup_place *own,
	const struct host *h)
{
	return (struct task_counter){*p, cgroup_same_place(p, own) ? 0 : refused(p, h)};
}

struct task_limit task_limit_find(const struct cgroup *c, const struct cgroup_place *own,
	const struct host *h)
{
	struct cgroup_place limited = nearest_with(c->place[CGROUP_PIDS], h, has_limit);
	struct cgroup_place nearest = nearest_with(c->place[CGROUP_PIDS], h, refused);
	struct task_limit t = {0};

	if (!limited.version)
		return t;
	t.limited = count_from(&limited, own, h);
	if (!cgroup_same_place(&limited, &nearest))
		t.nearest = count_from(&nearest, own, h);
	return t;
}

static double since(const struct task_counter *c, const struct host *h)
{
	return refused(&c->place, h) - c->before;
}

double task_limit_refused(const struct task_limit *t, const struct host *h)
{
	double sum = since(&t->limited, h);

	return t->nearest.place.version ? sum + since(&t->nearest, h) : sum;
}
