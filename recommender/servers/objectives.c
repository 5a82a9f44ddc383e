/* Objectives: one row for each meaning of "best". */
#include <math.h>
#include <string.h>

#include "recommender/servers/pick.h"

static double price_key(const struct pick *p, const struct pick_options *o)
{
	(void)o;
	return p->price;
}

static double cost_key(const struct pick *p, const struct pick_options *o)
{
	(void)o;
	return p->cost.amount;
}

static double duration_key(const struct pick *p, const struct pick_options *o)
{
	(void)o;
	return p->forecast.seconds;
}

static double per_score_key(const struct pick *p, const struct pick_options *o)
{
	(void)o;
	return p->server->score > 0 ? p->price / p->server->score : (double)NAN;
}

static double benchmark_key(const struct pick *p, const struct pick_options *o)
{
	return o->benchmark && o->benchmark->higher_is_better ? -p->score : p->score;
}

/* Returns the price of one unit of score, or price x score for a benchmark where lower is
 * better. */
static double per_benchmark_key(const struct pick *p, const struct pick_options *o)
{
	if (!(p->score > 0))
		return NAN;
	return o->benchmark->higher_is_better ? p->price / p->score : p->price * p->score;
}

const struct objective objectives[] = {
	{.name = "cheapest",
		.key = price_key,
		.lacking = EXCLUDED_NO_PRICE,
		.unit = "per hour",
		.help = "Lowest price per hour of the servers that fit"},
	{.name = "cost",
		.key = cost_key,
		.lacking = EXCLUDED_NO_FORECAST,
		.by_forecast = true,
		.unit = "per run",
		.help = "Lowest forecast cost of a run: the duration scaled by measured speed, "
			"billing rules, storage, traffic and expected interruptions included"},
	{.name = "efficiency",
		.key = per_score_key,
		.lacking = EXCLUDED_NO_SCORE,
		.unit = "per SCore and hour",
		.help = "Most speed for the money: SCore (multi-core) per price"},
	{.name = "fastest",
		.key = duration_key,
		.lacking = EXCLUDED_NO_FORECAST,
		.by_forecast = true,
		.unit = "seconds per run",
		.help = "Shortest forecast duration; bounded by max_cost"},
	{.name = "deadline",
		.key = cost_key,
		.lacking = EXCLUDED_NO_FORECAST,
		.by_forecast = true,
		.unit = "per run",
		.help = "Lowest forecast cost of a run among the servers on which even a long run "
			"ends before deadline"},
	{.name = "benchmark",
		.key = benchmark_key,
		.by_benchmark = true,
		.lacking = EXCLUDED_NO_SCORE,
		.unit = "score",
		.help = "Best score in the benchmark named by benchmark"},
	{.name = "benchmark_per_price",
		.key = per_benchmark_key,
		.by_benchmark = true,
		.lacking = EXCLUDED_NO_SCORE,
		.unit = "per score and hour",
		.help = "Best score for the money in the benchmark named by benchmark"},
	{0},
};

const struct objective *objective_find(const char *name)
{
	for (const struct objective *o = objectives; o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}
