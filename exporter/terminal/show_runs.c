/* Shows the runs of a job as a table. */
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/terminal/figures.h"
#include "exporter/terminal/grid.h"
#include "exporter/terminal/members.h"
#include "exporter/terminal/outcomes.h"
#include "exporter/terminal/paragraphs.h"
#include "exporter/terminal/show.h"

#define BAR_COLUMNS 8

/* Writes how a run ended: "ok", "failed, code 1", "failed, signal 9", "out of memory". */
static void add_outcome(struct grid *g, const json_t *run)
{
	const char *name = member_text(run, "outcome");
	const struct outcome_row *row = outcomes_find(name);
	double code = member_number(run, "exit_code"), by = member_number(run, "exit_signal");
	struct buf text AUTO(buf_done) = BUF_MAX(128);

	buf_adds(&text, row->word);
	if (strcmp(name, "failed") == 0 && !isnan(by))
		buf_addf(&text, ", signal %.0f", by);
	else if (strcmp(name, "failed") == 0 && !isnan(code))
		buf_addf(&text, ", code %.0f", code);
	grid_take(g, row->style, &text);
}

/* Writes a cell with the used and the requested cores: "USED/REQUESTED", or only "USED" if nothing
 * was requested. */
static void add_cpu(struct grid *g, const json_t *run)
{
	double requested = member_number(run, "requested_cpu_cores");
	struct buf b AUTO(buf_done) = BUF_MAX(128);

	figure_number(&b, member_number(run, "cpu_cores_mean"));
	if (!isnan(requested)) {
		buf_addc(&b, '/');
		figure_short(&b, requested);
	}
	grid_take(g, STYLE_PLAIN, &b);
}

static void add_memory(struct grid *g, const json_t *run, const struct screen *s, bool bars)
{
	double peak = member_number(run, "memory_peak_bytes"),
	       requested = member_number(run, "requested_memory_bytes");
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	if (isnan(requested))
		figure_bytes(&b, peak);
	else
		figure_bytes_of(&b, peak, requested);
	grid_take(g, STYLE_PLAIN, &b);
	if (bars && !isnan(peak / requested))
		screen_bar(&b, s, BAR_COLUMNS, peak / requested, NAN);
	grid_take(g, STYLE_PLAIN, &b);
}

static void add_summary(struct buf *out, const json_t *runs)
{
	size_t n = json_array_size(runs), ok = 0, failed = 0, memory = 0, i;
	const json_t *run;

	json_array_foreach(runs, i, run)
	{
		const char *outcome = member_text(run, "outcome");

		ok += strcmp(outcome, "succeeded") == 0;
		failed += strcmp(outcome, "failed") == 0;
		memory += strcmp(outcome, "oom_killed") == 0;
	}
	buf_addf(out, "\n%zu run%s: %zu ok, %zu failed, %zu out of memory.", n, n == 1 ? "" : "s",
		ok, failed, memory);
}

void show_runs(struct buf *out, const json_t *answer, const struct screen *s, bool explain)
{
	static const struct grid_column columns[] = {
		{"STARTED", false, 0},
		{"OUTCOME", false, 0},
		{"DURATION", true, 0},
		{"CPU", true, 0},
		{"PEAK MEMORY", true, 0},
		{"", false, 1},
		{"HOST", false, 3},
		{"RUN", false, 2},
	};
	AUTO(grid_freep) struct grid *g = grid_new(columns, ARRAY_LEN(columns));
	const json_t *runs = json_object_get(answer, "runs"), *run;
	struct buf b AUTO(buf_done) = BUF_MAX(256);
	bool bars = false;
	size_t i;

	(void)explain;
	for (size_t k = 0; k < json_array_size(runs); k++)
		bars = bars || member_number(json_array_get(runs, k), "requested_memory_bytes") > 0;
	json_array_foreach(runs, i, run)
	{
		figure_time(&b, member_text(run, "started_at"));
		grid_take(g, STYLE_PLAIN, &b);
		add_outcome(g, run);
		figure_seconds(&b, member_number(run, "duration_seconds"));
		grid_take(g, STYLE_PLAIN, &b);
		add_cpu(g, run);
		add_memory(g, run, s, bars);
		grid_add(g, STYLE_PLAIN, member_text(run, "host"));
		grid_add(g, STYLE_PLAIN, member_text(run, "run_id"));
	}
	grid_write(out, g, s);
	add_summary(out, runs);
	buf_adds(out, bars ? " Bars: peak as a share of the request.\n" : "\n");
	paragraphs_next(out, s, "recommend", answer);
}
