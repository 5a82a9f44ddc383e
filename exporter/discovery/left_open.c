#include "exporter/discovery/left_open.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "exporter/core/identity.h"
#include "exporter/core/log.h"
#include "exporter/history/historian.h"
#include "recommender/run.h"

struct left_open {
	size_t n, room;
	struct left_open_run *run;
};

static bool is_here(const struct run_root *root, const struct run_root *here)
{
	return !root->reaper_pid && root->pid_namespace &&
	       root->pid_namespace == here->pid_namespace && *here->boot_id &&
	       strcmp(root->boot_id, here->boot_id) == 0;
}

static void read_totals(struct history *h, struct left_open_run *r)
{
	AUTO(arena_done) struct arena arena = {0};
	struct run_query q = {.run_id = r->run_id, .limit = 1, .open_stats = true};
	struct runs runs;

	if (history_runs(h, &q, &arena, &runs, NULL) || runs.n != 1)
		return;
	r->recorded_seconds = runs.run[0].duration_seconds;
	for (size_t i = 0; i < RUN_N_METRICS; i++) {
		double total = run_metrics[i].fold == FOLD_DELTA ?
				       run_total(&runs.run[0], run_metrics[i].column) :
				       0;

		r->total[i] = isnan(total) ? 0 : total;
	}
}

static void add_open_run(struct left_open *a, struct history *h, const struct open_run *o)
{
	GROW(a->run, a->n, a->room);
	struct left_open_run *r = &a->run[a->n++];

	*r = (struct left_open_run){
		.started_at = o->started_at,
		.root = o->root,
		.recorded_elsewhere = identity_is_alive(NULL, o->owner_pid, o->owner_start_ticks),
	};
	text_copy(o->run_id, r->run_id, sizeof r->run_id);
	text_copy(o->job_name, r->job_name, sizeof r->job_name);
	read_totals(h, r);
}

struct left_open *left_open_read(struct app *app)
{
	struct left_open *a = xcalloc(1, sizeof *a);
	AUTO(history_closep) struct history *h = NULL;
	AUTO(arena_done) struct arena arena = {0};
	struct open_run *open;
	struct err e = {0};
	size_t n = 0;
	int code =
		historian_is_opening(app->historian) ?
			err_set(&e, -ETIMEDOUT, "the history's disk does not answer") :
			history_open(&h, app->history_path, HISTORY_READ, &app->columns, NULL, &e);

	if (code == 0)
		code = history_open_runs(h, &arena, &open, &n, &e);
	if (code && code != -ENOENT)
		log_line(LOG_LEVEL_WARN,
			"runs that an earlier exporter left open are not continued", "err", e.text,
			NULL);
	for (size_t i = 0; code == 0 && i < n; i++)
		if (is_here(&open[i].root, &app->self->here))
			add_open_run(a, h, &open[i]);
	return a;
}

void left_open_free(struct left_open *a)
{
	if (!a)
		return;
	free(a->run);
	free(a);
}

const struct left_open_run *left_open_find(const struct left_open *a, const char *job_name,
	pid_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < a->n; i++)
		if (!a->run[i].continued && a->run[i].root.pid == pid &&
			a->run[i].root.start_ticks == start_ticks &&
			(job_name ? strcmp(a->run[i].job_name, job_name) == 0 :
				    !a->run[i].recorded_elsewhere))
			return &a->run[i];
	return NULL;
}

const struct left_open_run *left_open_find_id(const struct left_open *a, const char *run_id)
{
	for (size_t i = 0; i < a->n; i++)
		if (!a->run[i].continued && strcmp(a->run[i].run_id, run_id) == 0)
			return &a->run[i];
	return NULL;
}

void left_open_continue(struct left_open *a, const struct left_open_run *r)
{
	a->run[r - a->run].continued = true;
}
