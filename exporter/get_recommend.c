/* /recommend: what to ask for next time, and on which server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "exporter/job_runs.h"
#include "exporter/recommend_json.h"
#include "exporter/server_parameters.h"
#include "exporter/sizing_parameters.h"
#include "exporter/wrap.h"

static const char *format_choice(size_t i)
{
	return advice_formats[i].name;
}

static const struct parameter parameters[] = {
	JOB_NAME_PARAMETER,
	SIZING_PARAMETERS,
	{.name = "format",
		.kind = PARAMETER_CHOICE,
		.fallback = "json",
		.choice = format_choice,
		.help = "json, or the bare line to paste for another system"},
	SERVER_PARAMETERS,
	{0},
};

static int answer_json(struct app *app, const struct arguments *a, const struct sizing *sizing,
	const struct runs *runs, struct arena *arena, struct reply *r, struct err *e)
{
	AUTO(server_answer_done) struct server_answer servers = {0};
	int code = server_answer(app, a, &sizing->demand, runs, arena, &servers, r, e);

	if (code <= 0)
		return code;

	struct recommendation all = {
		.job_name = argument_text(a, "job_name"),
		.strategy = argument_text(a, "strategy"),
		.generated_at = wall_seconds(now_read().wall),
		.sizing = sizing,
		.servers = &servers,
	};

	return reply_json(r, 200, recommend_json(&all));
}

static int reply_no_demand(struct reply *r, const char *job_name, const struct runs *runs,
	const struct err *why)
{
	for (size_t i = 0; i < runs->n; i++)
		if (runs->run[i].outcome == OUTCOME_SUCCEEDED)
			return reply_error(r, 404, "no_data", why ? why->text : "", NULL, NULL);
	return reply_no_successful_run(r, job_name, runs);
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	const char *job_name = argument_text(a, "job_name");
	const struct advice_format *format = advice_format_find(argument_text(a, "format"));
	struct sizing_options options;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing sizing = {0};
	struct runs all, runs;
	int code;

	if (!sizing_options(a, &options, r))
		return 0;
	code = job_runs(app, job_name, 0, &arena, &all, r, e);
	if (code <= 0)
		return code;
	runs = sizing_window(a, &all, wall_seconds(now_read().wall));
	code = sizing_strategy(a)->size(&runs, &options, &arena, &sizing, e);
	if (code == -ENODATA)
		return reply_no_demand(r, job_name, &runs, e);
	if (code)
		return code;
	if (!format->write)
		return answer_json(app, a, &sizing, &runs, &arena, r, e);
	r->status = 200;
	r->content_type = format->content_type;
	format->write(&r->body, &sizing);
	return 0;
}

static void explain(struct buf *out)
{
	buf_adds(out, "\nStrategies:\n");
	for (const struct strategy *s = strategies; s->name; s++) {
		buf_addf(out, "  %s\n", s->name);
		wrap_add(out, s->help, 6);
	}
	buf_adds(out, "\nFormats:\n");
	for (const struct advice_format *f = advice_formats; f->name; f++) {
		buf_addf(out, "  %s\n", f->name);
		wrap_add(out, f->help, 6);
	}
	buf_addc(out, '\n');
}

const struct route route_recommend = {
	.path = "/recommend",
	.command = "recommend",
	.help = "What to ask for the next time a job runs, why, and the cheapest servers for it",
	.parameters = parameters,
	.explain = explain,
	.answer = answer,
};
