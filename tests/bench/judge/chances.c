/* Are the chances and ranges of auto true, and do its levels of risk differ? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "recommender/sizing/cost_aware.h"
#include "tests/bench/judge/judge.h"

/* Classes of the number of earlier runs of the same job. */
static const struct earlier_class {
	const char *name;
	size_t last;
} classes[] = {
	{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}, {"4-10", 10}, {"11-50", 50}, {"more", (size_t)-1}};
#define CLASSES ARRAY_LEN(classes)

static size_t class_of(size_t earlier)
{
	size_t c = 0;

	while (earlier > classes[c].last)
		c++;
	return c;
}

struct range {
	size_t asked, told, below, above;
	/* Runs whose stated chance contradicts the range: above 10 % although the allocation is
	 * beyond the range, or below 10 % although it is not. */
	size_t contradicts;
};

enum spread { SPREAD_BELOW, SPREAD_ABOVE, SPREADS };
static const char *const spread_names[] = {"spread <= 5 %", "spread > 5 %"};
#define SPREAD_LIMIT 0.05

struct levels {
	size_t asked, identical, ascending;
};

struct chances {
	struct chance of[RISK_COUNT][CLASSES];
	struct range range[CLASSES];
	struct levels levels[SPREADS];
};

static double spread_of(const struct job *job, size_t n)
{
	return (judge_peak_quantile(job, n, 0.9) - judge_peak_quantile(job, n, 0.1)) /
	       judge_peak_quantile(job, n, 0.5);
}

#define CHANCE_ROUNDED 0.001 /* a smaller difference of chances is ignored */

static void ask_range(struct range *r, const struct asked *a)
{
	double low = cost_aware_quantile(a->state, a->run->input, 0.1),
	       high = cost_aware_quantile(a->state, a->run->input, 0.9);
	struct cost_aware_outlook o;

	r->asked++;
	if (isnan(low) || isnan(high))
		return;
	r->told++;
	r->below += a->run->peak < low;
	r->above += a->run->peak > high;
	cost_aware_outlook(a->state, a->run->input, a->allocation, &o);
	r->contradicts += a->allocation >= high ? o.too_small > 0.1 + CHANCE_ROUNDED :
						  o.too_small < 0.1 - CHANCE_ROUNDED;
}

/* Levels are compared from two peaks on, because one peak has no spread. */
static void ask_levels(struct levels levels[SPREADS], const struct asked *a)
{
	double at[RISK_COUNT];
	struct levels *l;

	if (a->earlier < 2)
		return;
	l = &levels[spread_of(a->job, a->earlier) > SPREAD_LIMIT ? SPREAD_ABOVE : SPREAD_BELOW];
	cost_aware_allocations(a->state, a->run->input, at);
	l->asked++;
	l->identical += at[RISK_ECONOMY] == at[RISK_BALANCED] && at[RISK_BALANCED] == at[RISK_SAFE];
	l->ascending += at[RISK_ECONOMY] + MIB < at[RISK_BALANCED] &&
			at[RISK_BALANCED] + MIB < at[RISK_SAFE];
}

void chance_ask(struct chance *c, const struct asked *a)
{
	struct cost_aware_outlook o;
	bool failed = a->run->peak > a->allocation;

	cost_aware_outlook(a->state, a->run->input, a->allocation, &o);
	if (isnan(o.too_small))
		return;
	c->asked++;
	c->failed += failed;
	c->told += o.too_small;
	c->squares += (o.too_small - failed) * (o.too_small - failed);
}

void chance_add(struct chance *sum, const struct chance *more)
{
	sum->asked += more->asked;
	sum->failed += more->failed;
	sum->told += more->told;
	sum->squares += more->squares;
}

struct chances *chances_new(size_t n)
{
	return xcalloc(n + 1, sizeof(struct chances));
}

void chances_ask(struct chances *all, size_t source, const struct asked *a)
{
	struct chances *s = &all[source];
	size_t c = class_of(a->earlier);

	if (isnan(a->allocation))
		return;
	chance_ask(&s->of[a->rule->risk][c], a);
	if (a->rule->risk == RISK_BALANCED) {
		ask_range(&s->range[c], a);
		ask_levels(s->levels, a);
	}
}

