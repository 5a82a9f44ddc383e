/* Sizes the next run of a job from earlier runs. No I/O, no clock. */
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
#include "recommender/sizing/warning.h"

/* Whole numbers for a request; memory and vram in MiB. For cpu and memory, 0 = unknown. For gpu and
 * vram, 0 = unknown or unused. demand.gpus and demand.vram_bytes show which: NaN = unknown, 0 =
 * unused. */
struct resources {
	uint64_t cpu, memory, gpu, vram;
};

/* How well the runs predict the next run:
 * - none: no run succeeded.
 * - low: fewer than three known peaks, or peaks that differ by more than a factor of two. A run
 *   that was killed for memory, met its memory limit or was cut (struct endings) also makes the
 *   confidence low, except in the strategy "baseline".
 * - high: five or more runs with peaks within 20 %.
 * - medium: all other cases. */
enum confidence { CONFIDENCE_NONE, CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };
const char *sizing_confidence_name(enum confidence c);

/* Level of risk: the assumed cost of a first attempt with too little memory, compared with the cost
 * of unused memory (cost_aware_risk_price). Economy assumes the lowest cost, so it requests least.
 * Safe assumes the highest cost, so it requests most. */
enum risk { RISK_BALANCED, RISK_ECONOMY, RISK_SAFE, RISK_COUNT };
const char *sizing_risk_name(enum risk r); /* "balanced", "economy", "safe" */
bool sizing_risk_parse(const char *name, enum risk *ret);

/* How well a rule would have sized the job's past runs, each from the runs before it. */
struct hindsight {
	size_t runs, failures; /* sized runs; runs whose first attempt was too small */
	/* Wasted memory x time, divided by used memory x time. Wasted memory is the unused memory
	 * of an attempt that fits, and all memory of a failed attempt. NaN = unknown. */
	double waste;
};

/* How the newest ended runs of a job ended. */
#define ENDING_CODES_MAX 8
struct endings {
	size_t succeeded, failed, unknown, interrupted;
	/* killed: the kernel killed the run, or a process of it, for memory. at_limit: the run met
	 * its memory limit, and no process was killed. cut: the run was ended from outside, most
	 * often at a time limit. */
	size_t killed, at_limit, cut;
	/* Range over the failed runs, including killed ones; NaN = unknown. */
	double failed_peak_low, failed_peak_high;       /* peak memory, bytes */
	double failed_seconds_low, failed_seconds_high; /* duration, seconds */
	size_t n_codes;
	/* How the failed runs ended, the most frequent first. If there are more than
	 * ENDING_CODES_MAX codes, only those of the newest runs are here. */
	struct ending_code {
		bool signal; /* the run was ended by signal `code` */
		int code;
		size_t runs;
	} code[ENDING_CODES_MAX];
	/* Largest lower bound of the need of a run that was killed or met its limit (struct
	 * evidence, `at_least`), bytes; NaN = there is no such run. */
	double limit_killed;
	/* Lower bounds from runs that were killed, cut, or met their memory limit. Such a run
	 * counts until enough later runs have succeeded (endings.c). NaN = no run counts.
	 * - died_at: lower bound of the memory request, bytes. It is the largest of three values:
	 *   evidence.at_least of a run that was killed or met its memory limit, the peak of a cut
	 *   run, and the limit below which runs failed (limit_before_failures).
	 * - died_above: like died_at, but without runs that met their limit and were not killed. A
	 *   fault in the job meets any limit, so such runs do not show that the request must be
	 *   above their limit.
	 * - cut_seconds: longest duration of a cut run; a lower bound of the time limit. */
	double died_at, died_above, cut_seconds;
};

#define EXPLAIN_MAX   40 /* sentences; further ones are dropped */
#define AT_CORES_MAX  20 /* numbers of cores with a forecast of the duration */
#define ATTEMPTS_TOLD 4  /* attempts in memory_attempts, including the first */

/* Purpose of the number of cores:
 * - speed: the next run takes at most 10 % longer than with unlimited cores. About 2 % of runs may
 *   still take longer.
 * - cost: a run costs least. It usually takes longer than with `speed`. */
enum cpu_for { CPU_FOR_SPEED, CPU_FOR_COST, CPU_FOR_COUNT };
const char *sizing_cpu_for_name(enum cpu_for c); /* "speed", "cost" */
bool sizing_cpu_for_parse(const char *name, enum cpu_for *ret);

/* Subject of an explaining sentence. The sentence begins with the name of its topic, so that
 * programs can group the sentences. TOPIC_X_MORE is for details that few people need. It has the
 * same name as TOPIC_X. */
enum topic {
	TOPIC_RUNS,
	TOPIC_MEMORY,
	TOPIC_MEMORY_MORE, /* sources of the numbers, and hindsight */
	TOPIC_CPU,
	TOPIC_DURATION,
	TOPIC_DURATION_MORE, /* durations with other numbers of cores */
	TOPIC_GPU,
	TOPIC_DISK,
	TOPIC_WAITS,
	TOPIC_WAITS_MORE, /* details of waits for a CPU; the waits are also a warning */
	TOPIC_COUNT,
};
bool sizing_topic_is_more(enum topic t);

struct sizing {
	struct demand demand;
	struct resources resources;
	size_t runs;     /* number of measured successful runs that are used */
	size_t excluded; /* number of unsuccessful runs newer than the oldest used run */
	/* Two more numbers of runs.
	 * - not_measured: successful runs without numbers; only their duration is used.
	 * - uncertain_cpu: used runs whose CPU time is too uncertain to size cores
	 *   (recommender/plausible.h). */
	size_t not_measured, uncertain_cpu;
	uint64_t samples;
	double first, last; /* started_at of the oldest and newest of these `runs` */
	double input_bytes; /* announced input of the next run, bytes; NaN = none, or unused */
	enum confidence confidence;

