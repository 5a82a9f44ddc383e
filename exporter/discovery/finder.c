#include "exporter/discovery/finder_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/number.h"
#include "collectors/followed/jobs.h"
#include "collectors/process/process.h"
#include "exporter/core/counters.h"
#include "exporter/core/identity.h"

/* Maximum number of ancestors that look_at_ancestors checks again. */
#define ANCESTORS_MAX 64

static bool is_of_rules(const void *finder, struct slice variable)
{
	const struct finder *f = finder;

	return identify_reads(variable) || (f->rules && job_rules_reads(f->rules, variable));
}

struct finder *finder_new(struct app *app, struct sample_rows *sample_rows)
{
	struct finder *f = xcalloc(1, sizeof *f);

	f->app = app;
	f->sample_rows = sample_rows;
	f->left_open = left_open_read(app);
	f->book = process_book_new();
	f->quota.max = (size_t)app->options->jobs_max;
	identify_pod(f);
	f->node_pods = node_pods_new();
	f->reader = facts_reader_new();
	facts_reader_wants(f->reader, is_of_rules, f);
	return f;
}

void finder_free(struct finder *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		free(f->named[i]);
	free(f->named);
	left_open_free(f->left_open);
	process_book_free(f->book);
	facts_reader_free(f->reader);
	job_rules_free(f->rules);
	name_quota_done(&f->quota);
	node_pods_free(f->node_pods);
	free(f->pod);
	buf_done(&f->pod_text);
	free(f);
}

static struct named_process *of_ancestor(const struct finder *f, const struct booked_process *p,
	const struct recognised *r)
{
	for (size_t steps = 0; p && steps < PROCESS_BOOK_MAX; steps++) {
		const struct named_process *n = p->note;

		if (n && recognised_same(&n->is, r))
			return p->note;
		p = p->ppid ? process_book_find(f->book, p->ppid) : NULL;
	}
	return NULL;
}

static struct named_process *of_same_run(const struct finder *f, const struct recognised *r)
{
	for (size_t i = 0; i < f->n && r->run[0]; i++)
		if (f->named[i]->open && f->named[i]->is.run[0] &&
			recognised_same(&f->named[i]->is, r))
			return f->named[i];
	return NULL;
}

static void leave_run(struct booked_process *p)
{
	struct named_process *n = p->note;

	p->note = NULL;
	if (n)
		n->processes--;
}

static void join_run(struct booked_process *p, struct named_process *n)
{
	if (p->note == n)
		return;
	leave_run(p);
	p->note = n;
	n->processes++;
}

/* If an earlier exporter left a run of this process open, continues that run under the same job
 * name. That exporter may have chosen another name than this one, because it knew more or less
 * about the owner of the pod. */
static void keep_name(struct finder *f, pid_t pid, uint64_t start_ticks, struct named_process *n)
{
	n->left_open = left_open_find(f->left_open, NULL, pid, start_ticks);
	if (n->left_open)
		text_copy(n->left_open->job_name, n->job, sizeof n->job);
}

static void root_at(struct finder *f, pid_t pid, uint64_t start_ticks, struct named_process *n)
{
	const struct host *h = f->host;
	int64_t age = h->now.mono.ns -
		      (int64_t)(start_ticks * ((uint64_t)NS_PER_S / (uint64_t)h->ticks_per_second));

	n->started_at = (struct wall){h->now.wall.ns - (age > 0 ? age : 0)};
	n->root = f->app->self->here;
	n->root.pid = pid;
	n->root.start_ticks = start_ticks;
	if (n->from_now) {
		/* An exporter that starts later must not continue this run, because it cannot know
		 * how much the process used before the run began. Also, the process may be a worker
		 * that has begun another job. To prevent the continuation, store this exporter as
		 * the reaper. */
		n->root.reaper_pid = f->app->self->pid;
		n->root.reaper_start_ticks = f->app->self->start_ticks;
		n->started_at = h->now.wall;
	} else {
		n->left_open = left_open_find(f->left_open, n->job, pid, start_ticks);
		if (!n->left_open && n->pod[0])
			keep_name(f, pid, start_ticks, n);
	}
	if (n->left_open) {
		n->started_at = wall_from_seconds(n->left_open->started_at);
		text_copy(n->left_open->run_id, n->run_id, sizeof n->run_id);
	} else {
		identity_make_run_id(n->run_id, n->started_at);
	}
}

/* Returns the real user of a process, for name_quota.h. The effective user is not used: a
 * set-user-ID program runs as another user, whose quota must not be charged. */
static uint64_t user_of(const struct host *h, pid_t pid)
{
	char path[64], text[1024];
	uint64_t user;

	snprintf(path, sizeof path, "%d/status", (int)pid);
	ssize_t n = tree_head(h->proc, path, text, sizeof text);

	return number_find(SCAN(text, n > 0 ? n : 0), "Uid", &user) ? user : NUMBER_UNKNOWN;
}

int finder_begin(struct finder *f, pid_t pid, uint64_t start_ticks, struct named_process *n,
	struct err *e)
{
	GROW(f->named, f->n, f->room);
	f->named[f->n++] = n;
	root_at(f, pid, start_ticks, n);
	if (n->left_open && n->left_open->recorded_elsewhere)
		return err_set(e, -EEXIST, "another exporter records it as run %s", n->run_id);
	if (!name_quota_admit(&f->quota, n->job, user_of(f->host, pid), f->host->now.mono)) {
		counters_found_add(FOUND_TOO_MANY_JOBS, 1);
		return err_set(e, -EDQUOT,
			"there are %zu different jobs already: use a name that stays the same from "
			"run to run, or raise --jobs.max",
			f->quota.max);
	}

