#include "collectors/accounting/accounts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/accounting/clock_threads.h"
#include "collectors/accounting/exit_cost.h"
#include "collectors/accounting/exit_events.h"
#include "collectors/accounting/group_owner.h"
#include "collectors/accounting/helper_use.h"
#include "collectors/accounting/memory_kills.h"
#include "collectors/accounting/missed_cpu.h"
#include "collectors/accounting/run_group.h"
#include "collectors/base/mem.h"
#include "collectors/cgroup/task_limit.h"
#include "collectors/kernel_file.h"
#include "collectors/machine/machine_cpu.h"
#include "collectors/machine/machine_memory.h"
#include "collectors/process/pids.h"

/* A source is named as the source of the run's CPU time if it counted nearly all of it: its CPU
 * seconds * WORTH_NAMING + WORTH_NAMING_SECONDS must be at least the total. WORTH_NAMING_SECONDS is
 * one tick, because /proc counts time in 1/100 s. */
#define WORTH_NAMING         1.001
#define WORTH_NAMING_SECONDS 0.01
#define CLOCK_TRIES          3 /* attempts to open the task clock (perf_event_open) */
#define CLOCK_CHECK_LOOKS    3 /* check_clock acts only in runs with at most this many samples */
/* Largest pid on any machine (PID_MAX_LIMIT of include/linux/threads.h). */
#define PID_MAX_LIMIT 4194304
/* A process belongs to the run if it or one of its ancestors is in the tree. At most this many
 * processes are checked: the process itself and 15 ancestors. */
#define GENERATIONS_MAX 16
/* A container runtime may use this many CPU seconds in the group before the run begins. Such a
 * small use does not count as the use of an earlier job. */
#define OLDER_SECONDS 0.1
#define LIMIT_LOOKS   10 /* samples between two readings of limits; a container may be resized */

enum cpu_source {
	SOURCE_CGROUP,
	SOURCE_TASKSTATS,
	SOURCE_CLOCK,
	SOURCE_RUSAGE,
	SOURCE_PROC,
	SOURCES
};

struct accounts {
	struct exit_events *events;
	struct exit_cost_groups ends_groups;
	bool events_tried;
	struct kernel_file stat;    /* /proc/stat, opened at the first tick */
	struct machine_cpu machine; /* values of the last tick */
	struct machine_steal steal;
	bool machine_known;
	uint64_t last_pid, pid_max, births; /* see births_here */
	double own_seconds;                 /* CPU time that this exporter has used */
};

struct account {
	struct accounts *shared;
	pid_t root;
	struct cgroup group; /* control group of the root */
	bool has_group;
	struct cgroup own;
	bool has_own, from_now, group_made;
	struct run_group run_group;
	/* CPU time that the run's own group counted before the run began:
	 * - `older_seconds`: this part is subtracted from the group's CPU time.
	 * - `older_missed`: upper bound of the part of `older_seconds` that the run may have used.
	 * - `older_foreign`: other processes may have used it, but it is not subtracted. */
	double older_seconds, older_missed, older_foreign;
	bool children_ignored; /* see struct process_tree */
	bool ours;             /* as in struct account_spec */
	uint64_t vanished;     /* number of vanished tree members at the last sample */
	double most_seconds;   /* upper bound of the CPU time, by exit accounting; NaN = unknown */
	struct cgroup_limits limits;
	struct cpu_quota quota;
	struct task_limit task_limit;
	unsigned looks, events_run;
	bool has_events;
	const struct task_clock *clock; /* the caller's clock, or `attached`; NULL = no clock */
	struct task_clock attached;
	struct descriptors *clock_kept; /* limit that n_clock_kept descriptors count against */
	size_t n_clock_kept;
	bool clock_wanted;    /* check_clock may attach a clock to the run's threads */
	uint64_t clock_ticks; /* when `attached` began, in ticks since boot */
	double clock_error;   /* largest error of `before_clock`: /proc counts in ticks */
	size_t clock_members; /* number of members that began no later than clock_ticks */
	double before_clock;  /* CPU seconds that the run had used when `attached` began */
	struct task_clock_total counted;
	/* number of processes and threads created on the machine before `clock` began */
	double clock_births;
	/* upper bound of the number of process ends in the run; NaN = not counted */
	double clock_ends;
	/* upper bound of the CPU seconds that no source counted, because the run used them before
	 * `clock` began */
	double clock_missed;
	double stolen; /* share of recent CPU time that the host took from this virtual machine */
	bool steal_known; /* `stolen` was read at least once */
	/* CPU time of the run's first process that does not count: the time before exec, or before
	 * this process entered a control group of its own. */
	double forked_seconds;
	double known[SOURCES]; /* CPU seconds of the run by each source; NaN = not available */
	double total, system, user;
	struct helper_use helpers;
	struct lineage_tally tally;
	struct exit_cost ends;
	struct missed_cpu missed;
	struct machine_cpu machine; /* CPU time of the machine at the last sample */
	bool machine_known;
	/* `machine_cpus`: the most CPUs that the machine had since the run began.
	 * `machine_memory_bytes`: memory of the machine when the run began. */
	double machine_cpus, machine_memory_bytes;
	double exporter_seconds;
	double stolen_before; /* stolen time of the machine when the run began */
	/* number of processes and threads created on the machine before the run began */
	double births;
	double peak_process_bytes; /* peak of the run's largest process */
	double oom_kills;          /* OOM kills in the run's own group */
	struct memory_kills kills; /* OOM kills in the nearest group that counts them */
	double held_bytes;         /* lower bound of the run's memory at a kill; NaN = unknown */
};

