/* One look at all accounts of a run. */
#include "collectors/accounting/accounts_private.h"

#include <math.h>

#include "collectors/base/mem.h"

void account_add_members(struct account *a, const struct process_tree *tree)
{
	AUTO(freep) pid_t *pid = xcalloc(tree->n + 1, sizeof *pid);
	size_t n = 0;

	for (size_t i = 0; i < tree->n; i++)
		if (!tree->member[i].reaper)
			pid[n++] = tree->member[i].pid;
	exit_events_add(a->shared->events, a->events_run, pid, n);
}

/* What it used as the command that it was started for. */
static double as_command(const struct account *a, double seconds)
{
	return seconds < a->forked_seconds ? 0 : seconds - a->forked_seconds;
}

/* What was told is never too much; what ends cost beyond it is not more than the kernel counted for its group. */
static void look_at_events(struct account *a, const struct process_tree *tree,
	double value[RUN_N_METRICS])
{
	const struct lineage_tally *t = &a->tally;

	exit_events_tally(a->shared->events, a->events_run, &a->tally);
	if (!a->ends.group)
		run_ends_estimate(&a->ends, t);
	account_add_members(a, tree);
	double peak = t->peak_process_bytes ? (double)t->peak_process_bytes : (double)NAN;
	double told = (double)t->cpu_ns / 1e9, with_ends = told + fmax(a->ends.seconds, 0);
	double most = as_command(a, with_ends + a->ends.missed_seconds);
	double group_seconds = fmin(a->known[SOURCE_CGROUP], a->most_seconds);

	a->known[SOURCE_TASKSTATS] =
		fmax(as_command(a, told), fmin(as_command(a, with_ends), group_seconds));
	if (t->whole) {
		a->most_seconds = fmin(a->most_seconds, most);
		if (a->known[SOURCE_CGROUP_REST] > a->most_seconds)
			a->known[SOURCE_CGROUP_REST] = a->most_seconds;
	}
	value[RUN_MEMORY_PEAK_PROCESS_BYTES] = fmax(value[RUN_MEMORY_PEAK_PROCESS_BYTES], peak);
	value[RUN_MEMORY_PEAK_BYTES] = fmax(value[RUN_MEMORY_PEAK_BYTES], peak);
	value[RUN_CPU_WAIT_SECONDS] =
		fmax(value[RUN_CPU_WAIT_SECONDS], (double)t->cpu_wait_ns / 1e9);
}

/* Returns the system time that the group counted; NaN = unknown. */
static double look_at_group(struct account *a, const struct host *h, double value[RUN_N_METRICS])
{
	double v[CGROUP_VALUES];

	run_group_read(&a->own_group, h, value, v);
	a->known[SOURCE_CGROUP] = fmax(a->known[SOURCE_CGROUP], v[CGROUP_CPU_SECONDS]);
	a->oom_kills = fmax(a->oom_kills, v[CGROUP_OOM_KILLS]);
	return v[CGROUP_CPU_SYSTEM_SECONDS];
}

/* Of a group that was made anew at the same place, the counts begin again: what there was holds. */
static double at_least(double before, double growth)
{
	return growth >= 0 ? fmax(before, growth) : before;
}

/* What was held back since the run began; the last reading holds when the group is gone. */
static void look_at_quota(struct account *a, const struct host *h, double value[RUN_N_METRICS])
{
	const struct quota *first = &a->quota;

	if (!first->place.version)
		return;
	struct quota now = quota_read(&first->place, h);

	value[RUN_CPU_PERIODS] = at_least(value[RUN_CPU_PERIODS], now.periods - first->periods);
	value[RUN_CPU_THROTTLED_PERIODS] = at_least(value[RUN_CPU_THROTTLED_PERIODS],
		now.throttled_periods - first->throttled_periods);
	value[RUN_CPU_THROTTLED_SECONDS] = at_least(value[RUN_CPU_THROTTLED_SECONDS],
		now.throttled_seconds - first->throttled_seconds);
}

/* Those of a group that is gone hold: it may have been killed at them. */
static void read_limits(struct account *a, const struct host *h)
{
	if (a->looks++ % LIMIT_LOOKS != 0 || !cgroup_exists(&a->group))
		return;
	a->limits = cgroup_limits_read(&a->group, h);
	memory_kills_read_limit(&a->kills, h);
}

