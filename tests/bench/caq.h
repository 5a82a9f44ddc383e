/* The strategy CAQ (cost-aware quantile), from which auto was derived. Only benches use it. It
 * chooses the predictor and the allocation with the least expected cost, where auto pools all
 * predictors. */
#ifndef TESTS_BENCH_CAQ_H
#define TESTS_BENCH_CAQ_H

#include "recommender/sizing/rule.h"
#include "recommender/sizing/sizing.h"

extern const struct sizing_rule bench_caq[RISK_COUNT];

#endif
