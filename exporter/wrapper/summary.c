#include "exporter/wrapper/summary.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "exporter/core/log.h"
#include "exporter/terminal/figures.h"
#include "exporter/terminal/paragraphs.h"
#include "exporter/terminal/screen.h"
#include "recommender/advice/advice.h"
#include "recommender/sizing/sizing.h"
#include "exporter/answers/dated_names.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/neighbourhood.h"
#include "exporter/history/history.h"
#include "exporter/wrapper/run_link.h"

#define SUMMARY_PATIENCE_MS 1000

/* Columns of the bar that shows how much of the request was used. */
#define BAR_COLUMNS 16

static void add_ending(struct buf *b, const struct run *r)
{
	char text[JOB_TEXT_MAX];

	buf_addf(b, "rightsize-exporter: %s ", job_key_text(r->job_name, text));
	if (r->outcome == OUTCOME_OOM_KILLED)
		buf_adds(b, "ran out of memory");
	else
		buf_adds(b, run_outcome_name(r->outcome));
	buf_adds(b, " after ");
	figure_seconds(b, r->duration_seconds);
	if (!isnan(r->exit_signal))
		buf_addf(b, " (signal %.0f)", r->exit_signal);
	else if (!isnan(r->exit_code) && r->exit_code != 0)
		buf_addf(b, " (exit code %.0f)", r->exit_code);
	if (r->outcome == OUTCOME_OOM_KILLED && !isnan(r->memory_limit_bytes)) {
		buf_adds(b, " at its limit of ");
		figure_bytes(b, r->memory_limit_bytes);
	}
	buf_addf(b, ", run %s.\n", r->run_id);
}

/* Ends a line about a resource: adds the used part of the request as a percentage and as a bar.
 * `share` NaN = unknown. */
static void add_share(struct buf *b, const struct screen *s, double share)
{
	if (!isnan(share)) {
		buf_adds(b, "  ");
		figure_percent(b, share);
		buf_addc(b, ' ');
		screen_bar(b, s, BAR_COLUMNS, share, NAN);
	}
	buf_addc(b, '\n');
}

static void add_cpu(struct buf *b, const struct screen *s, const struct run *r)
{
	double mean = run_total(r, "cpu_seconds") / r->duration_seconds;
	/* Use the mean if it is above the peak. This happens if the only sample of a short run
	 * lasted a little longer than the run. */
	double most = run_peak(r, "cpu_cores");

	buf_adds(b, "  CPU     ");
	figure_of(b, figure_cores, mean, r->requested_cpu_cores);
	buf_adds(b, " on average");
	if (!isnan(most)) {
		buf_adds(b, ", ");
		figure_cores(b, fmax(most, mean));
		buf_adds(b, " at most");
	}
	add_share(b, s, mean / r->requested_cpu_cores);
}

static void add_memory(struct buf *b, const struct screen *s, const struct run *r)
{
	double peak = run_peak(r, "memory_peak_bytes");

	buf_adds(b, "  Memory  ");
	figure_of(b, figure_bytes, peak, r->requested_memory_bytes);
	buf_adds(b, " at most");
	add_share(b, s, peak / r->requested_memory_bytes);
}

static void add_run(struct buf *b, const struct screen *s, const struct run *r)
{
	add_ending(b, r);
	if (r->not_measured) {
		buf_addf(b, "  not measured: %s\n", r->not_measured);
		return;
	}
	add_cpu(b, s, r);
	add_memory(b, s, r);
	buf_adds(b, "  Disk    ");
	figure_bytes(b, run_total(r, "disk_read_bytes"));
	buf_adds(b, " read, ");
	figure_bytes(b, run_total(r, "disk_written_bytes"));
	buf_adds(b, " written\n");
}

/* Adds the command that prints the request in other formats. The next run may be on another system
 * than this run, and then needs another format. */
static void add_other_formats(struct buf *b, const char *job_name)
{
	buf_adds(b, "  Other formats: ");
	paragraphs_command(b, "recommend", job_name);
	buf_adds(b, " --format=kubernetes, slurm, metaflow, ...\n");
}

/* Adds the lines to paste that request the recommended resources. The format is `format_name`, or
 * if it is NULL, that of the run's system. All lines are added: if a format has several, one line
 * alone would request too little. */