static const struct table_column chance_columns[] = {
	{"asks", 0},
	{"told %", 2},
	{"came %", 2},
	{"pooled", 0},
	{"expected", 1},
	{"failed", 0},
	{"low", 0},
	{"high", 0},
	{"outside", TABLE_MARK},
};
static const struct table chance_table = {
	.name = "chance",
	.title =
		"Chance that auto's allocation is too small, by number of earlier runs: told and "
		"came; asks are pooled\nuntil 20 failures are expected, low and high bound 95 % of "
		"that binomial distribution;\n* = failed is outside, ? = outside, but fewer than 20 "
		"are expected of all asks",
	.row_name = "risk, earlier runs",
	.n = ARRAY_LEN(chance_columns),
	.column = chance_columns,
};

#define POOL_EXPECTED 20

/* Classes with few expected failures are judged together, in a pool. Returns true if the pool ends
 * with class `c`: either no later class has runs, or both the pool and the later classes expect at
 * least POOL_EXPECTED failures. */
static bool pool_ends(const struct chance of[CLASSES], size_t c, double expected)
{
	double rest = 0;

	for (size_t i = c + 1; i < CLASSES; i++)
		rest += of[i].told;
	return !(rest > 0) || (expected >= POOL_EXPECTED && rest >= POOL_EXPECTED);
}

static void print_chances(const struct judge_options *o, const char *source, enum risk risk,
	const struct chance of[CLASSES])
{
	struct chance pool = {0};

	for (size_t c = 0; c < CLASSES; c++) {
		const struct chance *h = &of[c];
		double row[] = {(double)h->asked, judge_percent(h->told, (double)h->asked),
			judge_percent((double)h->failed, (double)h->asked), NAN, NAN, NAN, NAN, NAN,
			NAN};
		char name[32];

		if (!h->asked)
			continue;
		chance_add(&pool, h);
		if (pool_ends(of, c, pool.told)) {
			size_t low, high;

			judge_binomial(pool.asked, pool.told / (double)pool.asked, &low, &high);
			row[3] = (double)pool.asked;
			row[4] = pool.told;
			row[5] = (double)pool.failed;
			row[6] = (double)low;
			row[7] = (double)high;
			if (pool.failed < low || pool.failed > high)
				row[8] = pool.told < POOL_EXPECTED ? MARK_DOUBTFUL : MARK_SURE;
			pool = (struct chance){0};
		}
		snprintf(name, sizeof name, "%s %s", sizing_risk_name(risk), classes[c].name);
		table_row(&chance_table, o, source, name, row);
	}
}

static const struct table_column brier_columns[] = {
	{"asks", 0},
	{"told %", 2},
	{"came %", 2},
	{"Brier", 5},
	{"constant", 5},
	{"worse", TABLE_MARK},
};
static const struct table brier_table = {
	.name = "brier",
	.title = "Brier score of the chances told, beside that of the rate that came, told always; "
		 "* = worse than that",
	.row_name = "risk",
	.n = ARRAY_LEN(brier_columns),
	.column = brier_columns,
};

static void print_brier(const struct judge_options *o, const char *source, enum risk risk,
	const struct chance of[CLASSES])
{
	struct chance all = {0};

	for (size_t c = 0; c < CLASSES; c++)
		chance_add(&all, &of[c]);

	if (!all.asked)
		return;

	double n = (double)all.asked, rate = (double)all.failed / n, brier = all.squares / n,
	       constant = rate * (1 - rate);

	table_row(&brier_table, o, source, sizing_risk_name(risk),
		(const double[]){
			n, 100 * all.told / n, 100 * rate, brier, constant, brier > constant});
}

static const struct table_column range_columns[] = {
	{"asks", 0},
	{"told", 0},
	{"inside %", 1},
	{"below %", 1},
	{"above %", 1},
	{"contradicts %", 1},
};
static const struct table range_table = {
	.name = "range",
	.title =
		"Peaks inside the range that auto tells (80 % told), by number of earlier runs;\n"
		"contradicts: a chance above 10 % is told of an allocation above the range, or one "
		"below 10 % of an allocation below its end",
	.row_name = "earlier runs",
	.n = ARRAY_LEN(range_columns),
	.column = range_columns,
};

