/* From processes to recorded runs. */
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

/* Longer chains of processes are cut: no more are looked at again when a run begins below them. */
#define ANCESTORS_MAX 64

static bool is_of_rules(const void *finder, struct slice variable)
{
	const struct finder *f = finder;

	return f->rules && job_rules_reads(f->rules, variable);
}

struct finder *finder_new(struct app *app, struct fold *fold)
{
	struct finder *f = xcalloc(1, sizeof *f);

	f->app = app;
	f->fold = fold;
	f->earlier = earlier_read(app);
	f->book = process_book_new();
	f->names.max = (size_t)app->options->jobs_max;
	finder_read_pod(f);
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
	earlier_free(f->earlier);
	process_book_free(f->book);
	facts_reader_free(f->reader);
	job_rules_free(f->rules);
	job_names_done(&f->names);
	free(f->pod);
	buf_done(&f->pod_text);
	free(f);
}

static struct named *of_ancestor(const struct finder *f, const struct booked *p,
	const struct recognised *r)
{
	for (size_t steps = 0; p && steps < PROCESS_BOOK_MAX; steps++) {
		const struct named *n = p->note;

		if (n && recognised_same(&n->is, r))
			return p->note;
		p = p->ppid ? process_book_find(f->book, p->ppid) : NULL;
	}
	return NULL;
}

static struct named *of_same_run(const struct finder *f, const struct recognised *r)
{
	for (size_t i = 0; i < f->n && r->run[0]; i++)
		if (f->named[i]->open && f->named[i]->is.run[0] &&
			recognised_same(&f->named[i]->is, r))
			return f->named[i];
	return NULL;
}

static void leave(struct finder *f, struct booked *p)
{
	struct named *n = p->note;

	(void)f;
	p->note = NULL;
	if (n)
		n->processes--;
}

static void join(struct finder *f, struct booked *p, struct named *n)
{
	if (p->note == n)
		return;
	leave(f, p);
	p->note = n;
	n->processes++;
}

static void root_at(struct finder *f, pid_t pid, uint64_t start_ticks, struct named *n)
{
	const struct host *h = f->host;
	int64_t age = h->now.mono.ns -
		      (int64_t)(start_ticks * ((uint64_t)NS_PER_S / (uint64_t)h->ticks_per_second));

	n->started_at = (struct wall){h->now.wall.ns - (age > 0 ? age : 0)};
	n->root = f->app->self->here;
	n->root.pid = pid;
	n->root.start_ticks = start_ticks;
	if (n->is.passing) {
		/* Like a wrapper's it ends with us: whether a title was another meanwhile, nobody after us can tell. */
		n->root.reaper_pid = f->app->self->pid;
		n->root.reaper_start_ticks = f->app->self->start_ticks;
		n->started_at = h->now.wall;
		run_id_make(n->run_id, n->started_at);
		return;
	}
	n->earlier = earlier_find(f->earlier, n->is.job_name, pid, start_ticks);
	if (n->earlier) {
		n->started_at = wall_from_seconds(n->earlier->started_at);
		text_copy(n->earlier->run_id, n->run_id, sizeof n->run_id);
	} else {
		run_id_make(n->run_id, n->started_at);
	}
}

/* The real one: with the rights of a set-user-ID program nobody's names are another's. */
static uint64_t user_of(const struct host *h, pid_t pid)
{
	char path[64], text[1024];

	snprintf(path, sizeof path, "%d/status", (int)pid);
	ssize_t n = tree_head(h->proc, path, text, sizeof text);

	return number_find(SCAN(text, n > 0 ? n : 0), "Uid");
}

int finder_begin(struct finder *f, pid_t pid, uint64_t start_ticks, struct named *take,
	struct err *e)
{
	struct named *n = take;

	GROW(f->named, f->n, f->room);
	f->named[f->n++] = n;
	root_at(f, pid, start_ticks, n);
	if (n->earlier && n->earlier->recorded_elsewhere)
		return err_set(e, -EEXIST, "another exporter records it as run %s", n->run_id);
	if (!job_names_admit(&f->names, n->is.job_name, user_of(f->host, pid), f->host->now.mono)) {
		found_count(FOUND_TOO_MANY_JOBS, 1);
		return err_set(e, -EDQUOT,
			"there are %zu different jobs already; --jobs.max lets in more, but a name "
			"should not change from run to run",
			f->names.max);
	}

