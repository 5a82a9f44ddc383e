/* The phases of a run are its parts with different usage of resources. Example: it loads for 12
 * minutes on one core with 40 GiB, then trains for three hours on a GPU. This code also decides
 * whether separate steps for the phases save resources. Pure functions. */
#ifndef RECOMMENDER_BEHAVIOUR_PHASES_H
#define RECOMMENDER_BEHAVIOUR_PHASES_H

#include <stdbool.h>

#include "collectors/base/mem.h"
#include "recommender/demand.h"
#include "recommender/run.h"

struct phase {
	double start, seconds;       /* seconds from the run's start to the phase; its length */
	struct demand demand;        /* P95 of cores; peaks of memory and GPUs; disk unknown */
	double cores_mean, gpu_mean; /* mean usage; NaN = unknown */
};

struct phases {
	size_t n;
	struct phase *phase;
	double seconds; /* length of the run in seconds */
};

/* phases_of finds the phases of a run from its samples `s`, which have the columns in
 * phases_columns. A run whose usage never shifts lastingly has one phase. `ret->phase` is in
 * `arena`. */
extern const char *const phases_columns[]; /* NULL-terminated */
void phases_of(const struct series *s, struct arena *arena, struct phases *ret);
/* Replaces p->phase by a copy in `arena`, so that the arena of the original can be freed. */
void phases_copy(struct phases *p, struct arena *arena);

/* A split of a job into steps. A split is proposed when all of these conditions are true:
 * - Every part takes at least a minute, and at least a tenth of the run.
 * - At least three of the newest five runs change from phase to phase at the same share of their
 *   duration (within 5 %).
 * - Separate steps cost at most 80 % of a single step, because each step requests less. The cost is
 *   (cores + GiB / 8 + 25 x GPUs) x time. */
struct split {
	struct phases parts; /* parts of the newest run */
	double saving;       /* saved cost / cost without a split */
	const char *words;   /* one sentence about the split */
};
/* Returns false if no split is proposed. `run`: phases of `n` runs, newest first; only the first
 * five count. The texts and parts of `*ret` are in `arena`. */
bool phases_split(const struct phases *run, size_t n, struct arena *arena, struct split *ret);

#endif
