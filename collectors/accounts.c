/* Choosing between accounts of a run. */
#include "collectors/accounts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/cgroup_own.h"
#include "collectors/cgroup_rest.h"
#include "collectors/exit_events.h"
#include "collectors/machine_cpu.h"
#include "collectors/missed_cpu.h"
#include "collectors/pids.h"
#include "collectors/quota.h"
#include "collectors/run_group.h"
#include "collectors/source.h"

/* A source is named rather than a better one when it knows of more than so much more: /proc counts in hundredths of a second. */
#define WORTH_NAMING         1.001
#define WORTH_NAMING_SECONDS 0.01
/* How far up the ancestors of a newborn process are looked at. */
#define GENERATIONS_MAX 16
/* Limits are read again once in so many looks: a container may be resized. */
#define LIMIT_LOOKS 10

enum cpu_source {
	SOURCE_CGROUP,
	SOURCE_CGROUP_REST,
	SOURCE_TASKSTATS,
	SOURCE_CLOCK,
	SOURCE_RUSAGE,
	SOURCE_PROC,
	SOURCES
};

static const char *const source_names[SOURCES] = {
	"cgroup", "cgroup-rest", "taskstats", "task-clock", "rusage", "proc"};

struct accounts {
	struct exit_events *events;
	bool events_tried;
	struct err refusal;
	struct source stat;         /* of the machine, opened at the first tick */
	struct machine_cpu machine; /* at the last tick */
	bool machine_known;
	double own_seconds; /* of this exporter */
};

struct account {
	struct accounts *shared;
	pid_t root;
	struct cgroup group; /* where the root is */
	bool has_group;
	struct cgroup own;
	bool has_own;
	struct run_group own_group;
	struct cgroup_rest *rest; /* NULL: it has its own, or is not to be told from others */
	struct cgroup_limits limits;
	struct quota quota;
	unsigned looks, events_run;
	bool has_events;
	const struct task_clock *clock;
	struct task_clock_total counted;
	double forked_seconds; /* see struct account_spec */
	double known[SOURCES]; /* seconds; NaN = not there */
	double total, system, user;
	struct lineage_tally tally; /* of exit accounting */
	struct missed_cpu missed;
	struct machine_cpu machine; /* at the last look */
	bool machine_known;
	double exporter_seconds;
	/* Since it began: what the machine spent, and what of that can have been the run's. */
	double spent_seconds, possible_seconds;
	double group_before;       /* what its group had spent when it began; NaN = unknown */
	double births;             /* of the machine, when it began */
	double peak_process_bytes; /* mark of its largest process */
	double oom_kills;          /* in the own group */
	double shared_kills, machine_kills; /* when it began */
};

/* ---- what all share ---- */

struct accounts *accounts_new(void)
{
	return xcalloc(1, sizeof(struct accounts));
}

void accounts_free(struct accounts *a)
{
	if (!a)
		return;
	exit_events_stop(a->events);
	source_close(&a->stat);
	free(a);
}

void accounts_tick(struct accounts *a, const struct host *h)
{
	struct scan text;

	if (!a->stat.tree)
		source_open(&a->stat, h->proc, "stat");
	int code = source_read(&a->stat, h, &text, NULL);
	struct now now = h->clock ? h->clock() : h->now;

	a->machine_known =
		code == 0 && machine_cpu_parse(text, now.mono, h->ticks_per_second, &a->machine);
	a->own_seconds = machine_cpu_own_seconds();
	if (a->events)
		exit_events_settle(a->events);
}

uint64_t accounts_births(const struct accounts *a)
{
	return a->machine_known ? a->machine.births : 0;
}

const char *accounts_refusal(const struct accounts *a)
{
	return a->refusal.text;
}

/* ---- counts of the machine ---- */

static double machine_number(const struct host *h, const char *key)
{
	struct scan text;

	return host_read(h, h->proc, "vmstat", &text, NULL) < 0 ?
		       (double)NAN :
		       number_value(number_find(text, key));
}

/* ---- one run ---- */

struct family {
	const struct host *host;
	const struct process_tree *tree;
};

/* A job that forks has children that the tree does not know yet: these are told by their ancestors. */
static bool is_member(const void *context, pid_t pid)
{
	const struct family *f = context;
	struct process_stat stat;

	for (int generations = 0; generations < GENERATIONS_MAX; generations++) {
		if (process_tree_has(f->tree, pid) || process_tree_reaper(f->tree) == pid)
			return true;
		int code = process_read_stat(f->host, pid, &stat);

		if (code < 0)
			return process_gone(code);
		if (stat.ppid <= 0)
			return false;
		pid = stat.ppid;
	}
	return false;
}

static bool counts_cpu(const struct cgroup *c)
{
	return c->place[CGROUP_CPU].version == 2 || c->place[CGROUP_CPUACCT].version;
}

