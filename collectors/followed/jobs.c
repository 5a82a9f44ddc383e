#include "collectors/followed/jobs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/process/delays.h"
#include "collectors/process/exit_watch.h"
#include "collectors/gpu/gpu.h"
#include "collectors/machine/machine_memory.h"
#include "collectors/process/tree.h"
#include "collectors/followed/run_place.h"

/* The exit status of a run's root is known only after its parent has waited for it. An ended run
 * waits for the status at most this many seconds. */
#define STATUS_SECONDS 2
/* Maximum number of processes of all runs together. It limits the cost of a tick, because each tick
 * reads all processes. A process that belongs to several runs counts once for each run. */
#define MEMBERS_MAX  100000
#define OUTCOMES_MAX 8

struct followed_job {
	char name[JOB_KEY_MAX];
	double finished[RUN_N_METRICS]; /* sums of counters over removed runs */
	double reported[RUN_N_METRICS]; /* last reported value of each counter */
	/* Peaks of the last ended run, until the next run begins; NaN = none. */
	double peak[RUN_N_METRICS];
	size_t n_outcomes;
	struct {
		char name[16];
		uint64_t runs;
		double exit_code, exit_signal; /* of the newest of these runs; NaN = unknown */
	} outcome[OUTCOMES_MAX];
	double last_end;
	/* Times, as values of jobs.uses. `last_use`: find_or_add_job last returned this job.
	 * `active_at`: place_for_job last found a run of this job. */
	uint64_t last_use, active_at;
	struct followed_run *runs; /* list of the job's runs, made by sort_by_job */
};

struct followed_run {
	char run_id[RUN_ID_MAX];
	struct followed_job *job;
	struct followed_run *next_of_job;
	struct wall started_at;
	struct mono started_mono;
	struct process_tree tree;
	struct account *account;
	struct run_place place;
	struct gpu_kind gpu_kind;
	struct exit_watch exit_watch;
	struct tree_now now; /* state of the tree at this tick */
	size_t alive;
	bool not_shown;          /* host->proc does not show the root, so the tree stays empty */
	struct mono empty_since; /* when the run was first found empty; 0 = it has processes */
	bool awaits_conclusion, concluded, ended;
	uint64_t ended_generation; /* generation of the snapshot with the run's last reading */
	struct mono ended_at;
	double grace_seconds;
	enum final_kind final_kind;
	double final[RUN_N_METRICS];
	double value[RUN_N_METRICS]; /* values at the last tick */
};

struct jobs {
	size_t n_runs, runs_room;
	struct followed_run **run;
	size_t n_jobs, jobs_room;
	struct followed_job **job;
	uint64_t name_hash[JOBS_MAX]; /* hashes of the names in job[], for a fast search */
	uint64_t uses;       /* a clock that grows at each use of a job; orders the uses in time */
	struct wall read_at; /* time of the last tick; 0 = there was none */
	struct accounts *accounts;
	struct exit_watches exit_watches;
	/* The host, whose `delays`, `members` and `helpers` jobs_new sets and jobs_free clears.
	 * NULL = no host. */
	struct host *host;
	struct member_limit members;
	struct helpers helpers;
};

struct jobs *jobs_new(struct host *host)
{
	struct jobs *j = xcalloc(1, sizeof *j);

	j->accounts = accounts_new();
	exit_watches_init(&j->exit_watches);
	j->host = host;
	j->members.most = MEMBERS_MAX;
	if (host) {
		host->delays = delay_reader_new(host);
		host->members = &j->members;
		host->helpers = &j->helpers;
		helpers_begin(&j->helpers, host);
	}
	return j;
}

static void run_free(struct followed_run *t)
{
	account_close(t->account);
	exit_watch_done(&t->exit_watch);
	run_place_done(&t->place);
	process_tree_done(&t->tree);
	free(t);
}