static const char *const source_names[] = {"cgroup", "taskstats", "task-clock", "rusage", "proc"};

/* ---- state that all runs share ---- */

struct accounts *accounts_new(void)
{
	return xcalloc(1, sizeof(struct accounts));
}

void accounts_free(struct accounts *a)
{
	if (!a)
		return;
	exit_events_stop(a->events);
	kernel_file_close(&a->stat);
	machine_steal_done(&a->steal);
	free(a);
}

/* Counts the processes and threads that our PID namespace has created since the first call; 0 =
 * unknown. If /proc/loadavg cannot be read, returns the previous result. Used outside the initial
 * PID namespace, because /proc/stat counts those of the whole machine. */
static uint64_t births_here(struct accounts *a, const struct host *h)
{
	uint64_t last = process_last_pid(h);
	struct scan text;

	if (!a->pid_max && (kernel_file_read_once(h, h->proc, "sys/kernel/pid_max", &text, NULL) ||
				   !scan_u64(&text, &a->pid_max)))
		a->pid_max = PID_MAX_LIMIT;
	if (!last)
		return a->births;
	if (!a->births)
		a->births = 1;
	else
		a->births +=
			last >= a->last_pid ? last - a->last_pid : last + a->pid_max - a->last_pid;
	a->last_pid = last;
	return a->births;
}

void accounts_tick(struct accounts *a, const struct host *h)
{
	struct scan text;

	if (!a->stat.tree)
		kernel_file_open(&a->stat, h->proc, "stat");
	int code = kernel_file_read_shared(&a->stat, h, &text, NULL);
	struct now now = h->clock ? h->clock() : h->now;

	a->machine_known =
		code == 0 && machine_cpu_parse(text, now.mono, h->ticks_per_second, &a->machine);
	if (code == 0)
		machine_steal_look(&a->steal, text, now.mono, h->ticks_per_second);
	a->machine.ran_seconds = a->steal.ran_seconds;
	a->machine.stolen_seconds = a->steal.stolen_seconds;
	if (!h->initial_pid_namespace && births_here(a, h))
		a->machine.births = a->births;
	a->own_seconds = machine_cpu_own_seconds();
	if (!a->events)
		return;
	exit_cost_groups_read(&a->ends_groups, h);
	exit_events_lock(a->events);
	exit_events_settle(a->events);
	exit_cost_groups_measure(&a->ends_groups, a->events, h);
	exit_events_unlock(a->events);
}

uint64_t accounts_births(const struct accounts *a)
{
	return a->machine_known ? a->machine.births : 0;
}

/* ---- one run ---- */

struct family {
	const struct host *host;
	const struct process_tree *tree;
};

/* Returns true if the process or one of its ancestors is in the tree, or if it has ended. Returns
 * false for helpers (process/helpers.h) and their descendants. The ancestors are checked because
 * the tree may not contain the newest children of its members yet. */
static bool is_member(const void *context, pid_t pid)
{
	const struct family *f = context;
	struct process_stat stat;

	for (int generations = 0; generations < GENERATIONS_MAX; generations++) {
		if (process_tree_helps(f->tree, pid))
			return false;
		if (process_tree_has(f->tree, pid) || process_tree_reaper(f->tree) == pid)
			return true;
		int code = process_read_stat(f->host, pid, &stat);

		if (code < 0)
			return process_gone(code) && !process_exists(f->host, pid);
		if (stat.ppid <= 0)
			return false;
		pid = stat.ppid;
	}
	return false;
}

static bool counts_cpu(const struct cgroup *c)
{
	return cgroup_cpu_place(c)->version;
}

