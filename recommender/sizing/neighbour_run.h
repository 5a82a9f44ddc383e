/* Extracts the data of a run from which other jobs learn. */
#ifndef RECOMMENDER_SIZING_NEIGHBOUR_RUN_H
#define RECOMMENDER_SIZING_NEIGHBOUR_RUN_H

#include "recommender/run.h"
#include "recommender/sizing/neighbours.h"

/* Fills `ret`. Returns false when other jobs can learn nothing from the run. This is so in three
 * cases: it neither succeeded nor was killed for memory, it was not measured, or its need is
 * unknown. */
bool neighbour_run_of(const struct run *r, struct neighbour_run *ret);

#endif