void jobs_free(struct jobs *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->n_runs; i++)
		run_free(j->run[i]);
	for (size_t i = 0; i < j->n_jobs; i++)
		free(j->job[i]);
	accounts_free(j->accounts);
	exit_watches_done(&j->exit_watches);
	member_limit_done(&j->members);
	if (j->host) {
		delay_reader_free(j->host->delays);
		j->host->delays = NULL;
		j->host->members = NULL;
		j->host->helpers = NULL;
	}
	free(j->run);
	free(j->job);
	free(j);
}

static struct followed_run *find_run(const struct jobs *j, const char *run_id)
{
	for (size_t i = 0; i < j->n_runs; i++)
		if (strcmp(j->run[i]->run_id, run_id) == 0)
			return j->run[i];
	return NULL;
}

/* Returns the index for a new job. If the table is full, this is the index of the least recently
 * used job without runs, which the new job replaces. Returns n_jobs if every job has runs. */
static size_t place_for_job(struct jobs *j)
{
	size_t oldest = j->n_jobs;

	if (j->n_jobs < JOBS_MAX) {
		GROW(j->job, j->n_jobs, j->jobs_room);
		j->job[j->n_jobs] = xcalloc(1, sizeof **j->job);
		return j->n_jobs++;
	}
	j->uses++;
	for (size_t i = 0; i < j->n_runs; i++)
		j->run[i]->job->active_at = j->uses;
	for (size_t i = 0; i < j->n_jobs; i++)
		if (j->job[i]->active_at != j->uses &&
			(oldest == j->n_jobs || j->job[i]->last_use < j->job[oldest]->last_use))
			oldest = i;
	return oldest;
}

static struct followed_job *find_job(const struct jobs *j, const char *name, uint64_t hash)
{
	for (size_t i = 0; i < j->n_jobs; i++)
		if (j->name_hash[i] == hash && strcmp(j->job[i]->name, name) == 0)
			return j->job[i];
	return NULL;
}

static struct followed_job *add_job(struct jobs *j, const char *name, uint64_t hash)
{
	size_t at = place_for_job(j);

	if (at == j->n_jobs)
		return NULL;
	struct followed_job *job = j->job[at];

	*job = (struct followed_job){.last_end = NAN};
	text_copy(name, job->name, sizeof job->name);
	for (size_t i = 0; i < RUN_N_METRICS; i++)
		job->peak[i] = NAN;
	j->name_hash[at] = hash;
	return job;
}

/* Returns NULL when all JOBS_MAX jobs have runs. */
static struct followed_job *find_or_add_job(struct jobs *j, const char *name)
{
	uint64_t hash = hash_bytes(name, strnlen(name, JOB_KEY_MAX - 1));
	struct followed_job *job = find_job(j, name, hash);

	if (!job)
		job = add_job(j, name, hash);
	if (job)
		job->last_use = ++j->uses;
	return job;
}

void jobs_set_outcome(struct jobs *j, const char *job_name, const char *outcome, uint64_t runs)
{
	struct followed_job *job = find_or_add_job(j, job_name);
	size_t i = 0;

	if (!job)
		return;
	while (i < job->n_outcomes && strcmp(job->outcome[i].name, outcome) != 0)
		i++;
	if (i == OUTCOMES_MAX)
		return;
	if (i == job->n_outcomes) {
		text_copy(outcome, job->outcome[i].name, sizeof job->outcome[i].name);
		job->outcome[i].exit_code = job->outcome[i].exit_signal = NAN;
		job->n_outcomes++;
	}
	if (runs > job->outcome[i].runs)
		job->outcome[i].runs = runs;
}

void jobs_set_exit(struct jobs *j, const char *job_name, const char *outcome, double exit_code,
	double exit_signal)
{
	struct followed_job *job = find_or_add_job(j, job_name);

	for (size_t i = 0; job && i < job->n_outcomes; i++)
		if (strcmp(job->outcome[i].name, outcome) == 0) {
			job->outcome[i].exit_code = exit_code;
			job->outcome[i].exit_signal = exit_signal;
		}
}

