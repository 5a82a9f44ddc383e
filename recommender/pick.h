/*
 * From a demand to servers: filter, price, forecast, order. Pure: no I/O, no clock.
 */
#ifndef RECOMMENDER_PICK_H
#define RECOMMENDER_PICK_H

#include <stddef.h>

#include "collectors/base/mem.h"
#include "recommender/catalogue.h"
#include "recommender/demand.h"

/* Why a server was not picked, in the order of asking: the first reason that applies is counted. */
enum exclusion {
	EXCLUDED_INACTIVE,
	EXCLUDED_VENDOR,
	EXCLUDED_ARCHITECTURE,
	EXCLUDED_TOO_FEW_VCPUS,
	EXCLUDED_TOO_LITTLE_MEMORY,
	EXCLUDED_TOO_FEW_GPUS,
	EXCLUDED_TOO_LITTLE_VRAM,
	EXCLUDED_NO_PRICE,
	EXCLUDED_CURRENCY, /* its price is in a currency that cannot be compared with the others */
	EXCLUSION_COUNT,
};
extern const char *const exclusion_name[EXCLUSION_COUNT]; /* "inactive", "vendor", ...: keys of the answer */

struct pick_options {
	size_t limit;                   /* most picks; 0 = all */
	enum architecture architecture; /* UNKNOWN = any */
	size_t n_vendors;
	const char *const *vendors; /* vendor_ids; none = all */
	const char *currency;       /* of the answer; NULL = USD, or the only one that the fitting servers have */
};

struct pick {
	const struct server *server;
	double price;         /* per hour on demand, in the currency of the picks */
	double forecast_cost; /* of a run: price x forecast duration; NaN when the duration is unknown */
	double forecast_duration_seconds;
	const char *region_id; /* where the price holds, "" = not said */
};

struct picks {
	size_t n;
	struct pick *pick;    /* best first: lowest price, then more memory, then vendor_id and server_id */
	const char *currency; /* of all prices and costs */
	size_t fitting;       /* servers that fit, before the limit */
	size_t excluded[EXCLUSION_COUNT];
};

/*
 * An unknown demand (NaN) asks for nothing; an unknown fact of a server never satisfies one. ret and what it
 * points to live in arena; servers and texts in the catalogue.
 */
void pick_servers(const struct catalogue *c, const struct demand *d, const struct pick_options *o,
	struct arena *arena, struct picks *ret);

#endif
