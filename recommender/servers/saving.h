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
	/* 0 if the current server is the best; never negative. NaN = unknown, or the best server
	 * costs more, which is possible if the objective is not money. */
	struct saving saving;
};

/* Finds the best server among the picks `p` and the current server `current` (NULL = unknown). The
 * current server is the best if three conditions are true:
 * - It has room for the demand.
 * - It meets the conditions of the request, except those on the allocation (spot or on demand).
 * - No pick is better.
 *
 * If the price of the first pick is not reliable (pick_price_is_sure), no pick is called the
 * best. */
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

/* Finds the best server of each kind (enum condition) that the options exclude. Writes the servers
 * that save money compared with `best` to `ret`, the largest saving first. Returns their number.
 * `best` may be the current server. If it is NULL, writes all. Returns 0 if the objective is not
 * money. */
size_t saving_alternatives(const struct catalogue *c, const struct demand *d,
	const struct pick_options *o, const struct picks *p, const struct pick *best,
	struct arena *arena, struct alternative ret[CONDITIONS]);

/* Appends the conditions under which the job can use a server, without a full stop: "needs programs
 * built for arm64; may be interrupted: ...". Leaves out a condition that the options require,
 * because the caller chose it. */
void saving_asks(struct buf *out, const struct pick *p, const struct pick_options *o);

#endif
