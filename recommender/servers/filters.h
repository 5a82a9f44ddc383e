/* Checks whether a server fits, apart from price and speed. */
#ifndef RECOMMENDER_SERVERS_FILTERS_H
#define RECOMMENDER_SERVERS_FILTERS_H

#include "recommender/servers/pick.h"

struct filter_input {
	const struct catalogue *c;
	const struct demand *d;
	const struct pick_options *o;
};

/* The first reason in enum order why s does not fit; EXCLUSION_COUNT = it fits. */
enum exclusion filter_misfit(const struct filter_input *a, const struct server *s);

/* True if there is no limit (not above 0) or it is kept; an unknown value exceeds it. */
bool filter_keeps_limit(double limit, double value);

#endif
