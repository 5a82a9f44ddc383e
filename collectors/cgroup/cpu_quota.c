#include "collectors/cgroup/cpu_quota.h"

#include <math.h>

#include "collectors/cgroup/files.h"
#include "collectors/kernel_file.h"

double cgroup_number(const struct cgroup_place *p, const struct host *h, const char *file,
	const char *key)
{
	char path[CGROUP_FILE_MAX];
	struct scan text;
	uint64_t v;

	if (!p->version ||
		kernel_file_read_once(h, p->tree, cgroup_file(p, file, path), &text, NULL) < 0)
		return NAN;
	if (key)
		return number_found(text, key);
	return scan_u64(&text, &v) ? (double)v : (double)NAN;
}

static bool has_quota(const struct cgroup_place *p, const struct host *h)
{
	/* If there is no quota, the file contains "max 100000" (v2) or -1 (v1). In both cases
	 * cgroup_number returns NaN. */
	return cgroup_number(p, h, p->version == 1 ? "cpu.cfs_quota_us" : "cpu.max", NULL) > 0;
}

struct cpu_quota cpu_quota_read(const struct cgroup_place *p, const struct host *h)
{
	struct cpu_quota q = {*p, NAN, NAN, NAN};
	char path[CGROUP_FILE_MAX];
	struct scan text;
	bool v1 = p->version == 1;

	if (!p->version || kernel_file_read_once(h, p->tree, cgroup_file(p, "cpu.stat", path),
				   &text, NULL) < 0)
		return q;
	q.periods = number_found(text, "nr_periods");
	q.throttled_periods = number_found(text, "nr_throttled");
	q.throttled_seconds =
		number_found(text, v1 ? "throttled_time" : "throttled_usec") / (v1 ? 1e9 : 1e6);
	return q;
}

struct cpu_quota cpu_quota_find(const struct cgroup *c, const struct host *h)
{
	struct cgroup_place p = c->place[CGROUP_CPU];

	if (!p.version)
		return (struct cpu_quota){0};
	do
		if (has_quota(&p, h))
			return cpu_quota_read(&p, h);
	while (cgroup_parent(&p));
	return (struct cpu_quota){0};
}

void cpu_quota_count_from(struct cpu_quota *q, const struct cpu_quota *earlier,
	const struct cgroup_place *own)
{
	if (cgroup_same_place(&q->place, own))
		q->periods = q->throttled_periods = q->throttled_seconds = 0;
	else if (earlier && cgroup_same_place(&q->place, &earlier->place))
		*q = *earlier;
}
