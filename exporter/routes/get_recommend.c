/* /recommend: the next request, and the server for it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "collectors/base/units.h"
#include "exporter/core/json_key.h"
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

/* clang-format off */
static const struct parameter parameters[] = {
	JOB_NAME_PARAMETERS,
	SIZING_PARAMETERS,
	{.name = "format",
		.kind = PARAMETER_CHOICE,
		.fallback = "json",
		.choice = format_choice,
		.help = "json, or the bare text to paste for another system"},
	{.name = "container",
		.kind = PARAMETER_TEXT,
		.least = 1,
		.most = 63,
		.help = "Name of the container in the pod; main by default, and base for airflow (formats "
			"kubernetes-patch, vpa, argo-patch and airflow)"},
	{.name = "process",
		.kind = PARAMETER_TEXT,
		.least = 1,
		.most = 256,
		.help = "Name of the Nextflow process, such as STAR_ALIGN or RNASEQ:STAR_ALIGN; by default "
			"made from the name of the job (format nextflow)"},
	{.name = "cpu_limit",
		.kind = PARAMETER_FLAG,
		.help = "Writes a CPU limit as well: as many cores as do not slow the job down (formats "
			"kubernetes, kubernetes-patch, argo, argo-patch, airflow and kubeflow)"},
	{.name = "tmp",
		.kind = PARAMETER_FLAG,
		.help = "Requests disk on the node as well, with --tmp (format slurm)"},
	{.name = "gpu_memory",
		.kind = PARAMETER_SIZE,
		.least = 1,
		.most = 1e9,
		.unit = "MiB",
		.unit_bytes = MIB,
		.help = "Memory of one GPU of the cluster in MiB; 16 GiB by default (format ray)"},
	SERVER_LIMIT_PARAMETER("3"),
	SERVER_PARAMETERS,
	DETAILS_PARAMETER("hindsight, how peaks were measured, duration by cores, memory by risk, counts of 0; of each server what "
			  "/servers adds; earlier runs with costs, excluded servers, benchmarks"),
	{0},
};
/* clang-format on */

/* Parameters that only some formats read. */
static const struct {
	const char *name;
	enum advice_reads read;
} special[] = {
	{"container", READS_CONTAINER},
	{"process", READS_PROCESS},
	{"cpu_limit", READS_CPU_LIMIT},
	{"tmp", READS_TMP},
	{"gpu_memory", READS_GPU_MEMORY},
};

#define FORMATS_MAX 64

/* Refuses parameters that the format does not read. If they were ignored, the client would expect
 * an effect that does not happen. */
static bool all_are_read(const struct arguments *a, const struct advice_format *format,
	struct reply *r)
{
	for (size_t i = 0; i < ARRAY_LEN(special); i++) {
		const char *readers[FORMATS_MAX + 1] = {0};
		char called[ARGUMENT_CALLED_MAX];
		size_t n = 0;

		if (!argument_text(a, special[i].name) || format->reads & special[i].read)
			continue;
		for (const struct advice_format *f = advice_formats; f->name && n < FORMATS_MAX;
			f++)
			if (f->reads & special[i].read)
				readers[n++] = f->name;
		reply_error_list(r, 400, "bad_parameter", "formats", readers,
			"%s: format %s does not use it",
			argument_called(a, special[i].name, called), format->name);
		return false;
	}
	return true;
}

/* Reads the parameters that only some formats need, such as the name of the container, into `ret`.
 * If one is wrong, writes an error to `r` and returns false. */
static bool read_target(const struct arguments *a, const struct advice_format *format,
	struct advice_target *ret, struct reply *r)
{
	double gpu_memory = argument_number(a, "gpu_memory");
	char called[ARGUMENT_CALLED_MAX];
	struct advice_target t = {
		.job_name = argument_text(a, "job_name"),
		.process = argument_text(a, "process"),
		.container = argument_text(a, "container"),
		.cpu_limit = argument_flag(a, "cpu_limit"),
		.tmp = argument_flag(a, "tmp"),
		.gpu_memory_bytes = isnan(gpu_memory) ? 0 : gpu_memory * MIB,
	};