void jobs_set_last_end(struct jobs *j, const char *job_name, double at)
{
	struct followed_job *job = isnan(at) ? NULL : find_or_add_job(j, job_name);

	if (job)
		job->last_end = fmax(job->last_end, at);
}

static void begin_account(struct jobs *j, const struct host *host, const struct run_spec *spec,
	pid_t root, struct followed_run *t)
{
	struct account_spec account = {
		.root = root,
		.clock = spec->clock,
		.forked_seconds = spec->forked_seconds,
		.quota = spec->quota,
		.ours = spec->awaits_conclusion,
		.own_group = spec->own_group,
		.from_now = spec->from_now,
	};

	t->account = account_open(j->accounts, host, &account, &t->tree);
	t->exit_watch = (struct exit_watch){.pidfd = -1, .known = EXIT_STATUS_UNKNOWN};
	if (!spec->awaits_conclusion)
		exit_watch_begin(&t->exit_watch, &j->exit_watches, host, root, t->tree.start_ticks);
}

/* Returns the time at which the run started. A start time in the future comes from another clock,
 * and is replaced by the current time. */
static struct mono start_of(const struct host *h, struct mono reported, uint64_t ticks)
{
	uint64_t ns_per_tick = (uint64_t)NS_PER_S / (uint64_t)h->ticks_per_second;
	uint64_t now = (uint64_t)h->now.mono.ns;
	uint64_t ns = reported.ns               ? (uint64_t)reported.ns :
		      ticks > now / ns_per_tick ? now :
						  ticks * ns_per_tick;

	return (struct mono){(int64_t)(ns < now ? ns : now)};
}

static int no_room(const struct member_limit *m, pid_t pid, struct err *e)
{
	if (m->n >= m->most)
		return err_set(e, -EDQUOT,
			"the limit of %zu processes in all runs together is reached: retry when runs have ended",
			m->n);
	return err_set(e, -EDQUOT,
		"process %d is already in %d runs, the limit for one process: nest fewer runs",
		(int)pid, MEMBER_LIMIT_NESTED_MAX);
}

int jobs_follow(struct jobs *j, const struct host *host, const struct run_spec *spec, struct err *e)
{
	if (find_run(j, spec->run_id))
		return err_set(e, -EEXIST, "run %s is already followed", spec->run_id);
	if (j->n_runs >= JOBS_RUNS_MAX)
		jobs_drop_ended(j, host, UINT64_MAX, 0);
	struct followed_job *job =
		j->n_runs < JOBS_RUNS_MAX ? find_or_add_job(j, spec->job_name) : NULL;

	if (!job)
		return err_set(e, -ENOSPC,
			"%d runs are already followed, which is the limit: retry when runs have ended",
			JOBS_RUNS_MAX);
	pid_t root = spec->own_numbers ? process_number(host, spec->pid) : spec->pid;
	pid_t reaper =
		spec->own_numbers ? process_number(host, spec->reaper_pid) : spec->reaper_pid;

	if (!root && !spec->awaits_conclusion)
		return err_set(e, -ENXIO,
			"--path.procfs shows another PID namespace, and not process %d",
			(int)spec->pid);
	struct followed_run *t = xcalloc(1, sizeof *t);
	int code = root ? process_tree_begin(&t->tree, host, root, spec->start_ticks, reaper) : 0;

	/* The process exists: it is a child of the wrapper, which has not waited for it. If `proc`
	 * lacks it, then `proc` is not mounted, or hidepid hides a child that runs as another
	 * user. */
	if (code < 0 && code != -EDQUOT && spec->awaits_conclusion)
		code = root = 0;
	t->not_shown = !root;
	if (code < 0) {
		free(t);
		if (code == -EDQUOT)
			return no_room(host->members, spec->pid, e);
		return err_system(e, code, "follow process %d", (int)spec->pid);
	}
	text_copy(spec->run_id, t->run_id, sizeof t->run_id);
	t->job = job;
	t->started_at = spec->started_at;
	t->awaits_conclusion = spec->awaits_conclusion;
	t->grace_seconds = spec->grace_seconds;
	t->started_mono = spec->from_now ? host->now.mono :
					   start_of(host, spec->started_mono, t->tree.start_ticks);
	if (spec->from_now)
		process_tree_from_now(&t->tree);
	for (size_t i = 0; i < RUN_N_METRICS; i++)
		t->final[i] = t->value[i] = job->peak[i] = NAN;
	begin_account(j, host, spec, root, t);
	GROW(j->run, j->n_runs, j->runs_room);
	j->run[j->n_runs++] = t;
	return 0;
}

