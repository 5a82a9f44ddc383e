/* The parameters about the size of a job's next run. */
#ifndef EXPORTER_ANSWERS_SIZING_PARAMETERS_H
#define EXPORTER_ANSWERS_SIZING_PARAMETERS_H

#include <stdbool.h>

#include "exporter/api/route.h"
#include "recommender/sizing/rule.h"
#include "recommender/sizing/sizing.h"

const char *sizing_parameter_strategy(size_t i);
const char *sizing_parameter_risk(size_t i);
const char *sizing_parameter_cpu_for(size_t i);

/* The parameters of a sizing. A route with these parameters also has the parameter `details`
 * (server_answer.h): the answer then also says how well the strategy would have sized the earlier
 * runs. */
/* clang-format off */
#define SIZING_PARAMETERS \
	{.name = "strategy", \
		.kind = PARAMETER_CHOICE, \
		.fallback = "auto", \
		.choice = sizing_parameter_strategy, \
		.help = "How the next run's demand follows from earlier ones"}, \
	{.name = "risk", \
		.kind = PARAMETER_CHOICE, \
		.choice = sizing_parameter_risk, \
		.help = "economy requests less memory: more first attempts fail. safe requests more: fewer " \
			"fail. Only for strategy auto; the default is balanced"}, \
	{.name = "cpu_for", \
		.kind = PARAMETER_CHOICE, \
		.choice = sizing_parameter_cpu_for, \
		.help = "speed requests so many cores that 98 % of runs take at most 10 % longer " \
			"than with unlimited cores. cost requests the number of cores that makes a " \
			"run cheapest, and the run takes longer. A run with fewer cores than its " \
			"mean takes mean / requested cores times as long (strategy auto; default: " \
			"speed)"}, \
	{.name = "runs", \
		.kind = PARAMETER_COUNT, \
		.fallback = "0", \
		.least = 0, \
		.most = PEAKS_SEEN_MAX, \
		.help = "How many of the newest successful runs to look at; 0 is the strategy's own " \
			"number: 5 for baseline, 200 for the others"}, \
	{.name = "window_days", \
		.kind = PARAMETER_NUMBER, \
		.least = 0.001, \
		.most = 36525, \
		.unit = "days", \
		.help = "Only runs that started within so many days"}, \
	{.name = "percentile", \
		.kind = PARAMETER_NUMBER, \
		.least = 0.01, \
		.most = 1, \
		.help = "The share of runs (and of their time) that should fit (strategies " \
			"percentile and vpa)"}, \
	{.name = "margin", \
		.kind = PARAMETER_NUMBER, \
		.least = 0, \
		.most = 10, \
		.help = "Memory added for safety, as a share: 0.2 is 20 % (strategies max, " \
			"percentile, krr and vpa)"}, \
	{.name = "input_bytes", \
		.kind = PARAMETER_SIZE, \
		.least = 0, \
		.most = 1e18, \
		.unit = "bytes", \
		.unit_bytes = 1, \
		.help = "Size of the next run's input, as it would be announced with it " \
			"(RIGHTSIZE_INPUT_BYTES)"}, \
	{.name = "attempt", \
		.kind = PARAMETER_COUNT, \
		.fallback = "1", \
		.least = 1, \
		.most = 10, \
		.help = "Which attempt of the run this is for: 2 when the first one ran out of memory"}
/* clang-format on */

const struct strategy *sizing_parameters_strategy(const struct arguments *a);

/* Converts the SIZING_PARAMETERS in `a` to options. Returns false with an error in `r` when a
 * parameter is given that the strategy does not use. */
bool sizing_parameters_read(const struct arguments *a, struct sizing_options *ret, struct reply *r);

/* Returns the start of the time window, seconds since 1970 UTC; -INFINITY = all time. */
double sizing_parameters_since(const struct arguments *a, double now);
/* Returns the runs that started at `since` or later. `runs` must be sorted newest first. */
struct runs sizing_parameters_runs(const struct runs *runs, double since);

#endif
