#include "recommender/sizing/duration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/strategy.h"

/* The constants below were chosen on all jobs of five public traces: no job was set aside for a
 * test. The results are similar on both halves of the jobs (tests/bench/cpu.c). Errors are natural
 * logarithms of duration / guess. */
#define ERROR_FADES    0.933 /* weight of an error, relative to the next newer one */
#define ERROR_EXPECTED 0.3   /* expected mean size of an error; it counts as much as one run */
#define SLOPE          0.7   /* expected exponent of the input; its variance is 1 */
#define SLOPE_NOISE    0.1   /* expected sum of squared errors of POWER; counts as two runs */
/* Weight of a run in POWER and LINE, relative to the next newer one. */
#define SLOPE_FADES   0.977
#define RUNS_FOR_LINE 10 /* a line through fewer runs is too unsure far from their inputs */

#define MISSES 0.2 /* share of the runs that should be outside the range */
/* Bounds of errors.misses, the share of the past errors that the range leaves out. */
#define MISSES_MIN 0.02
#define MISSES_MAX 0.6
/* After a run, errors.misses changes by MISSES_STEP x MISSES if the run was inside the range, and
 * by MISSES_STEP x (MISSES - 1) if it was outside. */
#define MISSES_STEP    0.09
#define ERRORS_FEW     9   /* with fewer errors, the range follows from their mean size */
#define SIZES_IN_RANGE 1.8 /* half of the range / mean size of the errors, with few errors */

/* Earlier runs, oldest first. */
struct seen {
	size_t n;
	double took[DURATION_RUNS_MAX],
		input[DURATION_RUNS_MAX]; /* logarithms; input NaN = unknown */
};

/* If two guesses have equal errors, the first one in this list is the forecast. */
enum guess { MEDIAN_OF_5, LAST, MEDIAN_OF_20, SAME, NEAREST, POWER, LINE, GUESSES };

static double median(double *value, size_t n)
{
	qsort(value, n, sizeof *value, stats_ascending);
	return n % 2 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2;
}

static double median_of_newest(const struct seen *s, size_t newest)
{
	double value[20] = {0};
	size_t n = s->n < newest ? s->n : newest;

	memcpy(value, s->took + s->n - n, n * sizeof *value);
	return median(value, n);
}

/* Returns the median of the newest five durations with this input. NaN = no run had this input. */
static double with_same_input(const struct seen *s, double input)
{
	double value[5] = {0};
	size_t n = 0;

	for (size_t i = s->n; i-- > 0 && n < ARRAY_LEN(value);)
		if (fabs(s->input[i] - input) < SAME_INPUT_LOG)
			value[n++] = s->took[i];
	return n ? median(value, n) : (double)NAN;
}

/* Returns the median duration of the three runs with the nearest inputs. NaN = no input is
 * known. */
static double with_nearest_inputs(const struct seen *s, double input)
{
	struct {
		double distance, took;
	} run[DURATION_RUNS_MAX] = {0};
	double value[3] = {0};
	size_t known = 0, n = 0;

	for (size_t i = s->n; i-- > 0;)
		if (!isnan(s->input[i])) {
			run[known].distance = fabs(s->input[i] - input);
			run[known++].took = s->took[i];
		}
	qsort(run, known, sizeof *run, stats_ascending);
	for (; n < known && n < ARRAY_LEN(value); n++)
		value[n] = run[n].took;
	return n ? median(value, n) : (double)NAN;
}

/* Returns the logarithm of the expected duration for `input`, the logarithm of an input size. Uses
 * a least-squares line through the logarithms of earlier durations and inputs. With few runs, its
 * slope stays near SLOPE, the expected one. A slope below 0 becomes 0. NaN = no input of an earlier
 * run is known. */