void jobs_adopt(struct jobs *j, const struct host *host, const char *run_id, pid_t pid)
{
	struct followed_run *t = find_run(j, run_id);

	if (t && !t->ended)
		process_tree_adopt(&t->tree, host, pid);
}

int jobs_declare_helper(struct jobs *j, const struct host *host, pid_t pid, struct err *e)
{
	int code = helpers_declare(&j->helpers, host, pid);

	if (code == -ENOSPC)
		return err_set(e, code,
			"%d processes are declared as helpers, which is the limit: retry when some "
			"have ended, or give them RIGHTSIZE_HELPER=1",
			HELPERS_MAX);
	if (code)
		return err_system(e, code, "find process %d", (int)pid);
	for (size_t i = 0; i < j->n_runs; i++)
		if (!j->run[i]->ended)
			process_tree_declare_helper(&j->run[i]->tree, pid);
	return 0;
}

void jobs_conclude(struct jobs *j, const char *run_id, const double final[RUN_N_METRICS],
	enum final_kind kind)
{
	struct followed_run *t = find_run(j, run_id);

	if (!t)
		return;
	t->concluded = true;
	t->final_kind = kind;
	memcpy(t->final, final, sizeof t->final);
	/* The peak in the final figures is that of the largest process. The peak of the whole run
	 * comes from the tree, so it is unknown if there is no tree. */
	if (t->not_shown)
		t->final[RUN_MEMORY_PEAK_BYTES] = NAN;
}

static void take_gpus(struct followed_run *t, struct gpus *gpus, const struct host *h)
{
	struct gpu_use use = gpus_of_run(gpus, h, &t->tree, &t->gpu_kind);
	double *peak = &t->value[RUN_VRAM_PEAK_BYTES];

	t->value[RUN_GPUS_USED] = use.gpus;
	t->value[RUN_GPU_USAGE] = use.usage;
	t->value[RUN_VRAM_BYTES] = use.vram_bytes;
	if (isnan(*peak) || use.vram_bytes > *peak)
		*peak = use.vram_bytes;
	/* If the run uses a GPU now, but the amount is unknown, a peak of 0 would be wrong. */
	if (gpus && isnan(use.vram_bytes) && !(*peak > 0))
		*peak = NAN;
}

/* Returns true when the run is over: it has had no process for grace_seconds, and its exit status
 * need not be waited for. Either the status is known, or it can never be known, or STATUS_SECONDS
 * have passed. */
static bool is_over(const struct followed_run *t, const struct host *h)
{
	double empty = mono_seconds_between(t->empty_since, h->now.mono);

	if (t->empty_since.ns == 0 || empty < t->grace_seconds)
		return false;
	return t->exit_watch.known != EXIT_STATUS_LATER || empty > STATUS_SECONDS;
}

/* Returns the duration of the run so far, in seconds. If the run has no process, the time ends when
 * it was first found without processes. */
static double duration_of(struct followed_run *t, const struct host *h)
{
	if (t->alive > 0 || t->not_shown)
		t->empty_since.ns = 0;
	else if (t->empty_since.ns == 0)
		t->empty_since = h->now.mono;
	return mono_seconds_between(t->started_mono,
		t->empty_since.ns ? t->empty_since : h->now.mono);
}

