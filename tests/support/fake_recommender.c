/* The parts of the sizing that answers need: one simple sizing under the names of two strategies,
 * and two formats. The choice of servers is the real code. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "recommender/advice/formats.h"
#include "recommender/behaviour/changes.h"
#include "recommender/behaviour/phases.h"
#include "recommender/advice/advice.h"
#include "recommender/behaviour/running.h"
#include "tests/support/fake_recommender.h"

struct fake_recommender fake_recommender;

static int size(const struct runs *runs, const struct sizing_options *options, struct arena *arena,
	struct sizing *ret, struct err *e)
{
	struct sizing s = {.demand = {1, 1e8, 0, 0, NAN, 60}, .resources = {1, 128, 0, 0}};

	(void)arena;
	fake_recommender.sized_with = options->neighbours;
	for (size_t i = 0; i < runs->n && (!options->runs || s.runs < options->runs); i++)
		s.runs += runs->run[i].outcome == OUTCOME_SUCCEEDED;
	if (s.runs == 0)
		return err_set(e, -ENODATA, "no run succeeded");
	*ret = s;
	return 0;
}

const struct strategy strategies[] = {
	{.name = "auto", .help = "Ours", .uses = USES_RISK, .size = size},
	{.name = "percentile",
		.help = "A percentile",
		.uses = USES_PERCENTILE | USES_MARGIN,
		.size = size},
	{0},
};

const struct strategy *strategy_find(const char *name)
{
	for (const struct strategy *s = strategies; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

static const struct advice_piece cpu_and_memory[] = {{"cpu=", CPUS}, {"memory=", MEMORY_MIB}, {0}};
static const struct advice_section resources[] = {
	{"@resources(", ", ", ")\n", cpu_and_memory}, {0}};
static const struct advice_layout metaflow = {NULL, resources};

const struct advice_format advice_formats[] = {
	{.name = "json", .content_type = "application/json", .help = "Everything"},
	{.name = "metaflow",
		.content_type = "text/plain; charset=utf-8",
		.help = "One line",
		.layout = &metaflow},
	{0},
};

const struct advice_format *advice_format_find(const char *name)
{
	for (const struct advice_format *f = advice_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

const struct advice_format *advice_format_for(const char *system)
{
	(void)system;
	return &advice_formats[1];
}

const char *const change_kind_name[CHANGE_KINDS] = {"shift", "trend", "new_peak", "anomaly"};

size_t changes_of_runs(const struct runs *runs, double requested_bytes, struct arena *arena,
	struct change **ret)
{
	static struct change change = {
		CHANGE_SHIFT, "memory_peak_bytes", NULL, 1, 2, NAN, "It grew"};

	(void)runs;
	(void)requested_bytes;
	(void)arena;
	*ret = &change;
	return 1;
}

void running_prospect(const struct runs *history, const struct sizing_options *options,
	struct prospect *ret)
{
	(void)history;
	fake_recommender.forecast_with = options->neighbours;
	for (size_t i = 0; i < PROSPECT_POINTS; i++)
		ret->peak[i] = ret->duration[i] = (double)(i + 1);
	ret->expected_seconds = ret->duration[PROSPECT_POINTS / 2];
}

double running_mark_at_half(const struct memory_mark *mark, size_t n, double seconds)
{
	double bytes = NAN;

	for (size_t i = 0; i < n && mark[i].seconds <= seconds / 2; i++)
		bytes = mark[i].bytes;
	return bytes;
}

void running_outlook(const struct prospect *p, const struct running_progress *now,
	struct running *ret)
{
	*ret = (struct running){.oom_risk = p->peak[0] / PROSPECT_POINTS,
		.expected_duration_seconds = now->seconds};
}

const char *const phases_columns[] = {NULL};

void phases_of(const struct series *s, struct arena *arena, struct phases *ret)
{
	*ret = (struct phases){1, arena_alloc(arena, sizeof *ret->phase), (double)s->n};
}

void phases_copy(struct phases *p, struct arena *arena)
{
	struct phase *copy = arena_alloc(arena, (p->n + 1) * sizeof *copy);

	for (size_t i = 0; i < p->n; i++)
		copy[i] = p->phase[i];
	p->phase = copy;
}

bool phases_split(const struct phases *run, size_t n, struct arena *arena, struct split *ret)
{
	(void)run;
	(void)n;
	(void)arena;
	(void)ret;
	return false;
}