static void find_group(struct account *a, const struct host *h, const struct process_tree *tree,
	const struct quota *earlier)
{
	struct family family = {h, tree};

	a->has_group = cgroup_of_process(&a->group, h, a->root, NULL) == 0;
	if (!a->has_group)
		return;
	a->own = a->group;
	a->has_own = cgroup_keep_own(&a->own, h, a->root, is_member, &family);
	if (a->has_own)
		run_group_open(&a->own_group, &a->own);
	if (!counts_cpu(&a->own))
		a->rest = cgroup_rest_open(h,
			&(struct cgroup_rest_spec){a->root, &a->group, is_member, &family,
				(double)process_tree_cpu_ns(tree) / 1e9});
	a->limits = cgroup_limits_read(&a->group, h);
	a->quota = quota_find(&a->group, h);
	quota_count_from(&a->quota, earlier, &a->own.place[CGROUP_CPU]);
	missed_cpu_group(&a->missed, group_cpu_seconds(&a->group, h));
	a->shared_kills = group_oom_kills(&a->group, h);
}

static void begin_events(struct account *a, const struct host *h, const struct account_spec *spec,
	const struct process_tree *tree)
{
	struct accounts *shared = a->shared;
	uint64_t living_ns = 0, clock_ns;

	/* Listening to the whole machine is for those who need it. */
	if (!h->own_pid_namespace || (spec->ours && counts_cpu(&a->own)))
		return;
	if (!shared->events_tried) {
		shared->events_tried = true;
		exit_events_start(&shared->events, &shared->refusal);
	}
	if (!shared->events)
		return;
	/* What is known of the dead: all that the tree counts but for the living's own time. */
	for (size_t i = 0; i < tree->n; i++)
		living_ns += tree->member[i].clock_ns;
	clock_ns = process_tree_cpu_ns(tree);
	a->events_run = exit_events_begin(shared->events, spec->root,
		clock_ns > living_ns ? clock_ns - living_ns : 0);
	a->has_events = true;
}

struct account *account_open(struct accounts *shared, const struct host *h,
	const struct account_spec *spec, const struct process_tree *tree)
{
	struct account *a = xcalloc(1, sizeof *a);

	a->shared = shared;
	a->clock = spec->clock;
	a->forked_seconds = spec->forked_seconds;
	for (size_t i = 0; i < SOURCES; i++)
		a->known[i] = NAN;
	accounts_tick(shared, h);
	a->machine = shared->machine;
	a->machine_known = shared->machine_known;
	a->exporter_seconds = shared->own_seconds;
	a->root = spec->root;
	missed_cpu_begin(&a->missed, NAN);
	a->shared_kills = NAN;
	find_group(a, h, tree, spec->quota);
	begin_events(a, h, spec, tree);
	a->machine_kills = machine_number(h, "oom_kill");
	a->births = a->machine_known ? (double)a->machine.births : (double)NAN;
	a->oom_kills = NAN;
	return a;
}

void account_close(struct account *a)
{
	if (!a)
		return;
	if (a->has_events)
		exit_events_forget(a->shared->events, a->events_run);
	run_group_close(&a->own_group);
	cgroup_rest_close(a->rest);
	free(a);
}

/* ---- who belongs to it ---- */

void account_find_members(struct account *a, const struct host *h, struct process_tree *tree)
{
	struct pids found = {0};

	/* Another container's group shows itself only when its first process has entered it and dropped its rights. */
	if (!a->has_group && (a->looks < LIMIT_LOOKS || a->looks % LIMIT_LOOKS == 0))
		find_group(a, h, tree, NULL);
	if (a->has_own && run_group_due(&a->own_group, accounts_births(a->shared)))
		cgroup_processes(&a->own, h, pids_add, &found);
	if (a->rest)
		cgroup_rest_processes(a->rest, h, pids_add, &found);
	if (a->has_events)
		exit_events_living(a->shared->events, a->events_run, pids_add, &found);
	for (size_t i = 0; i < found.n; i++)
		if (found.pid[i] > 0)
			process_tree_adopt(tree, h, found.pid[i]);
	pids_done(&found);
}

/* ---- looking ---- */

static void add_members(struct account *a, const struct process_tree *tree)
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

