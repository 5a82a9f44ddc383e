/* /series.csv: the samples of a run for other programs. */
#include <string.h>

#include "exporter/run_reply.h"
#include "exporter/series_csv.h"

/* Samples held at once: the answer is text already, and need not be in memory twice. */
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
	{0},
};

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	bool peer = strcmp(argument_text(a, "format"), "resource_tracker") == 0, first = true;
	AUTO(history_done) struct history *h = NULL;
	AUTO(arena_done) struct arena arena = {0};
	AUTO(arena_done) struct arena block = {0};
	const struct run *run = NULL;
	struct series s = {0};
	int64_t position = 0;
	int code = run_asked_for(app, a, &h, &arena, &run, r, e);

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
		if (peer)
			series_csv_peer_rows(&r->body, &s);
		else
			series_csv_rows(&r->body, &s);
	} while (s.n == BLOCK && !r->body.full);
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
};
