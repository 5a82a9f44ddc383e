/* Trend of a series, by ranks so that single outliers do not decide. Pure. */
#ifndef RECOMMENDER_BEHAVIOUR_TREND_H
#define RECOMMENDER_BEHAVIOUR_TREND_H

#include <stdbool.h>
#include <stddef.h>

#define TREND_MAX 200 /* newest values that count */

/*
 * Mann-Kendall: the two-sided probability, 0 to 1, of such an order by chance; corrected for ties.
 * 1 with fewer than 4 values.
 */
double trend_chance(const double *v, size_t n);

/* Theil-Sen: the median of the slopes of all pairs, per step; NaN with fewer than 2 values. */
double trend_slope(const double *v, size_t n);

/*
 * Both. If neighbouring errors around the slope correlate by more than 0.3, the chance is that of
 * medians of five values each: a slow wave is not a trend.
 */
struct trend {
	double chance, slope;
};
struct trend trend_of(const double *v, size_t n);

double trend_median(double *v, size_t n); /* sorts v; NaN when empty */

#endif
