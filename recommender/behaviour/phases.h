/*
 * The parts of a run that behave differently ("loads for 12 minutes on one core with 40 GiB, then
 * trains for three hours on a GPU"), and whether separate steps for them save resources. Pure.
 */
#ifndef RECOMMENDER_BEHAVIOUR_PHASES_H
#define RECOMMENDER_BEHAVIOUR_PHASES_H

#include <stdbool.h>

#include "collectors/base/mem.h"
#include "recommender/demand.h"
#include "recommender/run.h"

struct phase {
	double start, seconds;       /* since the run started */
	struct demand demand;        /* P95 of the cores, peaks of the rest; disk unknown */
	double cores_mean, gpu_mean; /* busy on average; NaN = unknown */
};

struct phases {
	size_t n;
	struct phase *phase;
	double seconds; /* total of the run */
};

/* Finds the phases in a run's samples of these columns; one phase if no level shifts. In arena. */
extern const char *const phases_columns[]; /* NULL-terminated */
void phases_of(const struct series *s, struct arena *arena, struct phases *ret);
/* Replaces the phases by a copy in arena. */
void phases_copy(struct phases *p, struct arena *arena);

/*
 * A split of a job into steps. It is proposed if all of this holds:
 * - Every part takes at least a minute and a tenth of the run.
 * - At least three of the newest five runs have the cut at the same share of the run (within 5 %).
 * - Reserving each part's own demand costs at most 80 % of reserving the whole run's, in (cores +
 *   GiB / 8 + 25 x GPUs) x time.
 */
struct split {
	struct phases parts; /* of the newest run */
	double saving;       /* share of the cost of one step */
	const char *words;   /* one sentence */
};
/* run: newest first; only the first five count. In arena. */
bool phases_split(const struct phases *run, size_t n, struct arena *arena, struct split *ret);

#endif