static double by_power(const struct seen *s, double input)
{
	double weight = 1, sum = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;

	for (size_t i = s->n; i-- > 0; weight *= SLOPE_FADES)
		if (!isnan(s->input[i])) {
			double dx = s->input[i] - mean_x, dy = s->took[i] - mean_y, part;

			sum += weight;
			part = weight / sum;
			mean_x += part * dx;
			mean_y += part * dy;
			xx += weight * (1 - part) * dx * dx;
			xy += weight * (1 - part) * dx * dy;
			yy += weight * (1 - part) * dy * dy;
		}
	if (!(sum > 0))
		return NAN;

	double variance = (yy - (xx > 0 ? xy * xy / xx : 0) + SLOPE_NOISE) / (sum + 2);

	return mean_y + fmax(0, (xy + variance * SLOPE) / (xx + variance)) * (input - mean_x);
}

/* Returns the logarithm of the duration at `input`, from a least-squares line through the durations
 * and inputs. A slope below 0 becomes 0. The duration is at least half of the shortest duration so
 * far. For an input below all earlier inputs, this bound shrinks in proportion to the input. NaN =
 * fewer than RUNS_FOR_LINE inputs are known, or all are equal. */
static double by_line(const struct seen *s, double input)
{
	double weight = 1, sum = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;
	double shortest = INFINITY, smallest = INFINITY;
	size_t n = 0;

	for (size_t i = s->n; i-- > 0; weight *= SLOPE_FADES)
		if (!isnan(s->input[i])) {
			double dx = exp(s->input[i]) - mean_x, dy = exp(s->took[i]) - mean_y, part;

			sum += weight;
			part = weight / sum;
			mean_x += part * dx;
			mean_y += part * dy;
			xx += weight * (1 - part) * dx * dx;
			xy += weight * (1 - part) * dx * dy;
			shortest = fmin(shortest, s->took[i]);
			smallest = fmin(smallest, s->input[i]);
			n++;
		}
	if (n < RUNS_FOR_LINE || !(xx > 0))
		return NAN;

	double line = mean_y + fmax(0, xy / xx) * (exp(input) - mean_x);

	return fmax(line > 0 ? log(line) : -INFINITY,
		shortest + log(0.5) + fmin(0, input - smallest));
}

static void make_guesses(const struct seen *s, double input, double ret[GUESSES])
{
	ret[MEDIAN_OF_5] = median_of_newest(s, 5);
	ret[LAST] = s->took[s->n - 1];
	ret[MEDIAN_OF_20] = median_of_newest(s, 20);
	ret[SAME] = ret[NEAREST] = ret[POWER] = ret[LINE] = NAN;
	if (isnan(input))
		return;
	ret[SAME] = with_same_input(s, input);
	ret[NEAREST] = with_nearest_inputs(s, input);
	ret[POWER] = by_power(s, input);
	ret[LINE] = by_line(s, input);
}

/* Sizes of the errors of each guess so far. An older error has a smaller weight. */
struct record {
	double sum[GUESSES], weight[GUESSES];
};

static double choose_guess(const struct record *r, const double guess[GUESSES])
{
	double best = NAN, least = INFINITY;

	for (size_t i = 0; i < GUESSES; i++) {
		double size = (r->sum[i] + ERROR_EXPECTED) / (r->weight[i] + 1);

		if (!isnan(guess[i]) && size < least) {
			least = size;
			best = guess[i];
		}
	}
	return best;
}

static void record_errors(struct record *r, const double guess[GUESSES], double took)
{
	for (size_t i = 0; i < GUESSES; i++)
		if (!isnan(guess[i])) {
			r->sum[i] = ERROR_FADES * r->sum[i] + fabs(took - guess[i]);
			r->weight[i] = ERROR_FADES * r->weight[i] + 1;
		}
}

/* Errors of the newest forecasts, oldest first: actual duration minus forecast, as logarithms. */
struct errors {
	size_t n;
	double at[DURATION_ERRORS];
	double misses; /* share of the past errors that range_of leaves out (learn_misses) */
};

