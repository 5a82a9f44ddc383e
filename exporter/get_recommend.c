/* /recommend: what to ask for next time, and on which server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "exporter/job_runs.h"
#include "exporter/recommend_json.h"

#define VENDORS_MAX 64

static const char *strategy_choice(size_t i)
{
	return strategies[i].name;
}

static const char *format_choice(size_t i)
{
	return advice_formats[i].name;
}

#if defined(__x86_64__)
#define NATIVE ARCHITECTURE_X86_64
#elif defined(__aarch64__)
#define NATIVE ARCHITECTURE_ARM64
#else
#define NATIVE ARCHITECTURE_UNKNOWN
#endif

/* A job's programs run where they were built for, which is what this program was built for, too. */
static const struct {
	const char *word;
	enum architecture architecture; /* UNKNOWN = any */
} architectures[] = {
	{"native", NATIVE},
	{"any", ARCHITECTURE_UNKNOWN},
	{"x86_64", ARCHITECTURE_X86_64},
	{"arm64", ARCHITECTURE_ARM64},
};

static const char *architecture_choice(size_t i)
{
	return i < ARRAY_LEN(architectures) ? architectures[i].word : NULL;
}

static const struct parameter parameters[] = {
	JOB_NAME_PARAMETER,
	RUNS_PARAMETER,
	{.name = "strategy",
		.kind = PARAMETER_CHOICE,
		.fallback = "baseline",
		.choice = strategy_choice,
		.help = "How the next run's demand follows from the last runs"},
	{.name = "format",
		.kind = PARAMETER_CHOICE,
		.fallback = "json",
		.choice = format_choice,
		.help = "json, or the bare line to paste for another system"},
	{.name = "limit",
		.kind = PARAMETER_COUNT,
		.fallback = "5",
		.least = 1,
		.most = 1000,
		.help = "Most servers to give, the cheapest first"},
	{.name = "vendor",
		.kind = PARAMETER_TEXT,
		.repeats = true,
		.least = 1,
		.most = 64,
		.help = "Only servers of this vendor, for example aws"},
	{.name = "architecture",
		.kind = PARAMETER_CHOICE,
		.fallback = "native",
		.choice = architecture_choice,
		.help = "CPU architecture of the servers; native is the one that this program was "
			"built for"},
	{0},
};

/* As struct pick_options wants them: a bit each, none for any. */
static unsigned architecture_bits(const char *word)
{
	size_t i = 0;

	while (i < ARRAY_LEN(architectures) - 1 && strcmp(architectures[i].word, word) != 0)
		i++;
	return architectures[i].architecture == ARCHITECTURE_UNKNOWN ?
		       0 :
		       1u << architectures[i].architecture;
}

/* The catalogue's vendors, each once. */
static size_t vendors_of(const struct catalogue *c, const char *ret[VENDORS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < c->n && n < VENDORS_MAX; i++) {
		const char *vendor = c->server[i].vendor_id;
		size_t k = 0;

		while (k < n && strcmp(ret[k], vendor) != 0)
			k++;
		if (k == n)
			ret[n++] = vendor;
	}
	return n;
}

/* True when every vendor that was asked for is in the catalogue; otherwise r is filled. */
static bool vendors_ok(const struct catalogue *c, const struct pick_options *o, struct reply *r)
{
	const char *known[VENDORS_MAX + 1] = {0};
	size_t n = vendors_of(c, known);
	char message[256];

	for (size_t i = 0; i < o->vendors.n && n < VENDORS_MAX; i++) {
		size_t k = 0;

		while (k < n && strcmp(known[k], o->vendors.text[i]) != 0)
			k++;
		if (k < n)
			continue;
		snprintf(message, sizeof message, "vendor: \"%s\" is not in the catalogue %s",
			o->vendors.text[i], c->source);
		reply_error(r, 400, "bad_parameter", message, "accepted", known);
		return false;
	}
	return true;
}

static int answer_json(struct app *app, const struct arguments *a, const struct sizing *sizing,
	struct arena *arena, struct reply *r, struct err *e)
{
	struct pick_options options = {
		.limit = argument_count(a, "limit"),
		.architectures = architecture_bits(argument_text(a, "architecture")),
	};
	struct picks picks = {0};
	const struct catalogue *catalogue = app_catalogue(app, e);

	if (!catalogue)
		return -EIO;
	options.vendors.n = argument_texts(a, "vendor", &options.vendors.text);
	if (!vendors_ok(catalogue, &options, r))
		return 0;
	pick_servers(catalogue, &sizing->demand, &options, arena, &picks);

	struct recommendation all = {
		.job_name = argument_text(a, "job_name"),
		.strategy = argument_text(a, "strategy"),
		.generated_at = wall_seconds(now_read().wall),
		.sizing = sizing,
		.catalogue = catalogue,
		.picks = &picks,
	};

	return reply_json(r, 200, recommend_json(&all));
}

static const struct advice_format *format_of(const char *name)
{
	const struct advice_format *f = advice_formats;

	while (f->name && strcmp(f->name, name) != 0)
		f++;
	return f;
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
	const struct strategy *strategy = strategy_find(argument_text(a, "strategy"));
	const struct advice_format *format = format_of(argument_text(a, "format"));
	struct sizing_options options = {.runs = argument_count(a, "runs")};
	AUTO(arena_done) struct arena arena = {0};
	struct sizing sizing = {0};
	struct runs runs;
	int code = job_runs(app, job_name, 0, &arena, &runs, r, e);

	if (code <= 0)
		return code;
	code = strategy->size(&runs, &options, &arena, &sizing, e);
	if (code == -ENODATA)
		return reply_no_demand(r, job_name, &runs, e);
	if (code)
		return code;
	if (!format->write)
		return answer_json(app, a, &sizing, &arena, r, e);
	r->status = 200;
	r->content_type = format->content_type;
	format->write(&r->body, &sizing);
	return 0;
}

const struct route route_recommend = {
	.path = "/recommend",
	.command = "recommend",
	.help = "What to ask for the next time a job runs, why, and the cheapest servers for it",
	.parameters = parameters,
	.answer = answer,
};
