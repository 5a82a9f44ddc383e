/* Records the neighbours with which the fake recommender was last called. */
#ifndef TESTS_SUPPORT_FAKE_RECOMMENDER_H
#define TESTS_SUPPORT_FAKE_RECOMMENDER_H

#include "recommender/sizing/sizing.h"

struct fake_recommender {
	const struct neighbours *sized_with, *forecast_with;
};

extern struct fake_recommender fake_recommender;

#endif
