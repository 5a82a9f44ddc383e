/* /report: a run as one HTML file. */
#include <stdio.h>

#include "collectors/base/clock.h"
#include "exporter/site/report.h"
#include "exporter/answers/job_runs.h"

/* Maximum number of points of a chart, and of runs in the list. A chart is about 900 pixels wide,
 * so more points would not be visible. The file must stay below 200 KB, so that it can be
 * mailed. */
#define REPORT_POINTS "400"
#define REPORT_RUNS   "30"

static const struct parameter parameters[] = {RUN_PARAMETERS, {0}};

extern const struct route route_series, route_runs, route_recommend;

/* Calls a route and writes its reply to `r`. If the reply is an error, empties the body. For
 * example, there is no recommendation before the first successful run. */
static int ask_route(struct app *app, const struct route *route, const char *const pairs[][2],
	struct reply *r, struct err *e)
{
	int code = route_ask(app, route, pairs, r, e);

	if (code == 0 && r->status != 200 && !r->body.full)
		buf_reset(&r->body);
	return code;
}

static int make_report(struct app *app, const struct run *run, struct buf *out, struct err *e)
{
	struct reply series = {.body = BUF_MAX(out->max)};
	struct reply runs = {.body = BUF_MAX(out->max)};
	struct reply advice = {.body = BUF_MAX(out->max)};
	const char *const run_only[][2] = {{"run", run->run_id}, {"points", REPORT_POINTS}, {NULL}};
	struct job_parts job = job_key_parts(run->job_name);
	const char *const job_runs[][2] = {{"job_name", job.name}, {"namespace", job.space},
		{"cluster", job.cluster}, {"limit", REPORT_RUNS}, {NULL}};
	const char *const job_only[][2] = {{"job_name", job.name}, {"namespace", job.space},
		{"cluster", job.cluster}, {"details", "true"}, {NULL}};
	char text[JOB_TEXT_MAX], title[JOB_TEXT_MAX + 64];
	int code = ask_route(app, &route_series, run_only, &series, e);

	if (code == 0)
		code = ask_route(app, &route_runs, job_runs, &runs, e);
	if (code == 0)
		code = ask_route(app, &route_recommend, job_only, &advice, e);
	if (code == 0) {
		snprintf(title, sizeof title, "Run of %s", job_key_text(run->job_name, text));
		report_write(out, &(const struct report){.title = title,
					  .as_of = wall_seconds(now_read().wall),
					  .series = &series.body,
					  .runs = &runs.body,
					  .recommend = &advice.body});
	}
	out->full = out->full || series.body.full || runs.body.full || advice.body.full;
	buf_done(&series.body);
	buf_done(&runs.body);
	buf_done(&advice.body);
	return code;
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	AUTO(history_closep) struct history *h = NULL;
	AUTO(arena_done) struct arena arena = {0};
	const struct run *run = NULL;
	int code = answer_find_run(app, a, &h, &arena, &run, r, e);

	if (code <= 0)
		return code;
	r->status = 200;
	r->content_type = "text/html; charset=utf-8";
	return make_report(app, run, &r->body, e);
}

const struct route route_report = {
	.path = "/report",
	.command = "report",
	.help = "A run as one HTML file that needs nothing else, to mail or to attach to a card",
	.parameters = parameters,
	.answer = answer,
	.takes_long = true,
	.of_samples = true,
	.content_type = "text/html",
	.errors = (const struct route_error[]){RUN_ERRORS, {0}},
};