/* Reads the processes of a run. Returns false only once: when the run is first found without
 * processes. */
static bool walk(struct followed_run *t, const struct host *h, uint64_t births)
{
	if (t->ended)
		return true;
	account_find_members(t->account, h, &t->tree);
	t->alive = process_tree_look(&t->tree, h, births, &t->now);
	return t->alive > 0 || t->empty_since.ns != 0;
}

/* Reads the machine's counters, then the processes of all runs. If a run's last process ended
 * between the two steps, the counters lack its usage, so they are read again. Runs without
 * processes are also read again, to find orphans. */
static void walk_all(struct jobs *j, const struct host *h)
{
	bool any_empty = false;

	accounts_tick(j->accounts, h);
	for (size_t i = 0; i < j->n_runs; i++)
		any_empty = !walk(j->run[i], h, accounts_births(j->accounts)) || any_empty;
	if (!any_empty)
		return;
	accounts_tick(j->accounts, h);
	for (size_t i = 0; i < j->n_runs; i++)
		if (j->run[i]->alive == 0)
			walk(j->run[i], h, accounts_births(j->accounts));
}

/* Closes all files of an ended run. The pidfd must be closed, because it stays readable until the
 * parent has waited. An open pidfd would wake the sampler again and again. */
static void let_go(struct followed_run *t)
{
	exit_watch_done(&t->exit_watch);
	account_let_go(t->account);
	process_tree_let_go(&t->tree);
}

static void look_at_run(struct jobs *j, struct followed_run *t, const struct host *h)
{
	if (t->ended)
		return;
	exit_watch_look(&t->exit_watch, &j->exit_watches, h);
	if (t->not_shown)
		t->value[RUN_CPU_SECONDS] = t->value[RUN_CPU_SYSTEM_SECONDS] = NAN;
	else
		run_values_read(t->value, &t->tree, &t->now, h->delays);
	t->value[RUN_START_TIME_SECONDS] = wall_seconds(t->started_at);
	t->value[RUN_DURATION_SECONDS] = duration_of(t, h);
	take_gpus(t, t->alive ? h->gpus : NULL, h);
	account_look(t->account, h, &t->tree, t->value);
	run_values_tmpfs(t->value, &t->now);
	run_place_look(&t->place, h, &t->tree, t->value);
	t->ended = t->concluded || (!t->awaits_conclusion && is_over(t, h));
	if (t->concluded) {
		/* A client may report a peak above the machine's memory. Ignore such a peak here:
		 * the history would drop all figures of the run, because one is impossible. */
		if (t->final_kind == FINAL_AT_LEAST &&
			t->final[RUN_MEMORY_PEAK_PROCESS_BYTES] > machine_memory_bytes(h))
			t->final[RUN_MEMORY_PEAK_BYTES] = t->final[RUN_MEMORY_PEAK_PROCESS_BYTES] =
				NAN;
		if (t->final_kind == FINAL_AT_LEAST)
			run_values_without_helpers(t->final, &t->tree);
		run_values_final(t->value, t->final, t->final_kind);
		if (t->final_kind == FINAL_AT_LEAST)
			account_waited(t->account, t->final[RUN_CPU_SECONDS],
				t->final[RUN_MEMORY_PEAK_PROCESS_BYTES]);
	}
	if (t->ended) {
		/* FINAL_EXACT figures already contain the exact peak. */
		if (!t->concluded || t->final_kind != FINAL_EXACT)
			account_end(t->account, h, &t->tree, t->value);
		let_go(t);
		t->job->last_end = wall_seconds(h->now.wall);
		for (size_t i = 0; i < RUN_N_METRICS; i++)
			if (run_metrics[i].fold == FOLD_PEAK)
				t->job->peak[i] = t->value[i];
	}
}