static void add_error(struct errors *e, double error)
{
	if (e->n == DURATION_ERRORS)
		memmove(e->at, e->at + 1, --e->n * sizeof *e->at);
	e->at[e->n++] = error;
}

static double mean_size(const double *error, size_t n)
{
	double sum = ERROR_EXPECTED;

	for (size_t i = 0; i < n; i++)
		sum += fabs(error[i]);
	return sum / (double)(n + 1);
}

/* Writes the range of the next error to *low and *high. It leaves out the smallest and the largest
 * past errors, but always includes 0. The next error is below the k-th smallest of n past errors
 * with the probability k / (n + 1). */
static void range_of(const struct errors *e, double *low, double *high)
{
	double sorted[DURATION_ERRORS];
	size_t outside = (size_t)ceil(e->misses / 2 * (double)(e->n + 1) - 1e-9);

	if (e->n < ERRORS_FEW) {
		*high = SIZES_IN_RANGE * mean_size(e->at, e->n);
		*low = -*high;
		return;
	}
	memcpy(sorted, e->at, e->n * sizeof *sorted);
	qsort(sorted, e->n, sizeof *sorted, stats_ascending);
	outside = outside ? outside - 1 : 0;
	*low = fmin(sorted[outside], 0);
	*high = fmax(sorted[e->n - 1 - outside], 0);
}

/* Rounds `seconds` to `n` digits with round_to (floor, ceil or round). `almost` absorbs
 * floating-point errors. */
static double digits(double seconds, int n, double (*round_to)(double), double almost)
{
	int drop = (int)floor(log10(seconds)) + 1 - n; /* digits before the point to drop */
	double unit = pow(10, abs(drop));

	/* Always use a unit of at least 1, because powers of ten below 1 are not exact. */
	return drop > 0 ? round_to(seconds / unit + almost) * unit :
			  round_to(seconds * unit + almost) / unit;
}

/* Converts the range of errors to a range of seconds with three digits, because more would be false
 * precision. `low` is rounded down and `high` up, so that rounding excludes no duration. */
static void tell_range(const struct errors *e, double forecast, double *low, double *high)
{
	range_of(e, low, high);
	*low = digits(exp(forecast + *low), 3, floor, 1e-6);
	*high = digits(exp(forecast + *high), 3, ceil, -1e-6);
}

struct forecaster {
	struct seen seen;
	struct record record;
	struct errors errors;
	double guess[GUESSES]; /* logarithms of the guessed durations of the next run */
	double forecast;       /* the best guess, a logarithm; NaN = no run was seen */
};

static double log_input(double input)
{
	return input >= 0 && isfinite(input) ? log(input + 1) : (double)NAN;
}

static void forecast_next(struct forecaster *f, double input)
{
	f->forecast = NAN;
	if (!f->seen.n)
		return;
	make_guesses(&f->seen, log_input(input), f->guess);
	f->forecast = choose_guess(&f->record, f->guess);
}

/* Widens the range if the newest duration was outside of it. Narrows the range otherwise. */
static void learn_misses(struct forecaster *f, double seconds)
{
	struct errors *e = &f->errors;
	double low, high;

	if (f->seen.n < DURATION_RANGE_MIN)
		return;
	tell_range(e, f->forecast, &low, &high);
	bool missed = seconds < low * (1 - 1e-9) || seconds > high * (1 + 1e-9);

	e->misses = fmin(fmax(e->misses + MISSES_STEP * (MISSES - missed), MISSES_MIN), MISSES_MAX);
}

static void learn_duration(struct forecaster *f, double seconds, double input)
{
	double took = log(seconds);

	forecast_next(f, input);
	if (f->seen.n) {
		learn_misses(f, seconds);
		record_errors(&f->record, f->guess, took);
		add_error(&f->errors, took - f->forecast);
	}
	f->seen.took[f->seen.n] = took;
	f->seen.input[f->seen.n++] = log_input(input);
}