static void add_paste(struct buf *b, const struct runs *runs, const char *format_name,
	const struct sizing *s)
{
	const struct run *newest = &runs->run[0];
	const struct advice_format *format =
		format_name ? advice_format_find(format_name) : advice_format_for(newest->system);
	struct advice_target target = {.job_name = newest->job_name};
	struct buf text AUTO(buf_done) = BUF_MAX(SUMMARY_MAX);
	struct err e = {0};

	target.gpu_manufacturer = runs_newest_gpu_manufacturer(runs);
	if (advice_write(&text, format, &target, s, &e) < 0) {
		buf_addf(b, "  No line for %s: %s.\n", format->name, e.text);
		return;
	}
	if (format->note)
		buf_addf(b, "  For %s (%s):\n", format->name, format->note);
	for (const char *at = buf_text(&text); *at;) {
		size_t n = strcspn(at, "\n");

		buf_adds(b, "  ");
		buf_add(b, at, n);
		buf_addc(b, '\n');
		at += n + (at[n] == '\n');
	}
}

static void add_advice(struct buf *b, const struct runs *runs, const struct neighbours *neighbours,
	const struct dated_names *dated, const char *format, struct arena *arena)
{
	const struct sizing_options options = {.neighbours = neighbours};
	struct sizing s = {0};
	struct err e = {0};

	if (strategies[0].size(runs, &options, arena, &s, &e) < 0) {
		buf_addf(b, "\n  Next run: %s.\n", e.text);
		return;
	}
	dated_names_warn(dated, &s, arena);
	buf_addf(b, "\n  Next run: %s\n", s.summary);
	add_paste(b, runs, format, &s);
	add_other_formats(b, runs->run[0].job_name);
	for (size_t i = 0; i < s.warnings.n; i++) {
		const struct warning *w = &s.warnings.at[i];

		/* the first sentence of the summary already tells the number of runs */
		if (w->code != WARNING_FEW_RUNS)
			buf_addf(b, "  %s: %s\n", severity_name(warning_rows[w->code].severity),
				w->text);
	}
}

/* Ends the summary with the link to the page of the run. */
static int add_link(struct buf *b, struct history *h, const struct run_root *here,
	const char *run_id, struct err *e)
{
	AUTO(buf_done) struct buf link = BUF_MAX(SUMMARY_MAX);
	int code = run_link_add(&link, h, here, run_id, e);

	if (code == 0 && link.len)
		buf_addf(b, "  %s\n", buf_text(&link));
	return code;
}

static int build(struct app *app, const struct run_root *here, const char *run_id, struct buf *b,
	struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	AUTO(history_closep) struct history *h = NULL;
	AUTO(job_neighbours_done) struct job_neighbours neighbours = {0};
	struct run_query this_run = {.run_id = run_id, .limit = 1};
	struct runs one = {0}, all = {0};
	struct dated_names dated;
	int code = history_open(&h, app->history_path, HISTORY_READ, &app->columns, NULL, e);

	if (code == 0)
		code = history_runs(h, &this_run, &arena, &one, e);
	if (code || one.n == 0)
		return code;
	const char *job_name = one.run[0].job_name;

	struct screen screen = screen_of(STDERR_FILENO, COLOUR_NEVER);

	add_run(b, &screen, &one.run[0]);
	code = job_runs_to_size(h, job_name, 0, &arena, &all, e);
	if (code == 0)
		code = dated_names_find(h, job_name, &dated, e);
	if (code == 0)
		code = job_neighbours_find(app, h, job_name, &neighbours, e);
	if (code)
		return code;
	add_advice(b, &all, neighbours.jobs, &dated, app->options->run_format, &arena);
	return add_link(b, h, here, run_id, e);
}

void summary_make(struct app *app, const struct run_root *here, const char *run_id, struct buf *ret)
{
	struct err e = {0};

	if (build(app, here, run_id, ret, &e))
		log_line(LOG_LEVEL_WARN, "the summary is incomplete", "err", e.text, NULL);
}

void summary_print(struct buf *summary)
{
	if (summary->len)
		log_write(buf_text(summary), summary->len,
			isatty(STDERR_FILENO) ? -1 : SUMMARY_PATIENCE_MS);
	buf_done(summary);
}