/* Finds the CPU time that the run's own group had counted before the run began. An earlier step
 * (ExecStartPre of a unit) or an earlier job in the same group may have used it.
 *
 * `unknown` is CPU time of the group that no process of the run has used, as far as is known. The
 * run itself can have used at most `most` of it: the time of all CPUs since the root began. If
 * `unknown` exceeds `most` by more than OLDER_SECONDS, all of `unknown` is subtracted. */
static void find_older(struct account *a, const struct host *h, const struct process_tree *tree)
{
	double used = cgroup_cpu_seconds(&a->own, h);
	double known = (double)process_tree_cpu_ns(tree) / 1e9 - a->forked_seconds;
	double age = (double)h->now.mono.ns / 1e9 -
		     (double)tree->start_ticks / (double)h->ticks_per_second;
	double unknown = used - fmax(known, 0);
	double most = a->machine.cpus * age;

	/* In a time namespace, start times come from another clock. The age may then be negative,
	 * and no bound is known. */
	if (!a->machine_known || age < 0 || !(unknown > most + OLDER_SECONDS)) {
		a->older_foreign = a->group_made ? 0 : fmax(unknown, 0);
		return;
	}
	a->older_seconds = unknown;
	a->older_missed = most;
	run_group_count_from(&a->run_group, h, unknown);
}

static void find_own(struct account *a, const struct host *h, const struct process_tree *tree,
	const struct group_members *members)
{
	static const struct group_members all = {0};

	a->own = a->group;
	a->has_own = cgroup_keep_own(&a->own, h, a->root, a->group_made ? &all : members);
	if (a->has_own)
		run_group_open(&a->run_group, &a->own, h);
	if (!counts_cpu(&a->own))
		return;
	find_older(a, h, tree);
	/* The run does not include the CPU time that the root used before it entered the group. */
	a->forked_seconds = fmax(a->forked_seconds,
		(double)process_tree_cpu_ns(tree) / 1e9 - cgroup_cpu_seconds(&a->own, h));
}

static void find_group(struct account *a, const struct host *h, const struct process_tree *tree,
	const struct cpu_quota *earlier)
{
	static const struct cgroup_place none = {0};
	struct family family = {h, tree};
	struct group_members members = {is_member, &family};

	a->has_group = cgroup_of_process(&a->group, h, a->root, NULL) == 0;
	if (!a->has_group)
		return;
	if (!a->from_now)
		find_own(a, h, tree, &members);
	a->limits = cgroup_limits_read(&a->group, h);
	a->quota = cpu_quota_find(&a->group, h);
	cpu_quota_count_from(&a->quota, earlier,
		a->older_seconds > 0 ? &none : &a->own.place[CGROUP_CPU]);
	a->task_limit = task_limit_find(&a->group,
		a->older_seconds > 0 ? &none : &a->own.place[CGROUP_PIDS], h);
	missed_cpu_group(&a->missed, cgroup_cpu_seconds(&a->group, h));
	memory_kills_group(&a->kills, &a->group, a->own.place[CGROUP_MEMORY].version > 0, &members,
		h);
	if (a->older_seconds > 0)
		memory_kills_older(&a->kills, h);
}

/* Adds the members of the tree to the run's lineage. The caller holds exit_events_lock. */
static void add_members(struct account *a, const struct process_tree *tree)
{
	exit_events_update(a->shared->events);
	for (size_t i = 0; i < tree->n; i++)
		if (!tree->member[i].reaper)
			lineage_add(exit_events_book(a->shared->events), a->events_run,
				tree->member[i].pid);
}

/* Begins to follow the run through process events. `recorded` true: only if the kernel also sends
 * exit records. false: only if it sends none; the events then only lower the upper bound of the CPU
 * time that was missed. */
static void begin_events(struct account *a, const struct host *h, const struct account_spec *spec,
	const struct process_tree *tree, bool recorded)
{
	struct accounts *shared = a->shared;
	uint64_t living_ns = 0, clock_ns;

	/* Subscribe to process events only for a run that needs them. While subscribed, this
	 * exporter wakes up whenever a process starts or ends on the machine. */
	if (!h->own_pid_namespace || spec->from_now || (spec->ours && counts_cpu(&a->own)))
		return;
	/* -EAGAIN means that no thread could be started. In this case, try again for the next
	 * run. */
	if (!shared->events_tried)
		shared->events_tried = exit_events_start(&shared->events, h->initial_pid_namespace,
					       NULL) != -EAGAIN;
	if (!shared->events || exit_events_recorded(shared->events) != recorded)
		return;
	/* The CPU time of ended processes is the tree's total minus the clocks of living
	 * processes. */
	for (size_t i = 0; i < tree->n; i++)
		living_ns += tree->member[i].clock_ns;
	clock_ns = process_tree_cpu_ns(tree) + process_tree_helpers(tree, TREE_CPU_NS);
	exit_events_lock(shared->events);
	exit_events_update(shared->events);
	a->events_run = lineage_begin(exit_events_book(shared->events), spec->root,
		clock_ns > living_ns ? clock_ns - living_ns : 0);
	a->has_events = true;
	/* Add the members now, not at the next sample. If the run is inside an outer run, members
	 * that end before the next sample would count only for the outer run. */
	add_members(a, tree);
	exit_cost_begin(&a->ends, &shared->ends_groups, shared->events, a->events_run,
		recorded && a->has_group && !counts_cpu(&a->own) ? &a->group : NULL, h);
	if (!recorded) {
		clock_threads_tell(exit_events_book(shared->events), h, tree);
		exit_events_settle(shared->events);
	}
	exit_events_unlock(shared->events);
}

