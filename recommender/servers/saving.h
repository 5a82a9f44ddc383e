/* Savings of one server compared with another. All answers and metrics take savings from here, so
 * that they agree. Pure functions. */
#ifndef RECOMMENDER_SERVERS_SAVING_H
#define RECOMMENDER_SERVERS_SAVING_H

#include "recommender/servers/pick.h"

/* Money that a run saves on another server. Negative = that server costs more. NaN = unknown. */
struct saving {
	double amount, percent;
};

/* Returns the saving of a run that costs `now` on the current server and `then` on the other
 * server. */
struct saving saving_of(double now, double then);

/* The best server, and what a run on it saves compared with the current server. */
struct best_server {
	const struct pick *pick; /* NULL = no server is known to be the best */
	bool is_current;
	/* Never negative. 0 if the current server is the best. NaN = unknown. Also NaN if the best
	 * server costs more, which is possible when the objective is not money. */
	struct saving saving;
};

/* Finds the best server: a pick of `p`, or `current`, the current server (NULL = unknown), which
 * need not be a pick. The current server is the best if three conditions are true:
 * - It has room for the demand.
 * - It meets the conditions of the request, except those on the allocation (spot or on demand).
 * - No pick is better.
 *
 * A pick whose price is not reliable (pick_price_is_sure) is never the best. If it is better than
 * all others, no server is called the best. */
struct best_server saving_best(const struct catalogue *c, const struct demand *d,
	const struct pick_options *o, const struct picks *p, const struct pick *current);

/* Kinds of servers that options often exclude, although such servers may cost less. */
enum condition { CONDITION_ARM64, CONDITION_SPOT, CONDITION_BURSTABLE, CONDITIONS };
extern const char *const saving_condition_name[CONDITIONS]; /* "arm64", "spot", "burstable" */

struct alternative {
	enum condition condition;
	struct pick pick;
	/* Saving compared with the best server: per run, or per hour if the cost of a run is
	 * unknown. NaN = no server is known to be the best. */
	struct saving saving;
};

/* Finds the best server of each kind that `o` leaves out. Writes those that save money compared
 * with `best` to `ret`, the largest saving first. Returns their number. `best` may be the current
 * server. If it is NULL, all are written. Returns 0 if the objective is not money. */
size_t saving_alternatives(const struct catalogue *c, const struct demand *d,
	const struct pick_options *o, const struct picks *p, const struct pick *best,
	struct arena *arena, struct alternative ret[CONDITIONS]);

/* Appends the conditions that a server puts on the job, without a full stop: "needs programs built
 * for arm64; may be interrupted: ...". If the options allow only servers with a certain condition,
 * this condition is left out: the caller chose it. */
void saving_asks(struct buf *out, const struct pick *p, const struct pick_options *o);

#endif