static void print_ranges(const struct judge_options *o, const char *source,
	const struct range range[CLASSES])
{
	for (size_t c = 0; c < CLASSES; c++) {
		const struct range *r = &range[c];

		if (r->asked)
			table_row(&range_table, o, source, classes[c].name,
				(const double[]){(double)r->asked, (double)r->told,
					judge_percent((double)(r->told - r->below - r->above),
						(double)r->told),
					judge_percent((double)r->below, (double)r->told),
					judge_percent((double)r->above, (double)r->told),
					judge_percent((double)r->contradicts, (double)r->told)});
	}
}

static const struct table_column levels_columns[] = {
	{"asks", 0},
	{"identical %", 1},
	{"ascending %", 1},
};
static const struct table levels_table = {
	.name = "levels",
	.title = "Levels of risk: economy, balanced and safe identical, or each more than 1 MiB "
		 "above the other;\nspread = (P90 - P10) / median of the job's peaks so far",
	.row_name = "jobs",
	.n = ARRAY_LEN(levels_columns),
	.column = levels_columns,
};

static void print_levels(const struct judge_options *o, const char *source,
	const struct levels levels[SPREADS])
{
	for (size_t k = 0; k < SPREADS; k++)
		if (levels[k].asked)
			table_row(&levels_table, o, source, spread_names[k],
				(const double[]){(double)levels[k].asked,
					judge_percent((double)levels[k].identical,
						(double)levels[k].asked),
					judge_percent((double)levels[k].ascending,
						(double)levels[k].asked)});
}

static const char *name_of(const struct sources *s, size_t i)
{
	return i < s->n ? s->source[i].name : "all sources";
}

/* Writes the sum of all sources behind the last one; `all` has room for n + 1. */
static void add_sources(struct chances *all, size_t n)
{
	struct chances *sum = &all[n];

	for (size_t i = 0; i < n; i++) {
		for (size_t risk = 0; risk < RISK_COUNT; risk++)
			for (size_t c = 0; c < CLASSES; c++)
				chance_add(&sum->of[risk][c], &all[i].of[risk][c]);
		for (size_t c = 0; c < CLASSES; c++) {
			sum->range[c].asked += all[i].range[c].asked;
			sum->range[c].told += all[i].range[c].told;
			sum->range[c].below += all[i].range[c].below;
			sum->range[c].above += all[i].range[c].above;
			sum->range[c].contradicts += all[i].range[c].contradicts;
		}
		for (size_t k = 0; k < SPREADS; k++) {
			sum->levels[k].asked += all[i].levels[k].asked;
			sum->levels[k].identical += all[i].levels[k].identical;
			sum->levels[k].ascending += all[i].levels[k].ascending;
		}
	}
}

static const enum risk by_caution[] = {RISK_ECONOMY, RISK_BALANCED, RISK_SAFE};

void chances_print(struct chances *c, const struct sources *s, const struct judge_options *o)
{
	size_t end = s->n > 1 ? s->n + 1 : s->n;

	add_sources(c, s->n);
	table_head(&chance_table, o);
	for (size_t i = 0; i < end; i++)
		for (size_t k = 0; k < ARRAY_LEN(by_caution); k++)
			print_chances(o, name_of(s, i), by_caution[k], c[i].of[by_caution[k]]);
	table_head(&brier_table, o);
	for (size_t i = 0; i < end; i++)
		for (size_t k = 0; k < ARRAY_LEN(by_caution); k++)
			print_brier(o, name_of(s, i), by_caution[k], c[i].of[by_caution[k]]);
	table_head(&range_table, o);
	for (size_t i = 0; i < end; i++)
		print_ranges(o, name_of(s, i), c[i].range);
	table_head(&levels_table, o);
	for (size_t i = 0; i < end; i++)
		print_levels(o, name_of(s, i), c[i].levels);
}