/* Subtracts the CPU time that the root used before exec. */
static double as_command(const struct account *a, double seconds)
{
	return seconds < a->forked_seconds ? 0 : seconds - a->forked_seconds;
}

/* Returns true if the run needs a task clock: no other source counts children that no parent waits
 * for. A clock costs the run 0.5 us at each context switch and 10 us at each fork.
 * `cpu_missed_seconds` shows if another source later loses data, such as an exit record. */
static bool needs_clock(const struct account *a)
{
	return !counts_cpu(&a->own) && !a->has_events;
}

static bool any_lives(const struct process_tree *tree)
{
	for (size_t i = 0; i < tree->n; i++)
		if (member_lives(&tree->member[i]))
			return true;
	return false;
}

static void detach_clock(struct account *a)
{
	if (a->clock == &a->attached)
		a->clock = NULL;
	task_clock_close(&a->attached);
	descriptors_give(a->clock_kept, a->n_clock_kept);
	a->n_clock_kept = 0;
}

static double births_of(const struct account *a)
{
	return a->shared->machine_known ? (double)a->shared->machine.births : (double)NAN;
}

/* Opens a task clock for a run that this exporter did not start. A process created during the
 * opening may get no clock. If the number of processes or threads has changed, the clocks are
 * opened again, at most CLOCK_TRIES times. After that, the run gets no clock. */
static void attach_clock(struct account *a, const struct host *h, struct process_tree *tree)
{
	struct tree_now before, now;
	uint64_t ns = 0;

	if (!h->own_pid_namespace && !h->other_pid_namespace)
		return;
	process_tree_look(tree, h, 0, &before);
	for (int i = 0; i < CLOCK_TRIES && !a->clock; i++) {
		struct clock_threads l;

		clock_threads_list(&l, h, tree);
		if (l.n == 0 || l.too_many || !descriptors_take(h->group_files, l.n))
			return;
		a->clock_kept = h->group_files;
		a->n_clock_kept = l.n;
		if (task_clock_attach(&a->attached, l.thread, l.n)) {
			a->clock_wanted = false; /* the kernel does not permit a clock */
			detach_clock(a);
			return;
		}
		process_tree_look(tree, h, 0, &now);
		if (now.processes == before.processes && now.threads == before.threads &&
			l.n == now.threads)
			a->clock = &a->attached;
		else
			detach_clock(a);
		before = now;
	}
	/* Read the clock only after the tree, so that no CPU time counts twice. known[SOURCE_CLOCK]
	 * is without the stolen time of the earlier clock. Add this stolen time here, because
	 * look_at_clock will subtract it. */
	if (a->clock && task_clock_read(a->clock, &ns) == 0)
		a->before_clock = fmax(as_command(a, (double)process_tree_cpu_ns(tree) / 1e9),
					  fmax(a->known[SOURCE_CLOCK], 0)) +
				  a->counted.stolen_seconds - (double)ns / 1e9;
	helper_use_clock_begins(&a->helpers, tree);
	a->counted.seconds = 0;
	a->clock_births = births_of(a);
	a->clock_ticks = (uint64_t)now_read().mono.ns / (NS_PER_S / (uint64_t)h->ticks_per_second);
	a->clock_members = clock_members_until(tree, a->clock_ticks);
	/* In our own PID namespace, exact CPU clocks are read. In another PID namespace, /proc
	 * rounds the user time and the system time of each member down to whole ticks. */
	a->clock_error = h->own_pid_namespace ?
				 0 :
				 2 * (double)a->clock_members / (double)h->ticks_per_second;
}

