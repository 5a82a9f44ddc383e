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

/* Durations and scores are compared in steps of this share. Two measurements of one server type
 * differ by about 1 %, so a smaller difference is noise. Without the steps, a job of one core would
 * get 96 vCPUs for a score that is 0.01 % higher. */
#define SAME_TIME 0.01

static double in_steps(double v)
{
	return exp(SAME_TIME * round(log(v) / SAME_TIME));
}

static double duration(const struct pick *p)
{
	return p->forecast.seconds;
}

static double duration_key(const struct pick *p, const struct pick_options *o)
{
	(void)o;
	return in_steps(duration(p));
}

/* Returns the usable score as a key. It is negated, because lower keys are better. */
static double slowness(const struct pick *p)
{
	return -p->usable_score;
}

static double speed_key(const struct pick *p, const struct pick_options *o)
{
	(void)o;
	return -in_steps(p->usable_score);
}

/* Returns the price of one unit of the score that the job can use. */
static double per_score_key(const struct pick *p, const struct pick_options *o)
{
	(void)o;
	return p->price / p->usable_score;
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

/* Replaces the objective "fastest" if the speed of the job's own server is unknown. Forecasts
 * cannot show in this case which server is faster. The part of a server's score that the job can
 * use decides instead. */
static const struct objective fastest_by_score = {
	.name = "fastest",
	.key = speed_key,
	.exact = slowness,
	.lacking = EXCLUDED_NO_SCORE,
	.by_forecast = true,
	.by_speed = true,
	.unit = "usable SCore",
	.order = "Most speed first.",
	.help = "Most SCore of the cores that are needed, in steps of 1 %, because the speed of the "
		"job's own server is unknown",
};

const struct objective objectives[] = {
	{.name = "cost",
		.key = cost_key,
		.without_duration = "price",
		.lacking = EXCLUDED_NO_FORECAST,
		.by_forecast = true,
		.by_money = true,
		.unit = "per run",
		.order = "Lowest cost of a run first.",
		.help = "Lowest expected cost of a run: billed time, storage, traffic and "
			"interruptions included"},
	{.name = "price",
		.also = "cheapest",
		.key = price_key,
		.lacking = EXCLUDED_NO_PRICE,
		.by_money = true,
		.unit = "per hour",
		.order = "Lowest price per hour first.",
		.help = "Lowest price per hour of the servers that fit"},
	{.name = "efficiency",
		.key = per_score_key,
		.lacking = EXCLUDED_NO_SCORE,
		.unit = "per SCore and hour",
		.order = "Most speed for the money first.",
		.help = "Most speed that the job can use for the price: SCore of one core for a job of "
			"one, else that of the cores that it uses"},
	{.name = "fastest",
		.key = duration_key,
		.exact = duration,
		.without_speed = &fastest_by_score,
		.lacking = EXCLUDED_NO_SCORE,
		.by_forecast = true,
		.unit = "time per run",
		.order = "Shortest run first.",
		.help = "Shortest forecast duration in steps of 1 %, or without a history the most "
			"SCore of the cores that are needed; bounded by max_cost"},
	{.name = "deadline",
		.key = cost_key,
		.lacking = EXCLUDED_NO_FORECAST,
		.by_forecast = true,
		.by_money = true,
		.unit = "per run",
		.order = "Lowest cost of a run that meets the deadline first.",
		.help = "Lowest forecast cost of a run among the servers on which even a long run "
			"ends before deadline"},
	{.name = "benchmark",
		.key = benchmark_key,
		.by_benchmark = true,
		.lacking = EXCLUDED_NO_SCORE,
		.unit = "score",
		.order = "Best score first.",
		.help = "Best score in the benchmark named by benchmark"},
	{.name = "benchmark_per_price",
		.key = per_benchmark_key,
		.by_benchmark = true,
		.lacking = EXCLUDED_NO_SCORE,
		.unit = "per score and hour",
		.order = "Best score for the money first.",
		.help = "Best score for the money in the benchmark named by benchmark"},
	{0},
};

const struct objective *objective_find(const char *name)
{
	for (const struct objective *o = objectives; o->name; o++)
		if (strcmp(o->name, name) == 0 || (o->also && strcmp(o->also, name) == 0))
			return o;
	return NULL;
}

const char *objective_name(size_t i)
{
	const struct objective *o = objectives;

	for (; o->name; o++)
		if (i-- == 0)
			return o->name;
	for (o = objectives; o->name; o++)
		if (o->also && i-- == 0)
			return o->also;
	return NULL;
}