static void note_steal(struct account *a)
{
	const struct accounts *s = a->shared;
	double stolen = a->machine_known && s->machine_known ?
				machine_cpu_stolen(&a->machine, &s->machine) :
				(double)NAN;

	if (!isnan(stolen))
		a->stolen = stolen;
}

static double look_at_clock(struct account *a)
{
	task_clock_look(a->clock, a->stolen, &a->counted);
	return a->counted.seconds - a->counted.stolen_seconds;
}

/* Of the group around the root, which was read already when it is the run's own. */
static double group_seconds(const struct account *a, const struct host *h)
{
	double own = a->known[SOURCE_CGROUP];

	return isnan(own) ? group_cpu_seconds(&a->group, h) : own + a->older_seconds;
}

static void bound_missed(struct account *a, const struct host *h, const struct process_tree *tree,
	double grown)
{
	const struct accounts *s = a->shared;

	if (a->machine_known && s->machine_known)
		missed_cpu_add(&a->missed,
			&(struct missed_cpu_look){
				.spent_seconds = machine_cpu_spent(&a->machine, &s->machine) -
						 (s->own_seconds - a->exporter_seconds),
				.known_seconds = grown,
				.group_seconds = group_seconds(a, h),
				.changes = s->machine.births != a->machine.births ||
					   tree->vanished != a->vanished,
				.orphans_hidden = process_tree_reaper(tree) == 0,
			});
	a->vanished = tree->vanished;
	a->machine = s->machine;
	a->machine_known = s->machine_known;
	a->exporter_seconds = s->own_seconds;
}

void account_look(struct account *a, const struct host *h, const struct process_tree *tree,
	double value[RUN_N_METRICS])
{
	double forked = value[RUN_CPU_SECONDS], tree_total = as_command(a, forked);
	double system = forked > 0 ? value[RUN_CPU_SYSTEM_SECONDS] / forked : 0;
	double best = tree_total;
	struct cgroup_rest_reading rest = {NAN, NAN};
	double group_system = NAN;

	a->known[SOURCE_PROC] = tree_total;
	note_steal(a);
	read_limits(a, h);
	value[RUN_CPU_LIMIT_CORES] = a->limits.cpu_cores;
	value[RUN_MEMORY_LIMIT_BYTES] = a->limits.memory_bytes;
	if (a->has_own)
		group_system = look_at_group(a, h, value);
	if (a->rest)
		rest = cgroup_rest_read(a->rest, h, forked);
	a->known[SOURCE_CGROUP_REST] = as_command(a, rest.seconds);
	a->most_seconds = as_command(a, rest.most);
	look_at_quota(a, h, value);
	if (a->has_events)
		look_at_events(a, tree, value);
	/* It may tell too much: it is not used beyond what the group had. */
	if (a->clock)
		a->known[SOURCE_CLOCK] = fmin(look_at_clock(a), a->most_seconds);
	a->peak_process_bytes = fmax(a->peak_process_bytes, value[RUN_MEMORY_PEAK_PROCESS_BYTES]);
	for (size_t i = 0; i < SOURCES; i++)
		best = fmax(best, a->known[i]);

	double grown = fmax(best - a->total, 0);
	double system_now = best == a->known[SOURCE_CGROUP] && !isnan(group_system) ? group_system :
										      best * system;

	bound_missed(a, h, tree, grown);
	/* Both parts grow, and no part by more than the whole. */
	a->system += fmin(fmax(system_now - a->system, 0), grown);
	a->total += grown;
	value[RUN_CPU_SECONDS] = a->total;
	value[RUN_CPU_SYSTEM_SECONDS] = a->system;
	value[RUN_CPU_USER_SECONDS] = a->user = fmax(a->user, a->total - a->system);
}

void account_waited(struct account *a, double total_seconds)
{
	a->known[SOURCE_RUSAGE] = total_seconds;
	if (!(total_seconds > a->total))
		return;
	missed_cpu_found(&a->missed, total_seconds - a->total);
	a->total = total_seconds;
}
