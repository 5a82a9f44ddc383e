/* Forecast of the duration of a job's next run. Private to recommender/.
 *
 * Several guesses are made before each run: the last duration, the median of the last five, and the
 * median of the last twenty. If the input size is known, there are four more: from runs of the same
 * input size, from runs of similar sizes, from a power of the input size, and from a straight line
 * through durations and input sizes. The guess with the smallest errors so far is the forecast. An
 * error is the logarithm of duration / guess, and newer errors weigh more.
 *
 * The range follows from past errors: those of the forecasts that would have been made before each
 * earlier run. With fewer than nine errors, it is a multiple of their mean size. From nine errors
 * on, its bounds are two of the errors. The range becomes wider after each run outside of it, and
 * narrower after each run inside. In the long run, four of five runs are inside, even if durations
 * drift (adaptive conformal inference, Gibbs and Candes 2021).
 *
 * tests/bench/cpu.c measures how often the range holds. */
#ifndef RECOMMENDER_SIZING_DURATION_H
#define RECOMMENDER_SIZING_DURATION_H

#include <stddef.h>

#include "recommender/run.h"
#include "recommender/sizing/rule.h"

#define DURATION_RUNS_MAX  PEAKS_SEEN_MAX /* number of newest runs that are used */
#define DURATION_RANGE_MIN 4              /* fewest earlier runs for which a range is given */
#define DURATION_ERRORS    50             /* number of newest errors that make the range */

struct duration_forecast {
	double seconds; /* expected duration of the next run; NaN = unknown */
	/* 80 % of runs are expected in this range; NaN = too few runs */
	double low, high;
	size_t runs;                   /* number of earlier runs */
	size_t n;                      /* number of errors in `error` */
	double error[DURATION_ERRORS]; /* errors of earlier forecasts, as logarithms, ascending */
};

/* One earlier run. input: bytes; NaN = unknown. seconds > 0. */
struct duration_seen {
	double seconds, input;
};

/* Forecasts the next duration from the `n` earlier runs, oldest first. `input`: size of the next
 * run's input in bytes; NaN = unknown. */
struct duration_forecast duration_forecast(const struct duration_seen *seen, size_t n,
	double input);

/* Forecasts the next duration from successful runs, newest first. The input size of each run is the
 * announced size. If no run announced a size, it is the number of bytes that the run read. */
struct duration_forecast duration_forecast_of(const struct runs *used, double input);

/* Returns a quantile of the duration, also with fewer runs than a range needs. `share` is above 0
 * and below 1. NaN = no earlier run. */
double duration_quantile(const struct duration_forecast *f, double share);

#endif
