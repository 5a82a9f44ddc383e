/* /series: the samples of a run, ready to be drawn. */
#include <errno.h>

#include "exporter/core/json_key.h"
#include "exporter/answers/run_json.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/series_passes.h"
#include "exporter/answers/series_view.h"

#define POINTS_MAX 200000

static const struct parameter parameters[] = {
	RUN_PARAMETERS,
	{.name = "points",
		.kind = PARAMETER_COUNT,
		.fallback = "1500",
		.least = 2,
		.most = POINTS_MAX,
		.help = "Most points; of more samples the lowest and the highest of each stretch "
			"are kept"},
	SPAN_PARAMETERS,
	{0},
};

static json_t *phases_json(const struct phases *phases)
{
	json_t *array = json_array();

	for (size_t i = 0; i < phases->n; i++) {
		const struct phase *p = &phases->phase[i];
		json_t *o = json_object();

		json_put(o, "start", json_seconds(p->start));
		json_put(o, "seconds", json_seconds(p->seconds));
		json_put(o, "cpu_cores_mean", json_cores(p->cores_mean));
		json_put(o, "cpu_cores", json_cores(p->demand.cpu_cores));
		json_put(o, "memory_bytes", json_bytes(p->demand.memory_bytes));
		json_put(o, "gpu_mean", json_ratio(p->gpu_mean));
		json_put(o, "vram_bytes", json_bytes(p->demand.vram_bytes));
		json_push(array, o);
	}
	return array;
}

/* Writes the answer. Each number is written to `out` as text. To collect the numbers in a JSON
 * document first would need ten times as much memory. */
static void write_answer(struct buf *out, const struct run *run, const struct series_passes *read)
{
	json_t *about = run_json(run), *phases = phases_json(&read->phases);

	json_put_job(about, run->job_name);
	buf_adds(out, "{\"run\": ");
	json_write(out, about);
	buf_addf(out,
		", \"position\": %lld, \"samples\": %zu, \"phases\": ", (long long)read->position,
		read->samples);
	json_write(out, phases);
	buf_adds(out, ", \"series\": ");
	series_view_json(out, &read->view);
	buf_adds(out, "}\n");
	json_decref(about);
	json_decref(phases);
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	AUTO(history_closep) struct history *h = NULL;
	AUTO(arena_done) struct arena arena = {0};
	const struct run *run = NULL;
	struct series_passes read;
	struct span span;

	if (!answer_read_span(a, &span, r))
		return 0;
	int code = answer_find_run(app, a, &h, &arena, &run, r, e);

	if (code <= 0)
		return code;
	const struct series_passes_question q = {.run_id = run->run_id,
		.samples = run->samples,
		.from = span.from,
		.to = span.to,
		.points = argument_count(a, "points")};

	code = series_passes_read(h, &q, &arena, &read, e);
	if (code == -E2BIG) {
		r->body.full = true; /* makes the caller reply that the answer is too large */
		return 0;
	}
	if (code)
		return code;
	r->status = 200;
	r->content_type = "application/json; charset=utf-8";
	write_answer(&r->body, run, &read);
	return 0;
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"run", KEY_OBJECT, .required = true, .help = "The run"},
	{"position", KEY_NUMBER, .required = true, .help = "Number of the last sample, for /events"},
	{"samples", KEY_NUMBER, .required = true, .help = "Number of samples of the run"},
	{"phases", KEY_LIST, .required = true, .help = "The phases of the run"},
	{"series", KEY_OBJECT, .required = true, .help = "The points: n, at, and an array for each column"},
	{0},
};
/* clang-format on */

const struct route route_series = {
	.path = "/series",
	.command = "series",
	.help = "The samples of a run, ready to be drawn: rates, phases, thinned to so many points",
	.parameters = parameters,
	.answer = answer,
	.takes_long = true,
	.of_samples = true,
	.gives = answer_keys,
	.errors = (const struct route_error[]){RUN_ERRORS, {0}},
};
