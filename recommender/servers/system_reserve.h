/* CPUs and memory of a server that remain for jobs. The operating system or a Kubernetes node uses
 * the rest. */
#ifndef RECOMMENDER_SERVERS_SYSTEM_RESERVE_H
#define RECOMMENDER_SERVERS_SYSTEM_RESERVE_H

#include "recommender/catalogue/catalogue.h"

struct system_reserve {
	/* `help` names the rule that computes the rest, and its source. */
	const char *name, *help;
	double (*memory)(const struct server *s); /* MiB left for jobs; NaN = unknown */
	double (*cpus)(const struct server *s);
};

extern const struct system_reserve system_reserves[]; /* ends with name NULL; first is default */

const struct system_reserve *system_reserve_find(const char *name); /* NULL = unknown name */

#endif
