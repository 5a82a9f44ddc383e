/*
 * Does a series rise or fall, and how fast? By ranks, so that single outliers do not decide. Pure.
 */
#ifndef RECOMMENDER_BEHAVIOUR_TREND_H
#define RECOMMENDER_BEHAVIOUR_TREND_H

#include <stdbool.h>
#include <stddef.h>

#define TREND_MAX 200 /* the newest so many values are looked at */

/*
 * Mann-Kendall: the probability of seeing so much order by chance, two-sided, 0 to 1; corrected for
 * ties. 1 with fewer than 4 values.
 */
double trend_chance(const double *v, size_t n);

/* Theil-Sen: the median of the slopes of all pairs, per step; NaN with fewer than 2 values. */
double trend_slope(const double *v, size_t n);

/*
 * Both, for values of which each resembles the one before (their errors around the slope correlate
 * by more than 0.3): then medians of five values each are looked at, so that a slow wave is no
 * trend.
 */
struct trend {
	double chance, slope;
};
struct trend trend_of(const double *v, size_t n);

double trend_median(double *v, size_t n); /* sorts v; NaN when empty */

#endif
