/* Checks whether a server fits, except for price and speed. */
#ifndef RECOMMENDER_SERVERS_FILTERS_H
#define RECOMMENDER_SERVERS_FILTERS_H

#include "recommender/servers/pick.h"

struct filter_input {
	const struct catalogue *c;
	const struct demand *d;
	const struct pick_options *o;
};

/* Checks the reasons against server `s` in the order of the enum. Returns the first reason that
 * applies. EXCLUSION_COUNT = the server fits. */
enum exclusion filter_misfit(const struct filter_input *a, const struct server *s);

/* Returns true if there is no limit (limit <= 0 or NaN) or `value` is within it. An unknown value
 * is not within a limit. */
bool filter_keeps_limit(double limit, double value);

#endif
