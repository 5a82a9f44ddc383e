/*
 * From earlier runs to a demand, from a demand to resources and to servers. Pure: no I/O, no clock.
 */
#ifndef RECOMMENDER_SIZING_SIZING_H
#define RECOMMENDER_SIZING_SIZING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/base/mem.h"
#include "recommender/catalogue/catalogue.h"
#include "recommender/demand.h"
#include "recommender/run.h"

/*
 * What to paste into a request: whole numbers, memory and vram in MiB. A known cpu or memory is at least 1, so
 * 0 means unknown there. gpu and vram 0 = none was seen in use; whether one could have been seen says demand.
 */
struct resources {
	uint64_t cpu, memory, gpu, vram;
};

/*
 * How far the used runs can be trusted to show the next one. low: one or two runs, or peaks that differ by
 * more than a factor of two; high: five or more whose peaks all lie within 20 %; medium: the rest.
 */
enum confidence { CONFIDENCE_NONE, CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };
const char *sizing_confidence_name(enum confidence c);

/* How dear a first attempt that fails for lack of memory is, against memory that is left over. */
enum risk { RISK_BALANCED, RISK_ECONOMY, RISK_SAFE, RISK_COUNT };
const char *sizing_risk_name(enum risk r); /* "balanced", "economy", "safe" */
bool sizing_risk_parse(const char *name, enum risk *ret);

/* What a rule would have done on the job's own past, had it sized each run from the runs before it. */
struct hindsight {
	size_t runs, failures; /* failures: first attempts that would have been too small */
	double waste; /* memory x time left over or lost in failed attempts, per memory x time used; NaN */
};

#define EXPLAIN_MAX    20
#define FORECAST_CORES 5

struct sizing {
	struct demand demand;
	struct resources resources;
	size_t runs,
		excluded; /* used; left out (newer than the oldest used) because they did not succeed */
	uint64_t samples;
	double first, last; /* started_at of the oldest and newest run used */
	enum confidence confidence;

	/*
	 * What may be used where a target has a limit beside the request; never below demand, nor, for memory, below any
	 * peak of the runs used. NaN = no advice.
	 */
	double cpu_cores_limit, memory_bytes_limit;

	/* CPU: cores that do not slow the job down, and the expected duration with some numbers of cores. */
	double cpu_cores_for_speed;
	/* How much longer than they did earlier runs would have taken with resources.cpu; not above 1 = no longer. */
	double cpu_slowdown;
	struct {
		double cores, seconds;
	} at_cores[FORECAST_CORES]; /* 1, 2, 4, 8, 16; seconds NaN = unknown */
	double duration_low,
		duration_high; /* a tenth of the runs is expected below, a tenth above */

	/* Memory: how good the allocation in demand is thought to be. NaN = unknown. */
	double memory_too_small; /* probability that the next run needs more */
	size_t memory_judged_by; /* so few runs that they can tell of no smaller one; 0 = it is not their number */
	double memory_expected_waste; /* left over or lost, as a share of what the run is expected to use */
	double memory_low,
		memory_high; /* a tenth of the runs is expected below, a tenth above; bytes */
	double memory_at_risk[RISK_COUNT]; /* what the risk levels of auto would ask for, bytes */
	struct hindsight hindsight, hindsight_baseline; /* this strategy's, and the seeds' rule's */
	const char
		*memory_source; /* what measured the peaks: "vmhwm", ...; "mixed", NULL = unknown */
	double memory_killed_at; /* the limit that the newest run met, when that decided; else NaN */
	size_t memory_kills; /* kills for memory that count as runs of their own; then confidence is low */
	bool split_label; /* the name seems to cover different jobs; a sentence says which */

	const char *summary; /* the one sentence: what, how sure, how good so far; in the arena */
	size_t n_explain;
	const char *explain[EXPLAIN_MAX]; /* one sentence per number, in the caller's arena */
};

#define SIZING_RUNS 5 /* the seeds' window */

/* Zeroes are the defaults. */
struct sizing_options {
	size_t runs; /* how many of the newest successful runs to look at; 0 = the strategy's own default */
	enum risk risk;    /* auto */
	double percentile; /* percentile, vpa: 0 to 1 */
	double margin; /* max, percentile, krr, vpa: added, as a share; read only with margin_given */
	bool margin_given;
	double input_bytes; /* announced size of the next run's input */
	size_t attempt;     /* of the next run: 2 = the first one was too small; 0 is 1 */
};

/* Options that only some strategies read. */
enum sizing_use { USES_RISK = 1, USES_PERCENTILE = 2, USES_MARGIN = 4 };

#define STRATEGIES_MAX 16

struct strategy {
	const char *name, *help; /* help: formula, source and parameters in a few sentences */
	unsigned uses;           /* enum sizing_use */
	/* runs: newest first, all outcomes. -ENODATA with a sentence when nothing can be said. */
	int (*size)(const struct runs *runs, const struct sizing_options *options,
		struct arena *arena, struct sizing *ret, struct err *e);
};
extern const struct strategy strategies[]; /* name NULL ends; the first is the default */
const struct strategy *strategy_find(const char *name); /* NULL = no such strategy */

#endif
