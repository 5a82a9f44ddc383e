/*
 * The recommender as far as its answers need it: one strategy, two formats, two servers. Its headers are the contract;
 * a test that links the real one instead must find the same.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "recommender/changes.h"
#include "recommender/phases.h"
#include "recommender/recommend.h"
#include "recommender/running.h"

static int size(const struct runs *runs, const struct sizing_options *options, struct arena *arena,
	struct sizing *ret, struct err *e)
{
	struct sizing s = {.demand = {1, 1e8, 0, 0, NAN, 60}, .resources = {1, 128, 0, 0}};

	(void)arena;
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

static const char *const risk_names[RISK_COUNT] = {"balanced", "economy", "safe"};

const char *risk_name(enum risk r)
{
	return risk_names[r];
}

bool risk_parse(const char *name, enum risk *ret)
{
	for (unsigned i = 0; i < RISK_COUNT; i++)
		if (strcmp(name, risk_names[i]) == 0) {
			*ret = (enum risk)i;
			return true;
		}
	return false;
}

static void write_metaflow(struct buf *out, const struct sizing *s)
{
	buf_addf(out, "@resources(cpu=%llu, memory=%llu)\n", (unsigned long long)s->resources.cpu,
		(unsigned long long)s->resources.memory);
}

const struct advice_format advice_formats[] = {
	{.name = "json", .content_type = "application/json", .help = "Everything"},
	{.name = "metaflow",
		.content_type = "text/plain; charset=utf-8",
		.help = "One line",
		.write = write_metaflow},
	{0},
};

const struct advice_format *advice_format_find(const char *name)
{
	for (const struct advice_format *f = advice_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

const char *confidence_name(enum confidence c)
{
	static const char *const names[] = {"none", "low", "medium", "high"};

	return names[c];
}

const char *const exclusion_name[EXCLUSION_COUNT] = {
	[EXCLUDED_TOO_FEW_VCPUS] = "too_few_vcpus",
	[EXCLUDED_TOO_LITTLE_MEMORY] = "too_little_memory",
};

void pick_servers(const struct catalogue *c, const struct demand *d, const struct pick_options *o,
	struct arena *arena, struct picks *ret)
{
	*ret = (struct picks){
		.pick = arena_alloc(arena, c->n * sizeof *ret->pick), .fitting = c->n};
	for (size_t i = 0; i < c->n && ret->n < o->limit; i++)
		ret->pick[ret->n++] = (struct pick){
			.server = &c->server[i],
			.price = c->server[i].min_price_ondemand,
			.forecast_duration_seconds = d->duration_seconds,
		};
}

int catalogue_built_in(struct catalogue **ret, struct err *e)
{
	static const struct server servers[] = {
		{.vendor_id = "aws", .server_id = "t4g.nano", .min_price_ondemand = 0.0042},
		{.vendor_id = "hcloud", .server_id = "cx22", .min_price_ondemand = 0.006},
	};
	struct catalogue *c = xcalloc(1, sizeof *c);

	(void)e;
	*c = (struct catalogue){
		.source = "built-in", .as_of = "2026-11", .n = 2, .server = servers};
	*ret = c;
	return 0;
}

int catalogue_from_csv(struct catalogue **ret, const char *text, size_t len, const char *source,
	struct err *e)
{
	(void)text;
	return len ? catalogue_built_in(ret, e) : err_set(e, -EINVAL, "%s: no header", source);
}

int catalogue_from_json(struct catalogue **ret, const char *text, size_t len, const char *source,
	struct err *e)
{
	return catalogue_from_csv(ret, text, len, source, e);
}

void catalogue_free(struct catalogue *c)
{
	free(c);
}

const struct objective *objective_find(const char *name)
{
	(void)name;
	return NULL;
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

void prospect_of(const struct runs *history, double input, struct prospect *ret)
{
	(void)history;
	(void)input;
	for (size_t i = 0; i < PROSPECT_POINTS; i++)
		ret->peak[i] = ret->duration[i] = (double)(i + 1);
}

void running_outlook(const struct prospect *p, const struct progress *now, struct running *ret)
{
	*ret = (struct running){.oom_risk = p->peak[0] / PROSPECT_POINTS,
		.expected_duration_seconds = now->seconds};
}

void phases_of(const struct series *s, struct arena *arena, struct phases *ret)
{
	*ret = (struct phases){1, arena_alloc(arena, sizeof *ret->phase), (double)s->n};
}

bool phases_split(const struct phases *run, size_t n, struct arena *arena, struct split *ret)
{
	(void)run;
	(void)n;
	(void)arena;
	(void)ret;
	return false;
}