void jobs_tell(const struct jobs *j, struct snapshot *s)
{
	struct run_reading *r = arena_alloc(&s->arena, (j->n_runs + 1) * sizeof *r);

	for (size_t i = 0; i < j->n_runs; i++) {
		const struct followed_run *t = j->run[i];

		text_copy(t->run_id, r[i].run_id, sizeof r[i].run_id);
		r[i].job_name = arena_text(&s->arena, t->job->name, strlen(t->job->name));
		r[i].started_at = t->started_at;
		r[i].ended = t->ended;
		memcpy(r[i].value, t->value, sizeof r[i].value);
	}
	s->runs = r;
	s->n_runs = j->n_runs;
}

void jobs_read(struct jobs *j, const struct host *host, struct snapshot *s)
{
	gpus_begin(host->gpus, host);
	if (j->n_runs)
		walk_all(j, host);
	for (size_t i = 0; i < j->n_runs; i++) {
		struct followed_run *t = j->run[i];
		bool had_ended = t->ended;

		look_at_run(j, t, host);
		if (t->ended && !had_ended) {
			t->ended_generation = s->generation;
			t->ended_at = host->now.mono;
		}
	}
	j->read_at = host->now.wall;
	jobs_tell(j, s);
}

static const char *memory_source_of(const struct followed_run *t, const struct account_note *note)
{
	double peak = t->value[RUN_MEMORY_PEAK_BYTES];

	if (isnan(peak))
		return NULL;
	if (peak <= (double)t->tree.peak_bytes)
		return t->tree.peak_is_seen ? "samples" : "vmhwm";
	return peak <= note->peak_told_at_ends  ? "taskstats" :
	       peak <= note->peak_told_by_limit ? "limit" :
						  "rusage";
}

bool jobs_note(const struct jobs *j, const struct host *host, const char *run_id,
	struct account_note *ret)
{
	const struct followed_run *t = find_run(j, run_id);

	if (!t)
		return false;
	account_note(t->account, host, ret);
	ret->not_shown = t->not_shown;
	ret->memory_source = memory_source_of(t, ret);
	ret->machine_vram_bytes = gpus_vram_bytes(host->gpus, host);
	ret->network_source = t->place.network.source;
	ret->disk_source = t->place.disk.source;
	ret->architecture = t->place.binary.architecture;
	ret->cpu_level = t->place.binary.cpu_level;
	text_copy(t->gpu_kind.manufacturer, ret->gpu_manufacturer, sizeof ret->gpu_manufacturer);
	text_copy(t->gpu_kind.model, ret->gpu_model, sizeof ret->gpu_model);
	if (t->place.addresses.limit_bytes) {
		ret->address_limit_bytes = (double)t->place.addresses.limit_bytes;
		ret->address_peak_bytes = (double)t->place.addresses.peak_bytes;
	}
	if (t->exit_watch.known == EXIT_STATUS_KNOWN) {
		ret->status_known = true;
		ret->status = t->exit_watch.status;
	}
	return true;
}

int jobs_ending_fd(const struct jobs *j)
{
	return j->exit_watches.epoll;
}

void jobs_drop_ended(struct jobs *j, const struct host *host, uint64_t seen, double seconds)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n_runs; i++) {
		struct followed_run *t = j->run[i];

		if (!t->ended ||
			(t->ended_generation > seen &&
				mono_seconds_between(t->ended_at, host->now.mono) <= seconds)) {
			j->run[n++] = t;
			continue;
		}
		for (size_t k = 0; k < RUN_N_METRICS; k++)
			if (run_metrics[k].type == METRIC_COUNTER && !isnan(t->value[k]))
				t->job->finished[k] += t->value[k];
		run_free(t);
	}
	j->n_runs = n;
}

/* ---- metric points ---- */

static double combine(enum run_combine how, double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) ? b : a;
	switch (how) {
	case COMBINE_SUM:
		return a + b;
	case COMBINE_MAX:
		return a > b ? a : b;
	case COMBINE_MIN:
		return a < b ? a : b;
	}
	return NAN;
}

