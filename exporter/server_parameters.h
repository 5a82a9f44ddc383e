/*
 * What may be asked about servers: the rows that /recommend and /servers share, and what they mean.
 */
#ifndef EXPORTER_SERVER_PARAMETERS_H
#define EXPORTER_SERVER_PARAMETERS_H

#include <stdbool.h>

#include "exporter/route.h"
#include "recommender/pick.h"

const char *architecture_choice(size_t i);

/* clang-format off */
#define SERVER_PARAMETERS \
	{.name = "limit", \
		.kind = PARAMETER_COUNT, \
		.fallback = "5", \
		.least = 1, \
		.most = 1000, \
		.help = "Most servers to give, the cheapest first"}, \
	{.name = "vendor", \
		.kind = PARAMETER_TEXT, \
		.repeats = true, \
		.least = 1, \
		.most = 64, \
		.help = "Only servers of this vendor, for example aws"}, \
	{.name = "architecture", \
		.kind = PARAMETER_CHOICE, \
		.fallback = "native", \
		.choice = architecture_choice, \
		.help = "CPU architecture of the servers; native is the one that this program was " \
			"built for"}
/* clang-format on */

/*
 * What the arguments ask for; texts live as long as they do. False: r says which value is not in the
 * catalogue and what is.
 */
bool server_options(const struct arguments *a, const struct catalogue *c, struct pick_options *ret,
	struct reply *r);

#endif