	if (!all_are_read(a, format, r))
		return false;
	if (t.container && !advice_container_valid(t.container)) {
		reply_error(r, 400, "bad_parameter",
			"%s: \"%s\" is not the name of a container: give 1 to 63 of a-z, 0-9 and "
			"\"-\", with a letter or digit at both ends",
			argument_called(a, "container", called), t.container);
		return false;
	}
	if (t.process && !advice_process_valid(t.process)) {
		reply_error(r, 400, "bad_parameter",
			"%s: \"%s\" is not the name of a Nextflow process: give letters, digits "
			"and \"_\", with \":\" after the names of workflows",
			argument_called(a, "process", called), t.process);
		return false;
	}
	*ret = t;
	return true;
}

#define PASTE_MAX 65536

/* Returns the batch or workflow system that runs the job. If runs have different systems, that of
 * the newest run counts. NULL = no run has a known system. */
static const char *system_of(const struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		if (runs->run[i].system)
			return runs->run[i].system;
	return NULL;
}

static int answer_json(struct app *app, const struct arguments *a, const struct sizing_result *s,
	struct arena *arena, struct reply *r)
{
	const struct advice_format *format = advice_format_for(system_of(&s->runs));
	struct advice_target target = {.job_name = argument_text(a, "job_name")};
	struct buf paste AUTO(buf_done) = BUF_MAX(PASTE_MAX);
	AUTO(server_answer_done) struct server_answer servers = {0};
	struct server_question q = {&s->sizing.demand, &s->sizing, &s->runs, NAN};
	int code = server_answer(app, a, &q, arena, &servers, r);

	if (code <= 0)
		return code;

	target.gpu_manufacturer = runs_newest_gpu_manufacturer(&s->runs);
	bool fits = advice_write(&paste, format, &target, &s->sizing, NULL) == 0;
	struct recommendation all = {
		.job_name = argument_job(a),
		.strategy = argument_text(a, "strategy"),
		.generated_at = wall_seconds(now_read().wall),
		.sizing = &s->sizing,
		.runs = &s->runs,
		.paste_format = format->name,
		.paste_note = format->note,
		.paste = fits ? buf_text(&paste) : NULL,
		.servers = &servers,
		.details = argument_flag(a, "details"),
	};

	return reply_json(r, 200, recommend_json(&all));
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	const struct advice_format *format = advice_format_find(argument_text(a, "format"));
	AUTO(arena_done) struct arena arena = {0};
	AUTO(sizing_result_done) struct sizing_result *s = NULL;
	struct advice_target target;
	struct err too_large = {0};
	int code = read_target(a, format, &target, r) ? sizing_of_job(app, a, &s, r, e) : 0;

	if (code <= 0)
		return code;
	if (!format->layout)
		return answer_json(app, a, s, &arena, r);
	target.gpu_manufacturer = runs_newest_gpu_manufacturer(&s->runs);
	if (advice_write(&r->body, format, &target, &s->sizing, &too_large) < 0)
		return reply_error(r, 404, "does_not_fit", "%s", too_large.text);
	r->status = 200;
	r->content_type = format->content_type;
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

static const char *content_types(size_t i)
{
	return advice_formats[i].content_type;
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"job_name", KEY_TEXT, .required = true, .help = "Name of the job"},
	JOB_PLACE_KEYS,
	{"generated_at", KEY_TIME, .required = true, .help = "When the answer was made"},
	{"strategy", KEY_TEXT, .required = true, .help = "The strategy that was used"},
	WARNING_KEYS,
	SIZING_KEYS,
	{"used", KEY_OBJECT, .required = true, .help = "The most that a successful run used"},
	{"requested", KEY_OBJECT, .required = true, .help = "What was requested last"},
	{"runs_a_month", KEY_NUMBER, .help = "Runs in 30 days, from the dates of the newest runs; absent or null = unknown"},
	{"paste", KEY_OBJECT, .required = true, .help = "The lines to paste into the system that runs the job"},
	SERVER_ANSWER_KEYS,
	{0},
};
/* clang-format on */

const struct route route_recommend = {
	.path = "/recommend",
	.command = "recommend",
	.help = "The request for the next run of a job, the reasons, and the cheapest servers for it",
	.parameters = parameters,
	.explain = explain,
	.answer = answer,
	.takes_long = true,
	.gives = answer_keys,
	.content_types = content_types,
	.other_json = true,
	.errors = (const struct route_error[]){SIZING_ERRORS, CATALOGUE_ERRORS,
		{404, "does_not_fit"}, {0}},
};