static double look_at_clock(struct account *a)
{
	task_clock_look(a->clock, a->stolen, &a->counted);
	a->clock_ends = a->clock_births - a->births + task_clock_ends(a->clock, a->machine_cpus);
	return a->before_clock + a->counted.seconds - a->counted.stolen_seconds -
	       (a->helpers.seconds - a->helpers.unclocked_seconds);
}

/* In the first samples, attaches all clocks again in two cases: there is no clock, or a process is
 * found that began before the clocks were attached, so it may have no clock. */
static void check_clock(struct account *a, const struct host *h, struct process_tree *tree)
{
	if (!a->clock_wanted || a->looks > CLOCK_CHECK_LOOKS ||
		(a->clock && clock_members_until(tree, a->clock_ticks) <= a->clock_members))
		return;
	double shown = as_command(a, (double)process_tree_cpu_ns(tree) / 1e9),
	       missed = a->clock ? a->clock_missed : a->missed.seconds;

	if (a->clock)
		a->known[SOURCE_CLOCK] = look_at_clock(a);
	detach_clock(a);
	attach_clock(a, h, tree);
	/* Without a clock, the missing CPU time is usually unknown. The exception: the run has no
	 * living process, and the last clock counted all CPU time that /proc shows. */
	if (!a->clock &&
		(any_lives(tree) || !(a->known[SOURCE_CLOCK] + WORTH_NAMING_SECONDS >= shown))) {
		missed = INFINITY;
		a->clock_ends = NAN;
	}
	a->clock_missed = missed;
}

static void take_machine(struct account *a, const struct accounts *s)
{
	a->machine = s->machine;
	a->machine_known = s->machine_known;
	if (s->machine_known)
		a->machine_cpus = fmax(a->machine_cpus, s->machine.cpus);
}

struct account *account_open(struct accounts *shared, const struct host *h,
	const struct account_spec *spec, struct process_tree *tree)
{
	struct account *a = xcalloc(1, sizeof *a);

	a->shared = shared;
	a->clock = spec->clock;
	a->forked_seconds = spec->forked_seconds;
	a->from_now = spec->from_now;
	a->group_made = spec->own_group;
	a->ours = spec->ours;
	for (size_t i = 0; i < SOURCES; i++)
		a->known[i] = NAN;
	a->most_seconds = a->clock_ends = a->machine_cpus = a->held_bytes = a->oom_kills = NAN;
	accounts_tick(shared, h);
	a->machine_memory_bytes = machine_memory_bytes(h);
	take_machine(a, shared);
	a->births = a->clock_births = births_of(a);
	a->exporter_seconds = shared->own_seconds;
	a->root = spec->root;
	missed_cpu_begin(&a->missed, NAN);
	a->limits = (struct cgroup_limits){NAN, NAN, NAN};
	memory_kills_begin(&a->kills, h);
	find_group(a, h, tree, spec->quota);
	begin_events(a, h, spec, tree, true);
	if (!needs_clock(a))
		a->clock = NULL;
	else if (!a->clock && !spec->ours) {
		a->clock_wanted = true;
		attach_clock(a, h, tree);
		if (!a->clock)
			begin_events(a, h, spec, tree, false);
	}
	a->stolen_before = a->machine_known ? a->machine.stolen_seconds : (double)NAN;
	return a;
}

void account_close(struct account *a)
{
	if (!a)
		return;
	if (a->has_events) {
		struct exit_events *events = a->shared->events;

		exit_events_lock(events);
		lineage_forget(exit_events_book(events), a->events_run);
		exit_cost_done(&a->ends, &a->shared->ends_groups, events);
		exit_events_unlock(events);
	}
	run_group_close(&a->run_group);
	detach_clock(a);
	free(a);
}

void account_let_go(struct account *a)
{
	a->clock_wanted = false;
	detach_clock(a);
	run_group_close(&a->run_group);
}

/* ---- members ---- */

void account_find_members(struct account *a, const struct host *h, struct process_tree *tree)
{
	struct pids found = {0};

	check_clock(a, h, tree);
	/* A container's group may become visible only after its first process has started. Search
	 * again. */
	if (!a->has_group && (a->looks < LIMIT_LOOKS || a->looks % LIMIT_LOOKS == 0))
		find_group(a, h, tree, NULL);
	if (a->has_own && !h->other_pid_namespace &&
		run_group_due(&a->run_group, accounts_births(a->shared)))
		cgroup_processes(&a->own, h, pids_add, &found);
	if (a->has_events) {
		exit_events_lock(a->shared->events);
		lineage_living(exit_events_book(a->shared->events), a->events_run, pids_add,
			&found);
		exit_events_unlock(a->shared->events);
	}
	for (size_t i = 0; i < found.n; i++)
		if (found.pid[i] > 0)
			process_tree_adopt(tree, h, found.pid[i]);
	pids_done(&found);
}

