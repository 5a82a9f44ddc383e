/* Savings of one server compared with another. All answers and metrics take savings from here, so
 * that they agree. Pure functions. */
#ifndef RECOMMENDER_SERVERS_SAVING_H
#define RECOMMENDER_SERVERS_SAVING_H

#include "recommender/servers/pick.h"

/* Money that a run saves on another server. Negative = that server costs more. NaN = unknown. */
struct saving {
	double amount, percent;
};

/* now: cost on the current server. then: cost on the other server. */
struct saving saving_of(double now, double then);

/* The best server, and what a run on it saves compared with the current server. */
struct best_server {
	const struct pick *pick; /* NULL = no server is known to be the best */
	bool is_current;
	/* Never negative. 0 if the current server is the best. NaN = unknown, or the objective is
	 * not money and the best server costs more. */
	struct saving saving;
};

/* Finds the best server. `current`: the current server, which may be none of the picks; NULL =
 * unknown. The current server is the best if it has room for the demand, meets the conditions of
 * the request, and no pick is better. The request's condition on allocations does not apply to the
 * current server. A pick whose price is not reliable (pick_price_is_sure) is never the best; if it is
 * better than all others, no server is called the best. The result points to a pick of `p` or to
 * `current`. */
struct best_server saving_best(const struct catalogue *c, const struct demand *d,
	const struct pick_options *o, const struct picks *p, const struct pick *current);

/* Kinds of servers that the options may leave out although they cost less. */
enum condition { CONDITION_ARM64, CONDITION_SPOT, CONDITION_BURSTABLE, CONDITIONS };
extern const char *const saving_condition_name[CONDITIONS]; /* "arm64", "spot", "burstable" */

struct alternative {
	enum condition condition;
	struct pick pick;
	/* Saving compared with the best server: per run, or per hour if the cost of a run is
	 * unknown. NaN = no server is known to be the best. */
	struct saving saving;
};

/* Finds the best server of each kind that `o` leaves out. Fills `ret` with those that save money
 * compared with `best`, which may be the current server, largest saving first, and returns their
 * number. If `best` is NULL, `ret` gets all of them. Returns 0 if the objective is not money. */
size_t saving_alternatives(const struct catalogue *c, const struct demand *d,
	const struct pick_options *o, const struct picks *p, const struct pick *best,
	struct arena *arena, struct alternative ret[CONDITIONS]);

/* Appends the conditions that a server puts on the job, without a full stop: "needs programs built
 * for arm64; may be interrupted: ...". A condition that `o` selects alone is left out, because the
 * caller knows it. */
void saving_asks(struct buf *out, const struct pick *p, const struct pick_options *o);

#endif
