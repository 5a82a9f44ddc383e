/* Forecasts what the next run will cost, in US dollars, on the current server and on the best
 * server. The best server is the one with the lowest cost of a run. It can be the current
 * server. */
#ifndef EXPORTER_ANSWERS_JOB_COST_H
#define EXPORTER_ANSWERS_JOB_COST_H

#include "exporter/this_server/this_server.h"
#include "recommender/servers/pick.h"
#include "recommender/run.h"
#include "recommender/sizing/sizing.h"

struct offer {
	bool known; /* false: the other members are zero */
	const char *vendor_id, *instance_type, *allocation;
	const char *region;     /* as a person types it; "" = unknown */
	double price;           /* per hour */
	double seconds, amount; /* duration, cost of a run; NaN = unknown */
};

enum { OFFER_CURRENT, OFFER_BEST, OFFERS };
extern const char *const job_cost_offer_name[OFFERS];

struct job_cost {
	struct offer offer[OFFERS];
	double saving_usd; /* what a run saves on the best server, at least 0; NaN = unknown */
	size_t n_runs;     /* ended runs, newest first, in arena */
	struct run_usd {
		const struct run *run;
		double usd; /* NaN = unknown */
	} * run;
};

/* Computes the costs of a job. `here` is this machine. `runs` has the job's runs, newest first.
 * `sizing` is the sizing of the next run; NULL = unknown. The texts in `ret` live as long as
 * `c`. */
void job_cost_of(const struct catalogue *c, const struct machine *here, const struct runs *runs,
	const struct sizing *sizing, struct arena *arena, struct job_cost *ret);

#endif