/* ---- one sample ---- */

/* Takes the CPU time and the memory peak from exit accounting. Exit records lack the CPU time of
 * the process ends, so an estimate of this time is added. With the estimate, the result is at most
 * the CPU time of the run's own group, if that time is known. */
static void look_at_events(struct account *a, const struct process_tree *tree,
	double value[RUN_N_METRICS])
{
	const struct lineage_tally *t = &a->tally;

	exit_events_lock(a->shared->events);
	lineage_tally(exit_events_book(a->shared->events), a->events_run, &a->tally);
	if (!a->ends.group)
		exit_cost_estimate(&a->ends, t);
	add_members(a, tree);
	exit_events_unlock(a->shared->events);
	double peak = t->peak_process_bytes ? (double)t->peak_process_bytes : (double)NAN;
	double recorded = (double)t->cpu_ns / 1e9 - a->helpers.seconds,
	       with_ends = recorded + fmax(a->ends.seconds, 0);
	double most = as_command(a, with_ends + a->ends.missed_seconds);

	a->most_seconds = t->whole ? most : (double)NAN;
	if (!exit_events_recorded(a->shared->events)) {
		a->known[SOURCE_PROC] = fmax(a->known[SOURCE_PROC], as_command(a, recorded));
		return;
	}
	a->known[SOURCE_TASKSTATS] = fmax(as_command(a, recorded),
		fmin(as_command(a, with_ends), a->known[SOURCE_CGROUP]));
	if (peak <= (double)tree->helper_peak_bytes)
		peak = NAN;
	value[RUN_MEMORY_PEAK_PROCESS_BYTES] = fmax(value[RUN_MEMORY_PEAK_PROCESS_BYTES], peak);
	value[RUN_MEMORY_PEAK_BYTES] = fmax(value[RUN_MEMORY_PEAK_BYTES], peak);
	/* Do not use the values below for a run with helpers, because they include the helpers'
	 * records. */
	if (tree->any_helper)
		return;
	value[RUN_CPU_WAIT_SECONDS] =
		fmax(value[RUN_CPU_WAIT_SECONDS], (double)t->cpu_wait_ns / 1e9);
	value[RUN_VOLUNTARY_SWITCHES] = fmax(value[RUN_VOLUNTARY_SWITCHES], (double)t->voluntary);
	value[RUN_INVOLUNTARY_SWITCHES] =
		fmax(value[RUN_INVOLUNTARY_SWITCHES], (double)t->involuntary);
}

/* Reads the group's numbers and returns its system time. NaN = unknown. */
static double look_at_group(struct account *a, const struct host *h,
	const struct process_tree *tree, double value[RUN_N_METRICS])
{
	double v[CGROUP_VALUES];

	run_group_read(&a->run_group, h, value, v);
	if (tree->any_helper) {
		helper_use_leave_out_memory(tree, value);
		a->kills.own = a->kills.apart = false;
	}
	a->known[SOURCE_CGROUP] =
		fmax(a->known[SOURCE_CGROUP], v[CGROUP_CPU_SECONDS] - a->helpers.seconds);
	a->oom_kills = fmax(a->oom_kills, v[CGROUP_OOM_KILLS]);
	return v[CGROUP_CPU_SYSTEM_SECONDS] - a->helpers.system_seconds;
}

/* Returns the value of a counter that never falls: the larger of its last value `before` and the
 * growth since the run began. If `growth` is negative (a new group that counts from 0) or NaN (the
 * group is gone), returns `before`. */
static double at_least(double before, double growth)
{
	return growth >= 0 ? fmax(before, growth) : before;
}

/* Sets how often and how long the run was throttled since it began. If the group is gone, the last
 * values stay. */
static void look_at_quota(struct account *a, const struct host *h, double value[RUN_N_METRICS])
{
	const struct cpu_quota *first = &a->quota;

	if (!first->place.version)
		return;
	struct cpu_quota now = cpu_quota_read(&first->place, h);

	value[RUN_CPU_PERIODS] = at_least(value[RUN_CPU_PERIODS], now.periods - first->periods);
	value[RUN_CPU_THROTTLED_PERIODS] = at_least(value[RUN_CPU_THROTTLED_PERIODS],
		now.throttled_periods - first->throttled_periods);
	value[RUN_CPU_THROTTLED_SECONDS] = at_least(value[RUN_CPU_THROTTLED_SECONDS],
		now.throttled_seconds - first->throttled_seconds);
}

