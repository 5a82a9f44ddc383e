/* From processes to recorded runs. */
#include "exporter/finder.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/jobs.h"
#include "collectors/process.h"
#include "collectors/process_book.h"
#include "collectors/recognise.h"
#include "exporter/earlier.h"
#include "exporter/historian.h"
#include "exporter/identity.h"
#include "exporter/log.h"
#include "exporter/outcome.h"

/* Only the beginning of a file that names a job is read. */
#define FILE_MAX 65536
/* Longer chains of processes are cut: no more are looked at again when a run begins below them. */
#define ANCESTORS_MAX 64

/* A run that was named, for as long as a process of it is known. */
struct named {
	struct recognised is;
	size_t processes; /* in the book */
	bool recorded;    /* here; otherwise by a wrapper, or refused */
	bool begun, open;
	char run_id[RUN_ID_MAX];
	struct run_root root;
	struct wall started_at;
	const struct earlier_run *earlier; /* that it continues, or NULL */
};

struct finder {
	struct app *app;
	struct fold *fold;
	struct earlier *earlier;
	struct process_book *book;
	size_t n, room;
	struct named **named;
	char *command_line, *environment, *file; /* HOST_SCRATCH_SIZE each; FILE_MAX */
	const struct host *host;                 /* of the look at hand */
	struct complaint not_followed;
};

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

static void begin(struct finder *f, const struct booked *p, struct named *n)
{
	struct err e = {0};
	const struct host *h = f->host;
	int64_t age =
		h->now.mono.ns -
		(int64_t)(p->start_ticks * ((uint64_t)NS_PER_S / (uint64_t)h->ticks_per_second));

	n->started_at = (struct wall){h->now.wall.ns - (age > 0 ? age : 0)};
	n->root = f->app->self->here;
	n->root.pid = p->pid;
	n->root.start_ticks = p->start_ticks;
	n->earlier = earlier_find(f->earlier, n->is.job_name, p->pid, p->start_ticks);
	if (n->earlier && n->earlier->recorded_elsewhere)
		return;
	if (n->earlier) {
		n->started_at.ns = (int64_t)(n->earlier->started_at * 1e9);
		text_copy(n->earlier->run_id, n->run_id, sizeof n->run_id);
	} else {
		run_id_make(n->run_id, n->started_at);
	}

	struct run_spec spec = {
		.run_id = n->run_id,
		.job_name = n->is.job_name,
		.pid = p->pid,
		.start_ticks = p->start_ticks,
		.started_at = n->started_at,
		.grace_seconds = n->is.grace_seconds,
	};
	int code = jobs_follow(h->jobs, h, &spec, &e);

	n->recorded = n->open = code == 0;
	if (code && code != -ESRCH && complaint_due(&f->not_followed))
		log_line(LOG_LEVEL_WARN, "run not followed", "job_name", n->is.job_name, "err",
			e.text, NULL);
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

/* The process is of the run that it names: of a known one, or it begins it. */
static void enter(struct finder *f, struct booked *p, const struct finding *found)
{
	struct named *n = of_ancestor(f, p, &found->is);

	if (!n && (n = of_same_run(f, &found->is)))
		jobs_adopt(f->host->jobs, f->host, n->run_id, p->pid);
	if (!n) {
		GROW(f->named, f->n, f->room);
		n = f->named[f->n++] = xcalloc(1, sizeof *n);
		n->is = found->is;
		if (!found->exporter)
			begin(f, p, n);
	}
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
	process_book_look(f->book, host, look, forget, f);
	drop_unused(f);
}

/* ---- records ---- */

static void record_begin(struct finder *f, const struct host *h, const struct snapshot *s,
	struct named *n)
{
	const struct identity *self = f->app->self;
	struct account_note note;
	struct run_begin begin = {
		.run_id = n->run_id,
		.job_name = n->is.job_name,
		.host = self->host,
		.started_at = wall_seconds(n->started_at),
		.interval_seconds = f->app->options->sample_interval,
		.root = n->root,
		.requested_cpu_cores = n->is.cpu_cores,
		.requested_memory_bytes = n->is.memory_bytes,
		.memory_limit_bytes = NAN,
		.input_bytes = n->is.input_bytes,
		.attempt = n->is.attempt,
		.owner_pid = self->pid,
		.owner_start_ticks = self->start_ticks,
	};

	if (jobs_note(h->jobs, h, n->run_id, &note))
		begin.memory_limit_bytes = note.memory_limit_bytes;
	if (n->earlier)
		fold_continue(f->fold, n->run_id, s, n->earlier->total,
			fmax(0, wall_seconds(s->at.wall) - n->earlier->last_sample_at));
	else
		fold_begin(f->fold, n->run_id, s);
	historian_run_begin(f->app->historian, &begin);
	n->begun = true;
	log_line(LOG_LEVEL_INFO, n->earlier ? "run continued" : "run found", "job_name",
		n->is.job_name, "run_id", n->run_id, "system", n->is.system, NULL);
}

static const struct run_reading *reading_of(const struct snapshot *s, const char *run_id)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (strcmp(s->runs[i].run_id, run_id) == 0)
			return &s->runs[i];
	return NULL;
}

static void record_end(struct finder *f, const struct host *h, const struct snapshot *s,
	const struct run_reading *reading, struct named *n)
{
	const struct sample *rows;
	struct account_note note;
	double duration = reading->value[RUN_DURATION_SECONDS];
	struct run_finish finish = {
		.run_id = n->run_id,
		.ended_at = wall_seconds(n->started_at) + duration,
		.duration_seconds = duration,
		.outcome = OUTCOME_UNKNOWN,
		.exit_code = NAN,
		.exit_signal = NAN,
		.cpu_missed_seconds = NAN,
		.memory_source = "vmhwm",
	};
	size_t n_rows = fold_rows(f->fold, s, n->run_id, &rows);

	if (n_rows)
		historian_samples(f->app->historian, rows, n_rows);
	fold_end(f->fold, n->run_id);
	if (jobs_note(h->jobs, h, n->run_id, &note))
		outcome_note(&finish, &note);
	historian_run_finish(f->app->historian, &finish);
	n->open = false;
	log_line(LOG_LEVEL_INFO, "run ended", "job_name", n->is.job_name, "run_id", n->run_id,
		"outcome", outcome_name(finish.outcome), NULL);
}

void finder_settle(struct finder *f, const struct host *host, const struct snapshot *s)
{
	for (size_t i = 0; i < f->n; i++) {
		struct named *n = f->named[i];
		const struct run_reading *reading = n->open ? reading_of(s, n->run_id) : NULL;

		if (reading && !n->begun)
			record_begin(f, host, s, n);
		if (reading && reading->ended)
			record_end(f, host, s, reading, n);
	}
}
