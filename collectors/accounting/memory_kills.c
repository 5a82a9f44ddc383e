#include "collectors/accounting/memory_kills.h"

#include <math.h>
#include <string.h>

#include "collectors/process/pids.h"
#include "collectors/process/process.h"
#include "collectors/cgroup/cpu_quota.h"
#include "collectors/kernel_file.h"

/* A peak within 1 % of the limit counts as the limit. The kernel charges pages in batches, and
 * kills slightly before the group reaches its limit. */
#define AT_LIMIT 1.01

/* ---- kernel counters ---- */

static double machine_kills(const struct host *h)
{
	struct scan text;

	return kernel_file_read_once(h, h->proc, "vmstat", &text, NULL) < 0 ?
		       (double)NAN :
		       number_found(text, "oom_kill");
}

/* Returns the number of OOM kills in a group. v1 counts kills in this group only; v2 includes the
 * groups below. */
static double group_kills(const struct cgroup_place *p, const struct host *h)
{
	return cgroup_number(p, h, p->version == 1 ? "memory.oom_control" : "memory.events",
		"oom_kill");
}

static double limit_met(const struct cgroup_place *p, const struct host *h)
{
	return p->version == 1 ? (double)NAN : cgroup_number(p, h, "memory.events", "oom");
}

static double mark_of(const struct cgroup_place *p, const struct host *h)
{
	return cgroup_number(p, h, p->version == 1 ? "memory.max_usage_in_bytes" : "memory.peak",
		NULL);
}

/* ---- foreign processes in the group ---- */

/* Finds the foreign processes in the group, which do not belong to the run. Returns false if there
 * are too many of them, or if one is outside this PID namespace. */
static bool find_others(const struct memory_kills *k, const struct group_members *m,
	const struct host *h, pid_t other[MEMORY_OTHERS_MAX], size_t *ret_n)
{
	struct pids found = {0};
	size_t n = 0;
	bool apart = cgroup_lists_all(&k->place, h) &&
		     cgroup_place_processes(&k->place, h, pids_add, &found) == 0;

	for (size_t i = 0; i < found.n && apart; i++) {
		if (found.pid[i] && m->is_member(m->context, found.pid[i]))
			continue;
		apart = found.pid[i] && n < MEMORY_OTHERS_MAX;
		if (apart)
			other[n++] = found.pid[i];
	}
	pids_done(&found);
	*ret_n = n;
	return apart;
}

static bool is_one_of(const struct memory_kills *k, pid_t pid)
{
	for (size_t i = 0; i < k->n_others; i++)
		if (k->other[i] == pid)
			return true;
	return false;
}

/* Returns the resident bytes of the foreign processes in the group. Returns NaN if they are not the
 * same processes as at the start of the run. */
static double others_bytes(const struct memory_kills *k, const struct group_members *m,
	const struct host *h)
{
	pid_t other[MEMORY_OTHERS_MAX];
	double bytes = 0;
	size_t n;

	if (k->own)
		return 0;
	if (!k->apart || !find_others(k, m, h, other, &n) || n != k->n_others)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		struct process_stat s;

		if (!is_one_of(k, other[i]) || process_read_stat(h, other[i], &s) < 0)
			return NAN;
		bytes += (double)s.rss_pages * (double)h->page_size;
	}
	return bytes;
}

/* ---- public functions ---- */

void memory_kills_begin(struct memory_kills *ret, const struct host *h)
{
	*ret = (struct memory_kills){.group_before = NAN,
		.machine_before = machine_kills(h),
		.met_before = NAN,
		.limit_bytes = NAN};
}

void memory_kills_group(struct memory_kills *k, const struct cgroup *group, bool own,
	const struct group_members *members, const struct host *h)
{
	const struct cgroup_place *of_run = &group->place[CGROUP_MEMORY];

	/* Find the nearest group that counts kills: a group without the memory controller counts
	 * none. */
	k->place = *of_run;
	while (isnan(k->group_before = group_kills(&k->place, h)))
		if (!cgroup_parent(&k->place))
			return;
	k->own = own && strcmp(k->place.path, of_run->path) == 0;
	k->apart = !cgroup_has_groups_below(&k->place, of_run) &&
		   find_others(k, members, h, k->other, &k->n_others);
	k->met_before = limit_met(&k->place, h);
	memory_kills_read_limit(k, h);
}

void memory_kills_read_limit(struct memory_kills *k, const struct host *h)
{
	/* If the group is gone, keep the limit that was read last. */
	if (k->place.version && tree_size(k->place.tree, k->place.path) >= 0)
		k->limit_bytes = cgroup_memory_limit(&k->place, h);
}

void memory_kills_older(struct memory_kills *k, const struct host *h)
{
	k->mark_is_old = mark_of(&k->place, h) * AT_LIMIT >= k->limit_bytes;
}

double memory_kills_around(const struct memory_kills *k, const struct host *h)
{
	double group = group_kills(&k->place, h) - k->group_before;

	return isnan(group) ? machine_kills(h) - k->machine_before : group;
}

double memory_kills_held(const struct memory_kills *k, double kills, double mark_bytes,
	const struct group_members *members, const struct host *h)
{
	double in_group = isnan(kills) ? group_kills(&k->place, h) - k->group_before : kills;

	if (!(in_group > 0))
		return NAN;
	double mark = k->mark_is_old    ? (double)NAN :
		      isnan(mark_bytes) ? mark_of(&k->place, h) :
					  mark_bytes;
	/* The group's counter also includes kills that had another cause: the limit of a group
	 * above, or a lack of memory on the machine. Check that the group's own limit was
	 * reached. */
	bool at_limit = isnan(mark) ? limit_met(&k->place, h) > k->met_before :
				      mark * AT_LIMIT >= k->limit_bytes;
	double held = k->limit_bytes - others_bytes(k, members, h);

	return at_limit && held > 0 ? held : (double)NAN;
}
