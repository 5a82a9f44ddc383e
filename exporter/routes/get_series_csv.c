/* /series.csv: the samples of a run for other programs. */
#include <math.h>
#include <string.h>

#include "exporter/core/memory_budget.h"
#include "exporter/core/progress.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/series_csv.h"
#include "exporter/answers/series_view.h"

/* Number of samples that are in memory at the same time. The answer is in memory, too. If all
 * samples were, the route would take twice as much memory. */
#define BLOCK 4096

static const char *format_choice(size_t i)
{
	static const char *const names[] = {"history", "resource_tracker", NULL};

	return names[i];
}

static const struct parameter parameters[] = {
	RUN_PARAMETERS,
	{.name = "format",
		.kind = PARAMETER_CHOICE,
		.fallback = "history",
		.choice = format_choice,
		.help = "history: all columns that are kept, growth per interval; "
			"resource_tracker: its 32 columns"},
	SPAN_PARAMETERS,
	{0},
};

/* Returns the samples of `s` within the span of time. They are consecutive samples, even if someone
 * set the clock during the run (series_view_between). */
static struct series between(const struct series *s, const struct span *span, struct arena *arena)
{
	return series_view_between(s, isnan(span->from) ? -INFINITY : span->from,
		isnan(span->to) ? INFINITY : span->to, arena);
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	bool peer = strcmp(argument_text(a, "format"), "resource_tracker") == 0, first = true;
	AUTO(history_closep) struct history *h = NULL;
	AUTO(arena_done) struct arena arena = {0};
	AUTO(arena_done) struct arena block = {0};
	const struct run *run = NULL;
	struct series s = {0}, some;
	int64_t position = 0;
	uint64_t read = 0;
	struct span span;

	if (!answer_read_span(a, &span, r))
		return 0;
	int code = answer_find_run(app, a, &h, &arena, &run, r, e);

	if (code <= 0)
		return code;
	const char *const *columns = peer ? series_csv_peer_sources(&arena) : NULL;

	r->status = 200;
	r->content_type = "text/csv; charset=utf-8; header=present";
	do {
		arena_reset(&block);
		code = history_series_after(h, run->run_id, &position, BLOCK, columns, &block, &s,
			e);
		if (code < 0)
			return code;
		if (first && peer)
			series_csv_peer_header(&r->body);
		else if (first)
			series_csv_header(&r->body, &s);
		first = false;
		some = between(&s, &span, &block);
		if (peer)
			series_csv_peer_rows(&r->body, &some);
		else
			series_csv_rows(&r->body, &some);
		read += s.n;
		progress_note(app->progress, "samples", read, 0);
	} while (s.n == BLOCK && !r->body.full && !memory_budget_is_over());
	return 0;
}

const struct route route_series_csv = {
	.path = "/series.csv",
	.command = "csv",
	.help = "The samples of a run as CSV",
	.parameters = parameters,
	.answer = answer,
	.takes_long = true,
	.of_samples = true,
	.content_type = "text/csv",
	.errors = (const struct route_error[]){RUN_ERRORS, {0}},
};
