/* The rule of Ponder, a published method (e-Science 2024). Only benches use it. It fits a line of
 * peak over input size, in which a run above the line weighs ten times as much as one below. It
 * adds the larger of 128 MiB and twice the spread of the line's errors near this input. If an input
 * is unknown, or peak and input correlate by 0.3 or less, it uses the largest peak + 128 MiB. */
#ifndef TESTS_BENCH_PONDER_H
#define TESTS_BENCH_PONDER_H

#include "recommender/sizing/rule.h"

extern const struct sizing_rule bench_ponder;

#endif
