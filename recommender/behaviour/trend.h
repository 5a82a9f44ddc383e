/* Trend of a series. Uses ranks and medians, so that single outliers have little effect. Pure
 * functions. */
#ifndef RECOMMENDER_BEHAVIOUR_TREND_H
#define RECOMMENDER_BEHAVIOUR_TREND_H

#include <stdbool.h>
#include <stddef.h>

#define TREND_MAX 200 /* the functions use only this many of the newest values */

/* Mann-Kendall test: returns the two-sided p-value, 0 to 1. This is the probability that values in
 * a random order have at least as strong a trend. Corrects for ties. Returns 1 for fewer than 4
 * values. */
double trend_chance(const double *v, size_t n);

/* Returns the slope of the values by the Theil-Sen estimator: the median of the slopes between all
 * pairs of values. Its unit is the growth from one value to the next. NaN = fewer than 2 values. */
double trend_slope(const double *v, size_t n);

/* Computes trend_chance and trend_slope of a series. trend_chance would mistake a slow wave for a
 * trend. A series may be a wave if neighbouring values deviate from the line alike: the correlation
 * of their deviations is above 0.3. Then `chance` is computed from the medians of blocks of five
 * values. */
struct trend {
	double chance, slope;
};
struct trend trend_of(const double *v, size_t n);

double trend_median(double *v, size_t n); /* sorts v; NaN when empty */

#endif
