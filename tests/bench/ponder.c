#include "tests/bench/ponder.h"

#include <math.h>

#include "collectors/base/units.h"

#define MARGIN   (128 * MIB)
#define UPWARDS  0.1 /* weight of the error of a run below the line; above the line it is 1 */
#define PASSES   8
#define TOO_WEAK 0.3 /* the line is not used if the correlation is at most this */

struct ponder {
	struct peaks_seen peaks_seen;
};

static void ponder_start(void *state, const struct rule_options *o)
{
	(void)state;
	(void)o;
}

static void ponder_learn(void *state, const struct observation *o)
{
	struct ponder *p = state;

	rule_peaks_add(&p->peaks_seen, o);
}

/* Ranges, moments and correlation of inputs and peaks. */
struct cloud {
	double min_x, max_x, mean_x, sd_x, min_y, max_y, correlation;
	bool complete; /* every input is known */
};

static struct cloud cloud_of(const struct peaks_seen *p)
{
	struct cloud c = {
		.min_x = INFINITY, .min_y = INFINITY, .max_x = -INFINITY, .complete = true};
	double n = (double)p->n, mean_y = 0, xx = 0, yy = 0, xy = 0;

	for (size_t i = 0; i < p->n; i++) {
		double x = p->at[i].input, y = p->at[i].peak;

		c.complete &= isfinite(x);
		c.min_x = fmin(c.min_x, x);
		c.max_x = fmax(c.max_x, x);
		c.min_y = fmin(c.min_y, y);
		c.max_y = fmax(c.max_y, y);
		c.mean_x += x / n;
		mean_y += y / n;
	}
	for (size_t i = 0; i < p->n; i++) {
		double dx = p->at[i].input - c.mean_x, dy = p->at[i].peak - mean_y;

		xx += dx * dx;
		yy += dy * dy;
		xy += dx * dy;
	}
	c.sd_x = sqrt(xx / n);
	c.correlation = yy > 0 && xx > 0 ? xy / sqrt(xx * yy) : 0;
	return c;
}

/* Fits the line, writes its errors to `residual` and returns its value at `input`. */
static double fit_upwards(const struct peaks_seen *p, const struct cloud *c, double input,
	double residual[PEAKS_SEEN_MAX])
{
	double weight[PEAKS_SEEN_MAX], intercept = 0, slope = 0;

	for (size_t i = 0; i < p->n; i++)
		weight[i] = 1;
	for (int pass = 0; pass < PASSES; pass++) {
		double sum = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;

		for (size_t i = 0; i < p->n; i++) {
			sum += weight[i];
			mean_x += weight[i] * (p->at[i].input - c->mean_x) / c->sd_x;
			mean_y += weight[i] * p->at[i].peak;
		}
		mean_x /= sum;
		mean_y /= sum;
		for (size_t i = 0; i < p->n; i++) {
			double dx = (p->at[i].input - c->mean_x) / c->sd_x - mean_x;

			xx += weight[i] * dx * dx;
			xy += weight[i] * dx * (p->at[i].peak - mean_y);
		}
		slope = xy / fmax(xx, 1e-12);
		intercept = mean_y - slope * mean_x;
		for (size_t i = 0; i < p->n; i++) {
			double x = (p->at[i].input - c->mean_x) / c->sd_x;

			residual[i] = p->at[i].peak - (intercept + slope * x);
			weight[i] = residual[i] > 0 ? 1 : UPWARDS;
		}
	}
	return intercept + slope * (input - c->mean_x) / c->sd_x;
}

/* Returns the standard deviation of the errors. Runs with a similar input weigh most. */
static double spread_near(const struct peaks_seen *p, double input,
	const double residual[PEAKS_SEEN_MAX])
{
	double farthest = 0, weight[PEAKS_SEEN_MAX], sum = 0, mean = 0, variance = 0;

	for (size_t i = 0; i < p->n; i++)
		farthest = fmax(farthest, fabs(p->at[i].input - input));
	for (size_t i = 0; i < p->n; i++) {
		weight[i] = farthest > 0 ? 1 - fabs(p->at[i].input - input) / farthest +
						   fmax(1 - (double)p->n / 10, 0) / 100 :
					   1;
		sum += weight[i];
	}
	for (size_t i = 0; i < p->n && !(sum > 0); i++)
		weight[i] = 1;
	if (!(sum > 0))
		sum = (double)p->n;
	for (size_t i = 0; i < p->n; i++)
		mean += weight[i] * residual[i] / sum;
	for (size_t i = 0; i < p->n; i++)
		variance += weight[i] * (residual[i] - mean) * (residual[i] - mean) / sum;
	return sqrt(variance);
}

static double ponder_allocate(void *state, double input)
{
	const struct peaks_seen *p = &((struct ponder *)state)->peaks_seen;

	if (!p->n)
		return NAN;

	struct cloud c = cloud_of(p);

	if (!isfinite(input) || !c.complete || !(c.max_x > c.min_x))
		return c.max_y + MARGIN;
	if (p->n < 5)
		return c.max_x > input ? c.max_y + MARGIN : 2 * c.max_y;
	if (!(c.correlation > TOO_WEAK))
		return c.max_y + MARGIN;

	double residual[PEAKS_SEEN_MAX], line = fit_upwards(p, &c, input, residual);

	if (line < c.min_y)
		line = c.min_y;
	else if ((line > c.max_y && input < c.max_x) || (input >= c.max_x && line < c.max_y))
		line = c.max_y;
	return line + fmax(MARGIN, 2 * spread_near(p, input, residual));
}

const struct sizing_rule bench_ponder = {
	.state_size = sizeof(struct ponder),
	.start = ponder_start,
	.allocate = ponder_allocate,
	.retry = rule_retry_double,
	.learn = ponder_learn,
};