static void look_at_tasks(const struct account *a, const struct host *h,
	double value[RUN_N_METRICS])
{
	value[RUN_PIDS_LIMIT] = a->limits.tasks;
	if (a->task_limit.limited.place.version)
		value[RUN_PIDS_REFUSED] =
			at_least(value[RUN_PIDS_REFUSED], task_limit_refused(&a->task_limit, h));
}

/* Reads the limits. If the group was removed, keeps its last limits, because they may have caused
 * the kill of the run. */
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

	if (isnan(stolen))
		return;
	a->stolen = stolen;
	a->steal_known = true;
}

/* Returns true if the task clock is used as a source. On a virtual machine, the clock also counts
 * stolen time, in which the host ran other work. A wrapper therefore uses wait4(2) if the stolen
 * time is unknown. The exception is a process that ignores its children: wait4(2) is then
 * incomplete, and the clock is used. */
static bool clock_is_needed(const struct account *a)
{
	return a->steal_known || !a->ours || a->children_ignored;
}

/* Returns the CPU seconds of the root's group. If the run owns the group, they are computed without
 * reading a file. */
static double group_seconds(const struct account *a, const struct host *h)
{
	double own = a->known[SOURCE_CGROUP];

	return isnan(own) ? cgroup_cpu_seconds(&a->group, h) : own + a->older_seconds;
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
	a->children_ignored = tree->children_ignored;
	a->vanished = tree->vanished;
	take_machine(a, s);
	a->exporter_seconds = s->own_seconds;
}

/* Divides the total, which just grew by `grown`, into system time and user time. Neither of them
 * falls or grows by more than the total. Both are unknown if the system time is unknown. */
static void take_parts(struct account *a, double system, double grown, double value[RUN_N_METRICS])
{
	value[RUN_CPU_SYSTEM_SECONDS] = value[RUN_CPU_USER_SECONDS] = NAN;
	if (isnan(system))
		return;
	a->system += fmin(fmax(system - a->system, 0), grown);
	a->user = fmax(a->user, a->total - a->system);
	value[RUN_CPU_SYSTEM_SECONDS] = a->system;
	value[RUN_CPU_USER_SECONDS] = a->user;
}

void account_look(struct account *a, const struct host *h, const struct process_tree *tree,
	double value[RUN_N_METRICS])
{
	double forked = value[RUN_CPU_SECONDS], tree_total = as_command(a, forked);
	double system = forked == 0 ? 0 : value[RUN_CPU_SYSTEM_SECONDS] / forked;
	double best = tree_total;
	double group_system = NAN;

	a->known[SOURCE_PROC] = tree_total;
	helper_use_look(&a->helpers, tree);
	note_steal(a);
	read_limits(a, h);
	value[RUN_CPU_LIMIT_CORES] = a->limits.cpu_cores;
	value[RUN_MEMORY_LIMIT_BYTES] = a->limits.memory_bytes;
	if (a->has_own)
		group_system = look_at_group(a, h, tree, value);
	look_at_quota(a, h, value);
	look_at_tasks(a, h, value);
	if (a->has_events)
		look_at_events(a, tree, value);
	if (a->clock && clock_is_needed(a))
		a->known[SOURCE_CLOCK] = look_at_clock(a);
	a->peak_process_bytes = fmax(a->peak_process_bytes, value[RUN_MEMORY_PEAK_PROCESS_BYTES]);
	for (size_t i = 0; i < SOURCES; i++)
		best = fmax(best, a->known[i]);

	double grown = fmax(best - a->total, 0);
	double system_now = best == a->known[SOURCE_CGROUP] && !isnan(group_system) ? group_system :
										      best * system;

	bound_missed(a, h, tree, grown);
	a->total += grown;
	value[RUN_CPU_SECONDS] = isnan(best) ? (double)NAN : a->total;
	take_parts(a, system_now, grown, value);
}

void account_waited(struct account *a, double total_seconds, double peak_process_bytes)
{
	a->known[SOURCE_RUSAGE] = total_seconds;
	a->peak_process_bytes = fmax(a->peak_process_bytes, peak_process_bytes);
	if (!(total_seconds > a->total))
		return;
	missed_cpu_found(&a->missed, total_seconds - a->total);
	a->total = total_seconds;
}

void account_end(struct account *a, const struct host *h, const struct process_tree *tree,
	double value[RUN_N_METRICS])
{
	struct family family = {h, tree};
	struct group_members members = {is_member, &family};

	a->held_bytes = memory_kills_held(&a->kills, a->oom_kills,
		value[RUN_MEMORY_CGROUP_PEAK_BYTES], &members, h);
	value[RUN_MEMORY_PEAK_BYTES] = fmax(value[RUN_MEMORY_PEAK_BYTES], a->held_bytes);
}