	/* Limits for target systems that accept a limit in addition to a request. A limit is never
	 * below `demand`. The memory limit covers all peaks of the used runs, with two exceptions:
	 * it is for an announced input size, or the job follows its limit (follower.h). NaN = no
	 * limit is advised. */
	double cpu_cores_limit, memory_bytes_limit;
	double machine_cpus; /* CPUs of the largest machine of the runs used; NaN = unknown */

	/* Most computing power of GPUs in use at once: 0.3 = 30 % of one GPU. NaN = unknown. */
	double gpu_usage;

	double cpu_cores_for_speed; /* cores for CPU_FOR_SPEED, even if the request is for cost */
	/* Duration of past runs with resources.cpu cores, divided by their measured duration. */
	double cpu_slowdown;
	/* Expected duration with other numbers of cores, ascending: 1, 2, 4, ... until the job
	 * cannot use all of them; demand.cpu_cores; resources.cpu. seconds: NaN = unknown. */
	size_t n_at_cores;
	struct {
		double cores, seconds;
	} at_cores[AT_CORES_MAX];

	/* 80 % of runs are expected to take between `duration_low` and `duration_high` seconds. NaN
	 * = there are too few runs for a range. duration_high is never below the duration of a run
	 * that was cut (struct endings). */
	double duration_low, duration_high;
	/* Most runs end within this time, so it is suitable as a time limit. It is duration_high
	 * or, if that is unknown, 1.5 times the expected duration. It is never below the duration
	 * of a run that was cut. */
	double duration_bound;

	/* Forecast for the memory in `demand`. NaN = unknown. */
	double memory_too_small;           /* probability that the next run needs more */
	double memory_expected_waste;      /* expected (unused memory + failed attempts) / peak */
	double memory_low, memory_high;    /* 10th, 90th percentile of the peak, bytes */
	double memory_at_risk[RISK_COUNT]; /* request of auto at each risk, bytes */
	/* Request of each attempt, bytes: [0] is the first attempt. Ascending. NaN = unknown. */
	double memory_attempts[ATTEMPTS_TOLD];
	/* How well the requests of this strategy, and those of "baseline", would have fitted the
	 * earlier runs. Computed only if sizing_options.hindsight is true. Otherwise `runs` is 0
	 * and `waste` is NaN. */
	struct hindsight hindsight, hindsight_baseline;
	const char *memory_source; /* source of the peaks: "vmhwm", ..., "mixed"; NULL = unknown */
	/* Largest limit at which one of the newest runs was killed for memory, bytes. NaN = there
	 * is no such run, or this limit does not set the request. */
	double memory_killed_at;
	/* Smallest limit at which a run failed without a kill, bytes. NaN = there is no such run,
	 * one of the newest runs was killed, or this limit does not set the request. */
	double memory_failed_at;
	/* Number of streaks that the rule has learnt. A streak is a series of successive runs that
	 * met their memory limit. The rule learns it if a later run succeeded, and no later run
	 * needed as much as the limit. It then counts as one run that needed more than the limit,
	 * and the confidence is low. */
	size_t memory_kills;

	struct endings endings;
	struct warnings warnings;

	const char *summary; /* one or two sentences, in the caller's arena */
	/* Sentences such as "memory: The request of ...", in the caller's arena. Sentences of one
	 * topic stand together. The topics have the order of enum topic. */
	size_t n_explain;
	const char *explain[EXPLAIN_MAX];
	enum topic explain_topic[EXPLAIN_MAX];
};

struct neighbours;

#define SIZING_RUNS 5 /* number of newest runs that the strategy "baseline" uses */

#define CHANCE_WORDS_MAX 48
/* Writes a probability in words that can precede "may need more": "about 1 run in 50", or "38 % of
 * runs". Returns `out`, or NULL if `chance` is NaN (unknown). Any thread may call it. */
const char *sizing_chance_words(char out[CHANCE_WORDS_MAX], double chance);

/* All zero = defaults. */
struct sizing_options {
	size_t runs;       /* newest successful runs to use; 0 = the strategy's default */
	enum risk risk;    /* read by auto */
	double percentile; /* 0 to 1; read by percentile and vpa */
	double margin;     /* added share, if margin_given; read by max, percentile, krr, vpa */
	bool margin_given;
	double input_bytes; /* input size announced for the next run; 0 is valid if input_given */
	bool input_given;
	size_t attempt;       /* number of the next attempt: 2 = first retry; 0 counts as 1 */
	enum cpu_for cpu_for; /* read by auto */
	bool hindsight;       /* also fill sizing.hindsight; doubles the time of auto */
	/* Other jobs of the same history and namespace, to learn from (neighbours.h). NULL =
	 * none. */
	const struct neighbours *neighbours;
};

/* Options that only some strategies read. */
enum sizing_use { USES_RISK = 1, USES_PERCENTILE = 2, USES_MARGIN = 4, USES_CPU_FOR = 8 };

#define STRATEGIES_MAX 16

struct strategy {
	const char *name, *help; /* help: formula, source and parameters */
	unsigned uses;           /* bits of enum sizing_use */
	/* `runs`: newest first, all outcomes. -ENODATA: no run can be used. */
	int (*size)(const struct runs *runs, const struct sizing_options *options,
		struct arena *arena, struct sizing *ret, struct err *e);
};
extern const struct strategy strategies[]; /* ends with name NULL; the first is the default */
const struct strategy *strategy_find(const char *name); /* NULL = unknown name */

#endif