static void look_at_events(struct account *a, const struct process_tree *tree,
	double value[RUN_N_METRICS])
{
	const struct lineage_tally *t = &a->tally;
	double peak = t->peak_process_bytes ? (double)t->peak_process_bytes : (double)NAN;

	exit_events_tally(a->shared->events, a->events_run, &a->tally);
	add_members(a, tree);
	double told = as_command(a, (double)t->cpu_ns / 1e9);
	double with_ends = as_command(a, (double)(t->cpu_ns + t->ends_ns) / 1e9);

	/* What is estimated is never more than what the kernel counted for its group. */
	a->known[SOURCE_TASKSTATS] = fmax(told, fmin(with_ends, a->known[SOURCE_CGROUP]));
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

/* What was held back since the run began; the last reading holds when the group is gone. */
static void look_at_quota(struct account *a, const struct host *h, double value[RUN_N_METRICS])
{
	const struct quota *first = &a->quota;

	if (!first->place.version)
		return;
	struct quota now = quota_read(&first->place, h);

	if (isnan(now.periods))
		return;
	value[RUN_CPU_PERIODS] = now.periods - first->periods;
	value[RUN_CPU_THROTTLED_PERIODS] = now.throttled_periods - first->throttled_periods;
	value[RUN_CPU_THROTTLED_SECONDS] = now.throttled_seconds - first->throttled_seconds;
}

static double look_at_clock(struct account *a)
{
	const struct accounts *s = a->shared;
	bool known = a->machine_known && s->machine_known;

	task_clock_look(a->clock, known ? machine_cpu_stolen(&a->machine, &s->machine) : 0,
		&a->counted);
	return a->counted.seconds - a->counted.stolen_seconds;
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
				.group_seconds = group_cpu_seconds(&a->group, h),
				.changes = s->machine.births != a->machine.births ||
					   tree->any_vanished,
				.orphans_hidden = process_tree_reaper(tree) == 0,
			});
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
	struct cgroup_rest_reading rest = {NAN, false};
	double group_system = NAN;

	a->known[SOURCE_PROC] = tree_total;
	if (a->looks++ % LIMIT_LOOKS == 0)
		a->limits = cgroup_limits_read(&a->group, h);
	value[RUN_CPU_LIMIT_CORES] = a->limits.cpu_cores;
	value[RUN_MEMORY_LIMIT_BYTES] = a->limits.memory_bytes;
	if (a->has_own)
		group_system = look_at_group(a, h, value);
	if (a->rest)
		rest = cgroup_rest_read(a->rest, h);
	rest.seconds = as_command(a, rest.seconds);
	a->known[SOURCE_CGROUP_REST] = rest.exact ? rest.seconds : (double)NAN;
	look_at_quota(a, h, value);
	if (a->has_events)
		look_at_events(a, tree, value);
	/* It may tell too much: it is not used beside exit accounting, nor beyond what the group had. */
	if (a->clock && !(a->has_events && a->tally.whole))
		a->known[SOURCE_CLOCK] = fmin(look_at_clock(a), rest.seconds);
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

/* ---- the verdict ---- */

static enum cpu_source source_of(const struct account *a)
{
	for (size_t i = 0; i < SOURCES; i++)
		if (a->known[i] * WORTH_NAMING + WORTH_NAMING_SECONDS >= a->total)
			return (enum cpu_source)i;
	return SOURCE_PROC;
}

/*
 * What the ends of all processes on the machine since the run began can have cost: see lineage.h. None of the run had
 * more pages than its largest process; a fork has those of its parent without having touched them.
 */
static double ends_seconds(const struct account *a)
{
	double births = a->machine_known ? (double)a->machine.births - a->births : (double)NAN;
	double pages = a->peak_process_bytes / 4096;

	return births * (LINEAGE_END_NS + pages * LINEAGE_END_PAGE_NS) / 1e9;
}

static double missed_of(const struct account *a, enum cpu_source source)
{
	double missed = a->machine_known ? a->missed.seconds : (double)NAN;
	double ends = ends_seconds(a);

	if (source == SOURCE_CGROUP || source == SOURCE_CGROUP_REST)
		return 0;
	if (a->has_events && a->tally.whole)
		missed = fmin(missed, (double)a->tally.unseen_ns / 1e9);
	/* The clock leaves out ends, and set-user-ID programs: it is far from the others then. */
	if (a->known[SOURCE_CLOCK] + ends >= a->total)
		missed = fmin(missed, ends + a->counted.stolen_seconds);
	return missed;
}

void account_note(const struct account *a, const struct host *h, struct account_note *ret)
{
	enum cpu_source source = source_of(a);
	double shared = group_oom_kills(&a->group, h) - a->shared_kills;

	*ret = (struct account_note){
		.cpu_source = source_names[source],
		.cpu_missed_seconds = missed_of(a, source),
		.peak_told_at_ends =
			a->has_events ? (double)a->tally.peak_process_bytes : (double)NAN,
		.oom_kills = a->oom_kills,
		.shared_oom_kills =
			isnan(shared) ? machine_number(h, "oom_kill") - a->machine_kills : shared,
		.memory_limit_bytes = a->limits.memory_bytes,
		.cpu_limit_cores = a->limits.cpu_cores,
		.status_known = a->has_events && a->tally.status_heard,
		.status = a->tally.status,
	};
}