/* ---- the result ---- */

static enum cpu_source source_of(const struct account *a)
{
	for (size_t i = 0; i < SOURCES; i++)
		if (a->known[i] * WORTH_NAMING + WORTH_NAMING_SECONDS >= a->total)
			return (enum cpu_source)i;
	return SOURCE_PROC;
}

/* Returns an upper bound of the CPU time that process ends cost the run since it began (lineage.h).
 * The bound has two assumptions:
 * - Each process had as many pages as the run's largest process. A forked child has all pages of
 *   its parent, touched or not.
 * - If the clock does not count ends, all processes created on the machine during the run belong to
 *   the run. */
static double ends_seconds(const struct account *a)
{
	double births = births_of(a) - a->births, pages = a->peak_process_bytes / 4096;
	double ends = isnan(a->clock_ends) ? births : a->clock_ends;

	/* `ends` is negative if /proc/loadavg became readable only during the run: births_here then
	 * restarts the count at 0. */
	if (ends < 0)
		return NAN;
	return ends * (LINEAGE_END_NS + pages * LINEAGE_END_PAGE_NS) / 1e9;
}

static double missed_of(const struct account *a, enum cpu_source source)
{
	double missed = a->machine_known ? a->missed.seconds : (double)NAN;
	double ends = ends_seconds(a), most = fmax(a->most_seconds - a->total, 0);

	if (source == SOURCE_CGROUP)
		return a->older_missed;
	/* The wrapper waits for the root and for all orphans, so wait4(2) reports all CPU time. The
	 * exception is a process that ignores its children. */
	if (a->ours && a->root && !a->children_ignored &&
		a->known[SOURCE_RUSAGE] * WORTH_NAMING + WORTH_NAMING_SECONDS >= a->total)
		return 0;
	/* The clock misses process ends and set-user-ID programs. If ends and errors of the clock
	 * explain the whole difference to the total, no set-user-ID program ran. */
	double unclocked = ends + a->counted.stolen_seconds + a->clock_error;

	if (a->known[SOURCE_CLOCK] + unclocked >= a->total)
		missed = fmin(missed, a->clock_missed + unclocked);
	return isnan(a->most_seconds) ? missed : fmin(missed, most);
}

/* Returns an upper bound of the CPU time in the total that processes outside the run used. It is 0
 * for a source that adds up the times of the run's processes. */
static double foreign_of(const struct account *a, enum cpu_source source)
{
	double recorded = as_command(a, (double)a->tally.cpu_ns / 1e9 - a->helpers.seconds);
	double proven = fmax(fmax(a->known[SOURCE_RUSAGE], a->known[SOURCE_PROC]), 0);

	switch (source) {
	case SOURCE_CGROUP:
		return a->older_foreign;
	case SOURCE_TASKSTATS:
		/* The total is higher than the recorded time, because it includes the estimated
		 * cost of process ends. This estimate may be too high. */
		return fmax(a->total - recorded, 0);
	case SOURCE_CLOCK:
		/* The total may contain more stolen time than the estimate that was subtracted. */
		return fmax(a->steal_known ? a->machine.stolen_seconds - a->stolen_before -
						     a->counted.stolen_seconds :
					     a->total - proven,
			0);
	case SOURCE_RUSAGE:
	case SOURCE_PROC:
	case SOURCES:
		break;
	}
	return 0;
}

void account_note(const struct account *a, const struct host *h, struct account_note *ret)
{
	enum cpu_source source = source_of(a);

	*ret = (struct account_note){
		.machine_cpus = a->machine_cpus,
		.machine_memory_bytes = fmax(a->machine_memory_bytes, machine_memory_bytes(h)),
		.machine_vram_bytes = NAN,
		.address_limit_bytes = NAN,
		.address_peak_bytes = NAN,
		.cpu_source = source_names[source],
		.cpu_missed_seconds = missed_of(a, source),
		.cpu_foreign_seconds =
			foreign_of(a, source) +
			helper_use_foreign(&a->helpers, a->total - a->known[SOURCE_PROC]),
		.cpu_seconds = a->total,
		.peak_told_at_ends =
			a->has_events ? (double)a->tally.peak_process_bytes : (double)NAN,
		.oom_kills = a->oom_kills,
		.peak_told_by_limit = a->held_bytes,
		.shared_oom_kills = memory_kills_around(&a->kills, h),
		.memory_limit_bytes = a->limits.memory_bytes,
		.cpu_limit_cores = a->limits.cpu_cores,
		.uses_clock = a->clock != NULL,
		.status_known = a->has_events && a->tally.status_heard,
		.status = a->tally.status,
	};
}