	struct run_spec spec = {
		.run_id = n->run_id,
		.job_name = n->job,
		.pid = pid,
		.start_ticks = start_ticks,
		.started_at = n->started_at,
		.grace_seconds = n->is.grace_seconds,
		.from_now = n->from_now,
	};
	int code = jobs_follow(f->host->jobs, f->host, &spec, e);

	n->open = code == 0;
	if (n->open)
		f->app->run_begun_ns = f->host->now.mono.ns;
	else
		name_quota_ended(&f->quota, n->job);
	if (n->open && n->left_open)
		left_open_continue(f->left_open, n->left_open);
	counters_found_add(FOUND_NOT_FOLLOWED, code && code != -ESRCH);
	return code;
}

/* Begins a run at this process. If the process is a wrapper (rightsize-exporter run), the wrapper
 * records the run itself, and the finder only remembers the name of the run. */
static struct named_process *name_at(struct finder *f, const struct booked_process *p,
	const struct process_finding *found)
{
	struct named_process *n = xcalloc(1, sizeof *n);
	struct err e = {0};

	n->is = found->is;
	job_key_write(n->is.job_name, n->is.space, f->app->options->jobs_cluster, n->job);
	n->from_now = n->is.passing;
	text_copy(found->pod, n->pod, sizeof n->pod);
	if (found->exporter) {
		GROW(f->named, f->n, f->room);
		return f->named[f->n++] = n;
	}
	int code = finder_begin(f, p->pid, p->start_ticks, n, &e);

	if (code && code != -ESRCH && code != -EEXIST && log_complaint_due(&f->not_followed))
		log_line(LOG_LEVEL_WARN, "run not followed", "job_name", n->job, "err", e.text,
			NULL);
	return n;
}

/* Adds the process to the run that it names. Begins the run if it is new. */
static void enter_run(struct finder *f, struct booked_process *p,
	const struct process_finding *found)
{
	struct named_process *n = of_ancestor(f, p, &found->is);

	if (!n && !found->is.passing && (n = of_same_run(f, &found->is)))
		jobs_adopt(f->host->jobs, f->host, n->run_id, p->pid);
	if (!n)
		n = name_at(f, p, found);
	join_run(p, n);
}

/* Checks the ancestors of a process again, the oldest first. An ancestor may have executed another
 * program since its last check, and may now name a job. */
static void look_at_ancestors(struct finder *f, const struct booked_process *p)
{
	struct booked_process *chain[ANCESTORS_MAX];
	struct process_finding found;
	size_t n = 0;

	while (n < ANCESTORS_MAX && p->ppid && (chain[n] = process_book_find(f->book, p->ppid)))
		p = chain[n++];
	while (n-- > 0)
		if (!chain[n]->note && identify_process(f, chain[n], &found))
			enter_run(f, chain[n], &found);
}

void finder_conclude(const struct host *h, const struct named_process *n)
{
	double final[RUN_N_METRICS];

	for (size_t i = 0; i < RUN_N_METRICS; i++)
		final[i] = NAN;
	if (n->reported.outcome != OUTCOME_RUNNING)
		final[RUN_MEMORY_PEAK_BYTES] = final[RUN_MEMORY_PEAK_PROCESS_BYTES] =
			n->reported.memory_peak_process_bytes;
	jobs_conclude(h->jobs, n->run_id, final, FINAL_AT_LEAST);
}

/* Ends the run of a worker process whose title names its current job. Call it when the title has
 * changed. */
static void end_passing(struct finder *f, struct booked_process *p)
{
	struct named_process *n = p->note;

	if (!n || !n->is.passing || n->root.pid != p->pid)
		return;
	if (n->open)
		finder_conclude(f->host, n);
	leave_run(p);
}

static void look_at_process(void *context, struct booked_process *p)
{
	struct finder *f = context;
	const struct named_process *before = p->note;
	uint64_t program = p->program;
	struct process_finding found;
	bool named = identify_process(f, p, &found);

	if (p->program != program && before && !(named && recognised_same(&before->is, &found.is)))
		end_passing(f, p);
	if (!named)
		return;
	if (!of_ancestor(f, p, &found.is)) {
		look_at_ancestors(f, p);
		identify_again(f, &found.is);
	}
	enter_run(f, p, &found);
}

static void forget_process(void *context, struct booked_process *p)
{
	(void)context;
	leave_run(p);
}

static void drop_unused(struct finder *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (f->named[i]->processes || f->named[i]->open)
			f->named[n++] = f->named[i];
		else
			free(f->named[i]);
	}
	f->n = n;
}

void finder_look(struct finder *f, const struct host *host)
{
	f->host = host;
	if (f->app->options->jobs_recognise || f->pod)
		process_book_look(f->book, host, look_at_process, forget_process, f);
	drop_unused(f);
}

void finder_rules(struct finder *f, struct job_rules *take)
{
	job_rules_free(f->rules);
	f->rules = take;
	process_book_again(f->book);
}