/* Returns `value`, or the last reported value if `value` is lower. A sum that is added up in
 * another order may be lower in its last bit. A reader of a counter treats any fall as a restart
 * from 0 and adds the whole value again. */
static double not_fallen(double *reported, double value)
{
	if (!(value < *reported))
		*reported = value;
	return *reported;
}

static void add_points(struct followed_job *job, struct block *out)
{
	double v[RUN_N_METRICS];
	size_t active = 0;

	for (size_t k = 0; k < RUN_N_METRICS; k++)
		v[k] = run_metrics[k].fold == FOLD_PEAK ? job->peak[k] : NAN;
	for (const struct followed_run *t = job->runs; t; t = t->next_of_job)
		active += !t->ended;
	for (const struct followed_run *t = job->runs; t; t = t->next_of_job) {
		/* Limits and times come from the active runs only. If no run is active, they come
		 * from the newest run. A sum that includes the limits of earlier runs would be true
		 * of no run. */
		bool current = !t->ended || (active == 0 && !t->next_of_job);

		for (size_t k = 0; k < RUN_N_METRICS; k++)
			if (current || run_metrics[k].fold != FOLD_NONE)
				v[k] = combine(run_combines[k], v[k], t->value[k]);
	}
	for (size_t k = 0; k < RUN_N_METRICS; k++) {
		bool counter = run_metrics[k].type == METRIC_COUNTER;

		/* A counter of the job includes its ended runs. An unknown counter stays NaN. */
		if (counter && job->finished[k] > 0)
			v[k] = combine(COMBINE_SUM, v[k], job->finished[k]);
		if (counter && !isnan(v[k]))
			v[k] = not_fallen(&job->reported[k], v[k]);
		POINT(out, (unsigned)k, v[k], job->name);
	}
	POINT(out, JOB_ACTIVE_RUNS, (double)active, job->name);
	POINT(out, JOB_LAST_END, job->last_end, job->name);
	for (size_t i = 0; i < job->n_outcomes; i++) {
		POINT(out, JOB_RUNS, (double)job->outcome[i].runs, job->name, job->outcome[i].name);
		POINT(out, JOB_EXIT_CODE, job->outcome[i].exit_code, job->name,
			job->outcome[i].name);
		POINT(out, JOB_EXIT_SIGNAL, job->outcome[i].exit_signal, job->name,
			job->outcome[i].name);
	}
}

/* Links the runs of each job into a list, in the order of j->run. Without the lists, each job would
 * have to search all runs, which is slow for many jobs. */
static void sort_by_job(struct jobs *j)
{
	for (size_t i = 0; i < j->n_jobs; i++)
		j->job[i]->runs = NULL;
	for (size_t i = j->n_runs; i-- > 0;) {
		j->run[i]->next_of_job = j->run[i]->job->runs;
		j->run[i]->job->runs = j->run[i];
	}
}

static size_t incomplete_runs(const struct jobs *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n_runs; i++)
		n += j->run[i]->tree.left_out;
	return n;
}

static int jobs_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	(void)state;
	(void)e;
	if (!host->jobs)
		return -ENOENT;
	sort_by_job(host->jobs);
	for (size_t i = 0; i < host->jobs->n_jobs; i++)
		add_points(host->jobs->job[i], out);
	if (host->jobs->read_at.ns) {
		POINT(out, JOB_READ_AT, wall_seconds(host->jobs->read_at), NULL);
		POINT(out, JOB_INCOMPLETE, (double)incomplete_runs(host->jobs), NULL);
	}
	return 0;
}

const struct collector collector_jobs = {
	.name = "jobs",
	.help = "Jobs whose runs are followed: CPU, memory, I/O and processes of their process "
		"trees",
	.metrics = run_metrics,
	.n_metrics = JOB_N_METRICS,
	.collect = jobs_collect,
};