struct duration_forecast duration_forecast(const struct duration_seen *seen, size_t n, double input)
{
	struct duration_forecast ret = {.seconds = NAN, .low = NAN, .high = NAN};
	struct forecaster f = {.errors.misses = MISSES};

	/* If the next input is unknown, hide the inputs of earlier runs, too. Otherwise the past
	 * forecasts would use inputs and have smaller errors than the next forecast. */
	for (size_t i = n > DURATION_RUNS_MAX ? n - DURATION_RUNS_MAX : 0; i < n; i++)
		learn_duration(&f, seen[i].seconds, isnan(log_input(input)) ? NAN : seen[i].input);
	forecast_next(&f, input);
	ret.runs = f.seen.n;
	ret.n = f.errors.n;
	memcpy(ret.error, f.errors.at, ret.n * sizeof *ret.error);
	qsort(ret.error, ret.n, sizeof *ret.error, stats_ascending);
	if (ret.runs)
		ret.seconds = digits(exp(f.forecast), 6, round, 0);
	if (ret.runs >= DURATION_RANGE_MIN)
		tell_range(&f.errors, f.forecast, &ret.low, &ret.high);
	return ret;
}

struct duration_forecast duration_forecast_of(const struct runs *used, double input)
{
	struct duration_seen seen[DURATION_RUNS_MAX];
	bool announced = sizing_any_announced(used);
	size_t n = 0;

	for (size_t i = 0; i < used->n && n < DURATION_RUNS_MAX; i++) {
		double seconds = run_duration(&used->run[i]);

		if (seconds > 0)
			seen[DURATION_RUNS_MAX - ++n] = (struct duration_seen){
				seconds, sizing_run_input(&used->run[i], announced)};
	}
	return duration_forecast(seen + DURATION_RUNS_MAX - n, n, input);
}

double duration_quantile(const struct duration_forecast *f, double share)
{
	double at = share * (double)(f->n + 1) - 1;

	/* There are few errors, so assume a distribution of the durations: the logistic
	 * distribution with 10 % of the runs below the range and 10 % above it. */
	if (f->n < ERRORS_FEW)
		return f->seconds * exp(SIZES_IN_RANGE * mean_size(f->error, f->n) *
					    log(share / (1 - share)) / log(9));
	at = fmin(fmax(at, 0), (double)(f->n - 1));
	double below = f->error[(size_t)at], above = f->error[(size_t)ceil(at)];

	return f->seconds * exp(below + (above - below) * (at - floor(at)));
}

/* While there are too few runs for a range, the upper bound is this many times the forecast. */
#define BOUND_WITHOUT_RANGE 1.5

void sizing_duration(struct sizing *s, const struct runs *used,
	const struct sizing_options *options, struct arena *arena)
{
	struct duration_forecast f = duration_forecast_of(used, sizing_next_input(options));
	char n[WORDING_MAX], middle[WORDING_MAX], low[WORDING_MAX], high[WORDING_MAX];

	s->demand.duration_seconds = f.seconds;
	s->duration_low = f.low;
	s->duration_high = isnan(f.high) ? f.high : fmax(f.high, s->endings.cut_seconds);
	s->duration_bound = fmax(isnan(f.high) ? BOUND_WITHOUT_RANGE * f.seconds : f.high,
		s->endings.cut_seconds);
	if (!f.runs)
		return;
	sizing_explain(s, arena, TOPIC_DURATION, "%s is expected, from the durations of %s.",
		wording_seconds(middle, f.seconds), wording_runs(n, f.runs));
	if (isnan(f.high))
		sizing_explain(s, arena, TOPIC_DURATION, "A range needs %d runs.",
			DURATION_RANGE_MIN);
	else
		sizing_explain(s, arena, TOPIC_DURATION,
			"4 of 5 runs should take between %s and %s.",
			wording_seconds(low, s->duration_low),
			wording_seconds(high, s->duration_high));
}
