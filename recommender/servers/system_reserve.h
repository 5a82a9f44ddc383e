/*
 * What of a server a job can really have: less than what is sold, because the system itself lives there.
 */
#ifndef RECOMMENDER_SERVERS_SYSTEM_RESERVE_H
#define RECOMMENDER_SERVERS_SYSTEM_RESERVE_H

#include "recommender/catalogue/catalogue.h"

struct system_reserve {
	const char *name, *help;                  /* help: the rule and where it comes from */
	double (*memory)(const struct server *s); /* MiB that are left for jobs; NaN = unknown */
	double (*cpus)(const struct server *s);
};

extern const struct system_reserve system_reserves[]; /* name NULL ends; the first is the default */

const struct system_reserve *system_reserve_find(const char *name); /* NULL = none of that name */

#endif
