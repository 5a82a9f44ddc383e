/* The filters of pick_servers, one row each. */
#ifndef RECOMMENDER_PICK_FILTER_H
#define RECOMMENDER_PICK_FILTER_H

#include "recommender/servers/pick.h"

struct ask {
	const struct catalogue *c;
	const struct demand *d;
	const struct pick_options *o;
};

struct pick_filter {
	enum exclusion reason;
	bool (*asked)(const struct ask *a); /* false = nothing is asked: every server passes */
	bool (*passes)(const struct ask *a, const struct server *s);
};

extern const struct pick_filter pick_filters[]; /* in the order of asking; passes NULL ends */
#define PICK_FILTERS_MAX EXCLUSION_COUNT

#endif
