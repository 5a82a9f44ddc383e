/* /recommend: the next request, and the server for it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/sizing_json.h"
#include "exporter/answers/server_parameters.h"
#include "exporter/answers/sizing.h"
#include "exporter/answers/sizing_parameters.h"
#include "exporter/text/line_wrap.h"
#include "recommender/advice/advice.h"
#include "recommender/sizing/sizing.h"

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

static int answer_json(struct app *app, const struct arguments *a, const struct sizing_result *s,
	struct arena *arena, struct reply *r, struct err *e)
{
	AUTO(server_answer_done) struct server_answer servers = {0};
	struct server_question q = {&s->sizing.demand, &s->runs, NAN};
	int code = server_answer(app, a, &q, arena, &servers, r, e);

	if (code <= 0)
		return code;

	struct recommendation all = {
		.job_name = argument_text(a, "job_name"),
		.strategy = argument_text(a, "strategy"),
		.generated_at = wall_seconds(now_read().wall),
		.sizing = &s->sizing,
		.servers = &servers,
	};

	return reply_json(r, 200, recommend_json(&all));
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	const struct advice_format *format = advice_format_find(argument_text(a, "format"));
	AUTO(arena_done) struct arena arena = {0};
	AUTO(sizing_result_done) struct sizing_result *s = NULL;
	int code = sizing_of_job(app, a, &s, r, e);

	if (code <= 0)
		return code;
	if (!format->layout)
		return answer_json(app, a, s, &arena, r, e);
	r->status = 200;
	r->content_type = format->content_type;
	advice_write(&r->body, format, &s->sizing);
	return 0;
}

static void explain(struct buf *out)
{
	buf_adds(out, "\nStrategies:\n");
	for (const struct strategy *s = strategies; s->name; s++) {
		buf_addf(out, "  %s\n", s->name);
		line_wrap_add(out, s->help, 6);
	}
	buf_adds(out, "\nFormats:\n");
	for (const struct advice_format *f = advice_formats; f->name; f++) {
		buf_addf(out, "  %s\n", f->name);
		line_wrap_add(out, f->help, 6);
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
	.takes_long = true,
};
