/* The statistics of a run that the recommender, the answers and the web page read after the run's
 * end. A central exporter also stores runs that other exporters recorded. It stores only these
 * statistics of such a run, so that a million runs need little space. */
#ifndef RECOMMENDER_KEPT_STATISTICS_H
#define RECOMMENDER_KEPT_STATISTICS_H

#include <stddef.h>

#include "recommender/run.h"

/* The members of struct distribution, in the order in which the history stores them. Adjacent
 * statistics in this order often have equal values, and the history stores an equal value only
 * once. */
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
/* Sets the statistic `s` of `d` to `v`. The count n becomes 0 if `v` is NaN, negative or above
 * 2^53. */
void statistic_set(struct distribution *d, enum statistic s, double v);

/* Sets of statistics. Bit i stands for value i of enum statistic. Each set contains STATISTIC_N. */
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

/* A column of the history. `statistics` tells which of its statistics are kept: bits of enum
 * statistics. */
struct kept_column {
	const char *column;
	unsigned statistics;
};
extern const struct kept_column kept_columns[]; /* sorted by column */
extern const size_t kept_columns_n;

#endif
