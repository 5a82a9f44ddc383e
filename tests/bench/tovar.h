/* The rule of Tovar et al., a published method (TPDS 2018). Only benches use it. The first
 * allocation is the past peak that would have cost least as first allocation of every run. The cost
 * is allocation x time of all runs + largest peak x time of the runs above the allocation. The
 * second allocation is the largest peak. */
#ifndef TESTS_BENCH_TOVAR_H
#define TESTS_BENCH_TOVAR_H

#include "recommender/sizing/rule.h"

extern const struct sizing_rule bench_tovar;

#endif
