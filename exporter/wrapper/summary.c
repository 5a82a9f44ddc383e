#include "exporter/wrapper/summary.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "exporter/core/log.h"
#include "recommender/sizing/sizing.h"
#include "exporter/answers/dated_names.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/neighbourhood.h"
#include "exporter/history/history.h"

#define SUMMARY_PATIENCE_MS 1000

static void add_bytes(struct buf *b, double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t u = 0;

	if (isnan(bytes)) {
		buf_adds(b, "unknown");
		return;
	}
	while (bytes >= 1024 && u + 1 < ARRAY_LEN(units)) {
		bytes /= 1024;
		u++;
	}
	buf_addf(b, u ? "%.1f %s" : "%.0f %s", bytes, units[u]);
}

static void add_duration(struct buf *b, double seconds)
{
	if (seconds < 60)
		buf_addf(b, "%.2f s", seconds);
	else if (seconds < 3600)
		buf_addf(b, "%.0f min %.0f s", floor(seconds / 60), fmod(seconds, 60));
	else
		buf_addf(b, "%.0f h %.0f min", floor(seconds / 3600), fmod(seconds, 3600) / 60);
}

static void add_run(struct buf *b, const struct run *r)
{
	buf_addf(b, "rightsize-exporter: job %s %s after ", r->job_name,
		run_outcome_name(r->outcome));
	add_duration(b, r->duration_seconds);
	if (!isnan(r->exit_signal))
		buf_addf(b, " (signal %.0f)", r->exit_signal);
	else if (!isnan(r->exit_code) && r->exit_code != 0)
		buf_addf(b, " (exit code %.0f)", r->exit_code);
	if (r->outcome == OUTCOME_OOM_KILLED && !isnan(r->memory_limit_bytes)) {
		buf_adds(b, " at its limit of ");
		add_bytes(b, r->memory_limit_bytes);
	}
	buf_addf(b, ", run %s\n", r->run_id);
	if (r->not_measured) {
		buf_addf(b, "  not measured: %s\n", r->not_measured);
		return;
	}
	buf_addf(b, "  CPU     %.2f s", run_total(r, "cpu_seconds"));
	if (r->duration_seconds > 0)
		buf_addf(b, ", %.2f cores on average",
			run_total(r, "cpu_seconds") / r->duration_seconds);
	buf_adds(b, "\n  memory  ");
	add_bytes(b, run_peak(r, "memory_peak_bytes"));
	buf_adds(b, " at most\n  disk    ");
	add_bytes(b, run_total(r, "disk_read_bytes"));
	buf_adds(b, " read, ");
	add_bytes(b, run_total(r, "disk_written_bytes"));
	buf_adds(b, " written\n");
}

static void add_advice(struct buf *b, const struct runs *runs, const struct neighbours *neighbours,
	const struct dated_names *dated, struct arena *arena)
{
	const struct sizing_options options = {.neighbours = neighbours};
	struct sizing s = {0};
	struct err e = {0};
	int code = strategies[0].size(runs, &options, arena, &s, &e);

	dated_names_warn(dated, &s, arena);
	buf_addf(b, "  next    %s\n", code < 0 ? e.text : s.summary);
	for (size_t i = 0; i < s.warnings.n; i++) {
		const struct warning *w = &s.warnings.at[i];

		if (w->code != WARNING_FEW_RUNS) /* the sentence above counts the runs */
			buf_addf(b, "  %-7s %s\n", severity_name(warning_rows[w->code].severity),
				w->text);
	}
}

static int build(struct app *app, const char *run_id, struct buf *b, struct err *e)
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

	add_run(b, &one.run[0]);
	code = job_runs_to_size(h, job_name, 0, &arena, &all, e);
	if (code == 0)
		code = dated_names_find(h, job_name, &dated, e);
	if (code == 0)
		code = job_neighbours_find(app, h, job_name, &neighbours, e);
	if (code)
		return code;
	add_advice(b, &all, neighbours.jobs, &dated, &arena);
	return 0;
}

void summary_make(struct app *app, const char *run_id, struct buf *ret)
{
	struct err e = {0};

	if (build(app, run_id, ret, &e))
		log_line(LOG_LEVEL_WARN, "the summary could not be made", "err", e.text, NULL);
}

void summary_print(struct buf *summary)
{
	if (summary->len)
		log_write(buf_text(summary), summary->len,
			isatty(STDERR_FILENO) ? -1 : SUMMARY_PATIENCE_MS);
	buf_done(summary);
}
