/* /servers: the servers that fit a job, or the given demand. */
#include <math.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "exporter/core/json_key.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/server_answer.h"
#include "exporter/answers/server_parameters.h"
#include "exporter/answers/sizing.h"
#include "exporter/answers/sizing_json.h"
#include "exporter/answers/sizing_parameters.h"

static const struct parameter parameters[] = {
	OF_JOB_PARAMETERS("Name of a job, whose next run the server is for"),
	{.name = "cpu",
		.kind = PARAMETER_CORES,
		.least = 0,
		.most = 1e6,
		.unit = "cores",
		.help = "Cores that are needed, in place of the job's"},
	{.name = "memory",
		.kind = PARAMETER_SIZE,
		.least = 0,
		.most = 1e9,
		.unit = "MiB",
		.unit_bytes = MIB,
		.help = "Memory that is needed in MiB, in place of the job's; what the system "
			"needs comes on top"},
	{.name = "gpu",
		.kind = PARAMETER_NUMBER,
		.least = 0,
		.most = 1e4,
		.unit = "GPUs",
		.help = "GPUs that are needed, in place of the job's"},
	{.name = "vram",
		.kind = PARAMETER_SIZE,
		.least = 0,
		.most = 1e9,
		.unit = "MiB",
		.unit_bytes = MIB,
		.help = "Memory of all GPUs together that is needed in MiB, in place of the job's"},
	{.name = "disk",
		.kind = PARAMETER_SIZE,
		.least = 0,
		.most = 1e9,
		.unit = "GB",
		.unit_bytes = GB,
		.help = "Disk space that is needed in GB, in place of the job's; part of the cost"},
	{.name = "duration",
		.kind = PARAMETER_NUMBER,
		.least = 0.001,
		.most = 1e9,
		.unit = "seconds",
		.help = "Seconds that a run takes, in place of the job's"},
	SERVER_LIMIT_PARAMETER("5"),
	SERVER_PARAMETERS,
	SIZING_PARAMETERS,
	DETAILS_PARAMETER(
		"of each server its family, CPU allocation, storage, score, lowest prices, cost "
		"by part and ranges; earlier runs with costs, excluded servers, benchmarks"),
	{0},
};

/* Replaces each number of the job's demand `d` that the request gives as a parameter. */
static void demand_said(const struct arguments *a, struct demand *d)
{
	const struct {
		const char *name;
		double *field, factor;
	} requested[] = {
		{"cpu", &d->cpu_cores, 1},
		{"memory", &d->memory_bytes, MIB},
		{"gpu", &d->gpus, 1},
		{"vram", &d->vram_bytes, MIB},
		{"disk", &d->disk_bytes, GB},
		{"duration", &d->duration_seconds, 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(requested); i++) {
		double v = argument_number(a, requested[i].name);

		if (!isnan(v))
			*requested[i].field = v * requested[i].factor;
	}
}

/* A limit on the cost or on the end of a run can only be checked if the duration of the run is
 * known. If the request has such a limit, but no job and no duration, writes an error to `r` and
 * returns false. */
static bool can_be_limited(const struct arguments *a, const struct demand *d, struct reply *r)
{
	static const char *const limits[] = {"max_cost", "deadline"};
	char called[2][ARGUMENT_CALLED_MAX];

	for (size_t i = 0; i < ARRAY_LEN(limits) && isnan(d->duration_seconds); i++)
		if (!isnan(argument_number(a, limits[i]))) {
			reply_error(r, 400, "bad_parameter",
				"%s needs %s, the seconds that a run takes: without it no run has a "
				"forecast",
				argument_called(a, limits[i], called[0]),
				argument_called(a, "duration", called[1]));
			return false;
		}
	return true;
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	const char *job_name = argument_job(a);
	AUTO(arena_done) struct arena arena = {0};
	AUTO(server_answer_done) struct server_answer servers = {0};
	AUTO(sizing_result_done) struct sizing_result *s = NULL;
	struct demand demand = {NAN, NAN, NAN, NAN, NAN, NAN};
	int code = job_name ? sizing_of_job(app, a, &s, r, e) : 1;

	if (code <= 0)
		return code;
	if (s)
		demand = s->sizing.demand;
	demand_said(a, &demand);
	if (!s && !can_be_limited(a, &demand, r))
		return 0;
	struct server_question q = {&demand, s ? &s->sizing : NULL, s ? &s->runs : NULL,
		argument_number(a, "duration")};

	code = server_answer(app, a, &q, &arena, &servers, r);
	if (code <= 0)
		return code;

	json_t *o = json_object();

	json_put_job(o, job_name);
	json_put(o, "generated_at", json_time(wall_seconds(now_read().wall)));
	if (s)
		sizing_json_put_warnings(o, &s->sizing.warnings);
	json_put(o, "demand", sizing_json_demand(&demand));
	json_put(o, "order", json_text(servers.picks.objective->order));
	server_answer_put(o, &servers, argument_flag(a, "details"));
	return reply_json(r, 200, o);
}

/* The keys of an answer. Some are only in an answer for a job. */
/* clang-format off */
static const struct json_key answer_keys[] = {
	{"job_name", KEY_TEXT, .help = "Name of the job, if one was given"},
	JOB_PLACE_KEYS,
	{"generated_at", KEY_TIME, .required = true, .help = "When the answer was made"},
	{"apply", KEY_OBJECT, .help = "With a job: whether a change by a program is safe"},
	{"warnings", KEY_LIST, .help = "With a job: what to know before the request is used"},
	{"demand", KEY_OBJECT, .required = true, .help = "What the server is for"},
	{"order", KEY_TEXT, .required = true, .help = "What comes first in the list, in words"},
	SERVER_ANSWER_KEYS,
	{0},
};
/* clang-format on */

const struct route route_servers = {
	.path = "/servers",
	.command = "servers",
	.help = "Which servers fit a job, or what is asked for; which is best, why, and what a run "
		"would cost",
	.parameters = parameters,
	.answer = answer,
	.takes_long = true,
	.gives = answer_keys,
	.errors = (const struct route_error[]){SIZING_ERRORS, CATALOGUE_ERRORS, {0}},
};
