/* From processes to recorded runs. */
#include "exporter/finder_private.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/jobs.h"
#include "collectors/process.h"
#include "exporter/identity.h"

/* Only the beginning of a file that names a job is read. */
#define FILE_MAX 65536
/* Longer chains of processes are cut: no more are looked at again when a run begins below them. */
#define ANCESTORS_MAX 64

struct finder *finder_new(struct app *app, struct fold *fold)
{
	struct finder *f = xcalloc(1, sizeof *f);

	f->app = app;
	f->fold = fold;
	f->earlier = earlier_read(app);
	f->book = process_book_new();
	f->command_line = xmalloc(HOST_SCRATCH_SIZE);
	f->environment = xmalloc(HOST_SCRATCH_SIZE);
	f->file = xmalloc(FILE_MAX);
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
	free(f->command_line);
	free(f->environment);
	free(f->file);
	free(f);
}

/* ---- what a process says ---- */

static struct slice read_text(const struct host *h, pid_t pid, const char *file, char *out,
	size_t size)
{
	char path[JOB_NAME_MAX * 4];

	snprintf(path, sizeof path, "%d/%s", (int)pid, file);
	ssize_t n = tree_read(h->proc, path, out, size);

	return (struct slice){out, n > 0 ? (size_t)n : 0};
}

static uint64_t fingerprint(struct slice s)
{
	uint64_t hash = 14695981039346656037U;

	for (size_t i = 0; i < s.len; i++)
		hash = (hash ^ (unsigned char)s.data[i]) * 1099511628211U;
	return hash | 1;
}

/* False when it says nothing, or nothing new since it was looked at before. */
static bool read_process(struct finder *f, struct booked *p, struct process_text *ret)
{
	char path[JOB_NAME_MAX * 3];

	*ret = (struct process_text){
		.command_line =
			read_text(f->host, p->pid, "cmdline", f->command_line, HOST_SCRATCH_SIZE),
	};
	/* A kernel thread or a zombie. */
	if (ret->command_line.len == 0)
		return false;
	uint64_t program = fingerprint(ret->command_line);

	if (program == p->program)
		return false;
	p->program = program;
	ret->environment = read_text(f->host, p->pid, "environ", f->environment, HOST_SCRATCH_SIZE);
	if (recognise_file(ret, path, sizeof path))
		ret->file = read_text(f->host, p->pid, path, f->file, FILE_MAX);
	return true;
}

/* ---- which run it is of ---- */

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
	n->earlier = earlier_find(f->earlier, n->is.job_name, pid, start_ticks);
	if (n->earlier) {
		n->started_at.ns = (int64_t)(n->earlier->started_at * 1e9);
		text_copy(n->earlier->run_id, n->run_id, sizeof n->run_id);
	} else {
		run_id_make(n->run_id, n->started_at);
	}
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

	struct run_spec spec = {
		.run_id = n->run_id,
		.job_name = n->is.job_name,
		.pid = pid,
		.start_ticks = start_ticks,
		.started_at = n->started_at,
		.grace_seconds = n->is.grace_seconds,
	};
	int code = jobs_follow(f->host->jobs, f->host, &spec, e);

	n->open = code == 0;
	return code;
}

static bool is_exporter(const struct finder *f, const struct booked *p,
	const struct process_text *text)
{
	return (p->pid == f->app->self->pid && f->host->own_pid_namespace) ||
	       is_exporter_command(text->command_line);
}

/* What a process was found to name. */
struct finding {
	struct recognised is;
	bool exporter;
};

static bool read_finding(struct finder *f, struct booked *p, struct finding *ret)
{
	struct process_text text;

	if (!read_process(f, p, &text) || !recognise(&text, &ret->is))
		return false;
	ret->exporter = is_exporter(f, p, &text);
	return true;
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

	if (!n && (n = of_same_run(f, &found->is)))
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
		if (!chain[n]->note && read_finding(f, chain[n], &found))
			enter(f, chain[n], &found);
}

static void look(void *context, struct booked *p)
{
	struct finder *f = context;
	struct finding found;

	if (!read_finding(f, p, &found))
		return;
	if (!of_ancestor(f, p, &found.is))
		look_at_ancestors(f, p);
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
	if (f->app->options->jobs_recognise)
		process_book_look(f->book, host, look, forget, f);
	drop_unused(f);
}