	struct run_spec spec = {
		.run_id = n->run_id,
		.job_name = n->is.job_name,
		.pid = pid,
		.start_ticks = start_ticks,
		.started_at = n->started_at,
		.grace_seconds = n->is.grace_seconds,
		.from_now = n->is.passing,
	};
	int code = jobs_follow(f->host->jobs, f->host, &spec, e);

	n->open = code == 0;
	if (!n->open)
		job_names_ended(&f->names, n->is.job_name);
	if (n->open && n->earlier)
		earlier_continue(f->earlier, n->earlier);
	found_count(FOUND_NOT_FOLLOWED, code && code != -ESRCH);
	return code;
}

/* A run that begins with this process; what an exporter is told to run is recorded by itself. */
static struct named *name_at(struct finder *f, const struct booked *p, const struct finding *found)
{
	struct named *n = xcalloc(1, sizeof *n);
	struct err e = {0};

	n->is = found->is;
	if (found->exporter) {
		GROW(f->named, f->n, f->room);
		return f->named[f->n++] = n;
	}
	int code = finder_begin(f, p->pid, p->start_ticks, n, &e);

	if (code && code != -ESRCH && code != -EEXIST && complaint_due(&f->not_followed))
		log_line(LOG_LEVEL_WARN, "run not followed", "job_name", n->is.job_name, "err",
			e.text, NULL);
	return n;
}

/* The process is of the run that it names: of a known one, or it begins it. */
static void enter(struct finder *f, struct booked *p, const struct finding *found)
{
	struct named *n = of_ancestor(f, p, &found->is);

	if (!n && !found->is.passing && (n = of_same_run(f, &found->is)))
		jobs_adopt(f->host->jobs, f->host, n->run_id, p->pid);
	if (!n)
		n = name_at(f, p, found);
	join(f, p, n);
}

/* Ancestors may have executed what they are now only after they were looked at: from the top down. */
static void look_at_ancestors(struct finder *f, const struct booked *p)
{
	struct booked *chain[ANCESTORS_MAX];
	struct finding found;
	size_t n = 0;

	while (n < ANCESTORS_MAX && p->ppid && (chain[n] = process_book_find(f->book, p->ppid)))
		p = chain[n++];
	while (n-- > 0)
		if (!chain[n]->note && finder_read(f, chain[n], &found))
			enter(f, chain[n], &found);
}

void finder_conclude(const struct host *h, const struct named *n)
{
	double unknown[RUN_N_METRICS];

	for (size_t i = 0; i < RUN_N_METRICS; i++)
		unknown[i] = NAN;
	jobs_conclude(h->jobs, n->run_id, unknown, FINAL_AT_LEAST);
}

/* Of a worker whose title is another now: what it was titled by is over. */
static void end_passing(struct finder *f, struct booked *p)
{
	struct named *n = p->note;

	if (!n || !n->is.passing || n->root.pid != p->pid)
		return;
	if (n->open)
		finder_conclude(f->host, n);
	leave(f, p);
}

static void look(void *context, struct booked *p)
{
	struct finder *f = context;
	const struct named *before = p->note;
	uint64_t program = p->program;
	struct finding found;
	bool names = finder_read(f, p, &found);

	if (p->program != program && before && !(names && recognised_same(&before->is, &found.is)))
		end_passing(f, p);
	if (!names)
		return;
	if (!of_ancestor(f, p, &found.is)) {
		look_at_ancestors(f, p);
		finder_name_again(f, &found.is);
	}
	enter(f, p, &found);
}

static void forget(void *context, struct booked *p)
{
	leave(context, p);
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
		process_book_look(f->book, host, look, forget, f);
	drop_unused(f);
}

void finder_rules(struct finder *f, struct job_rules *take)
{
	job_rules_free(f->rules);
	f->rules = take;
	process_book_again(f->book);
}
