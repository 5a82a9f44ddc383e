/* Checks whether a server fits, except for price and speed. */
#ifndef RECOMMENDER_SERVERS_FILTERS_H
#define RECOMMENDER_SERVERS_FILTERS_H

#include "recommender/servers/pick.h"

struct filter_input {
	const struct catalogue *c;
	const struct demand *d;
	const struct pick_options *o;
};

/* Checks whether server `s` fits, except for price and speed. Returns the first exclusion that
 * applies, in the order of enum exclusion. EXCLUSION_COUNT = the server fits. */
enum exclusion filter_misfit(const struct filter_input *a, const struct server *s);

/* Returns true if value <= limit, or if there is no limit (0 or less, or NaN). Returns false if
 * there is a limit and `value` is unknown (NaN). */
bool filter_keeps_limit(double limit, double value);

#endif
