/* The statistics of a run that are read after its end: by the recommender, by the answers, by the
 * page. A run that another exporter recorded is kept with these alone, so that a central exporter
 * with a million runs needs few bytes a run. */
#ifndef RECOMMENDER_KEPT_STATISTICS_H
#define RECOMMENDER_KEPT_STATISTICS_H

#include <stddef.h>

#include "recommender/run.h"

/* The members of struct distribution, in the order in which the history stores them. Neighbours in
 * this order are often equal. */
enum statistic {
	STATISTIC_N,
	STATISTIC_SUM,
	STATISTIC_MAX,
	STATISTIC_P99,
	STATISTIC_P95,
	STATISTIC_P50,
	STATISTIC_MIN,
	STATISTIC_MEAN,
	STATISTIC_COUNT,
};

extern const char *const statistic_name[STATISTIC_COUNT]; /* "n", "sum", "max", ... */
double statistic_get(const struct distribution *d, enum statistic s);
void statistic_set(struct distribution *d, enum statistic s, double v); /* NaN as `n` = 0 */

/* Sets of statistics: bit i = the statistic i. Each set contains STATISTIC_N. */
#define STATISTIC_BIT(s) (1u << (s))
enum statistics {
	STATISTICS_TOTAL = STATISTIC_BIT(STATISTIC_N) | STATISTIC_BIT(STATISTIC_SUM),
	STATISTICS_PEAK = STATISTIC_BIT(STATISTIC_N) | STATISTIC_BIT(STATISTIC_MAX),
	STATISTICS_PEAK_AND_MEAN = STATISTICS_PEAK | STATISTIC_BIT(STATISTIC_MEAN),
	STATISTICS_RANGE = STATISTICS_PEAK | STATISTIC_BIT(STATISTIC_MIN),
	STATISTICS_LEVEL = STATISTICS_PEAK_AND_MEAN | STATISTIC_BIT(STATISTIC_P50) |
			   STATISTIC_BIT(STATISTIC_P95) | STATISTIC_BIT(STATISTIC_P99),
	STATISTICS_LEVEL_AND_MIN = STATISTICS_LEVEL | STATISTIC_BIT(STATISTIC_MIN),
	STATISTICS_ALL = STATISTIC_BIT(STATISTIC_COUNT) - 1,
};

/* A column of the history and the set of its statistics that is kept. */
struct kept_column {
	const char *column;
	unsigned statistics;
};
extern const struct kept_column kept_columns[]; /* sorted by column */
extern const size_t kept_columns_n;

#endif
