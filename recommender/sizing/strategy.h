/*
 * Functions that the strategies share: choice of runs, rounding, wording. Private to recommender/.
 */
#ifndef RECOMMENDER_SIZING_STRATEGY_H
#define RECOMMENDER_SIZING_STRATEGY_H

#include "collectors/base/units.h"
#include "recommender/sizing/sizing.h"
#include "recommender/sizing/rule.h"

/*
 * Stores the newest successful runs, at most most of them, in used (newest first, in arena), and
 * their counts, times and confidence in ret. Every demand is unknown. -ENODATA: no run succeeded.
 */
int sizing_start(const struct runs *runs, size_t most, struct arena *arena, struct runs *used,
	struct sizing *ret, struct err *e);

/* Adds a sentence; drops it when there are EXPLAIN_MAX. */
void sizing_explain(struct sizing *s, struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Peak memory of a run in bytes: the kernel's high-water mark, else the largest sample, plus
 * unmapped files in tmpfs. NaN = unknown.
 */
double run_needs_memory(const struct run *r);

/* Peak bytes of unmapped files in tmpfs. 0 = unknown: needs a cgroup of the job's own. */
double run_needs_tmpfs(const struct run *r);
bool run_needs_tmpfs_known(const struct run *r);

/* Explains the source of the memory peaks, and other measured numbers. */
void sizing_explain_source(struct sizing *s, const struct runs *used, struct arena *arena);

/* MiB: 128, 256, 512, 1024, 2048, then whole GiB, always up; 0 when bytes is unknown. */
uint64_t sizing_round_memory(double bytes);

/*
 * MiB, up by at most 3 % (six significant bits), so that requests of similar jobs look alike, at
 * least 16; 0 when bytes is unknown.
 */
uint64_t sizing_round_up(double bytes);

/* Cores rounded to the nearest integer, a half to even as in Python; at least 1; 0 = unknown. */
uint64_t sizing_round_cores(double cores);

/* Smallest, largest and mean of get over runs, without unknown values. */
struct run_summary {
	size_t n;
	double min, max, mean;
};
struct run_summary run_needs_summary(const struct runs *runs, double (*get)(const struct run *));

#define WORDING_MAX 40
/* "1.50 GiB", "812 MiB", "2.5 h" for sentences. Return out. */
const char *wording_bytes(char out[WORDING_MAX], double bytes);
const char *wording_seconds(char out[WORDING_MAX], double seconds);
const char *wording_share(char out[WORDING_MAX], double share); /* a probability: "1.3 %" */

/* "5 successful runs", "1 successful run". */
const char *wording_runs(char out[WORDING_MAX], size_t n);
/* "5 runs" when killed runs may be among them, else as wording_runs. */
const char *wording_sized_runs(char out[WORDING_MAX], const struct sizing *s, size_t n);

/* The most GPUs in use at the same time, and the peak of GPU memory in bytes; NaN = unknown. */
double run_needs_gpus(const struct run *r);
double run_needs_vram(const struct run *r);

/* Durations use rules with constants for memory: about a minute corresponds to a GiB. */
#define SECOND_IN_BYTES (16 * MIB)
double sizing_duration_as_bytes(const struct run *r); /* NaN = unknown */

/* Bytes of disk that a run needed; NaN = unknown. */
double run_needs_disk(const struct run *r);

/* The limit of a run that was killed for memory, else its peak; bytes; NaN = unknown. */
double run_needs_killed_at(const struct run *r);

/* The settings of a strategy. */
struct sizing_method {
	const char *because;            /* the formula for memory, in words */
	const struct sizing_rule *rule; /* NULL: auto at the risk in the options */
	double cpu_share;     /* share of the time for which the CPU suffices; 0 = least cost */
	bool cpu_fades;       /* as in the VPA: older runs weigh less, + 15 % */
	bool uses_percentile; /* options->percentile replaces cpu_share */
};
int sizing_by_method(const struct sizing_method *m, const struct runs *runs,
	const struct sizing_options *options, struct arena *arena, struct sizing *ret,
	struct err *e);

/* The rule of a method at a risk, and its options: the defaults, changed by options. */
const struct sizing_rule *sizing_rule_of(const struct sizing_method *m, enum risk risk);
struct rule_options sizing_rule_options(const struct sizing_rule *rule,
	const struct sizing_options *options);

/* ---- parts of sizing_by_method: each fills its members of s and explains them ---- */

void sizing_memory(struct sizing *s, const struct sizing_method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena);
void sizing_gpus(struct sizing *s, const struct sizing_method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena);
void sizing_disk(struct sizing *s, const struct sizing_method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena);
void sizing_cpu(struct sizing *s, const struct sizing_method *m, const struct runs *used,
	const struct sizing_options *options, struct arena *arena);
void sizing_duration(struct sizing *s, const struct runs *runs, const struct runs *used,
	const struct sizing_options *options, struct arena *arena);

/* Sets s->summary. Call it last. */
void sizing_summary(struct sizing *s, const struct sizing_options *options, struct arena *arena);

/* Explains the waits of the runs. */
void sizing_explain_waits(struct sizing *s, const struct runs *used, struct arena *arena);

/* Sets split_label and explains it when the name seems to cover different jobs. */
void mixed_jobs_advise(struct sizing *s, const struct runs *used, bool announced,
	struct arena *arena);

/* ---- feeding runs to rules ---- */

struct replayed {
	void *state;                 /* of the rule; free() */
	size_t learnt;               /* successful runs */
	struct replay_record record; /* the results, with REPLAY_SCORED */
	double after_oom; /* request after kills of the newest runs; 0 = they were not killed */
	double killed_at; /* the largest limit of these kills */
	size_t kills;     /* earlier kills that count as runs */
	double kills_at, kills_need; /* the largest limit and counted peak of those */
};
/* Scoring takes twice the time. Some rules learn from the scored attempts; those of auto do not. */
enum replay_kind { REPLAY_UNSCORED, REPLAY_SCORED };
/*
 * Feeds the newest used->n successful runs to a rule, oldest first. For memory (peak is
 * run_needs_memory) it feeds kills between them too. A kill that no later success explains counts
 * as a run with the peak that the VPA would request after it; consecutive kills count once.
 */
void replay_runs(struct replayed *ret, const struct sizing_rule *rule,
	const struct rule_options *options, const struct runs *runs, const struct runs *used,
	double (*peak)(const struct run *), enum replay_kind how);
void replay_done(struct replayed *f);

/* Fills the forecast of auto for the memory in s->demand, and the hindsight. Adds no sentence. */
void sizing_judge_memory(struct sizing *s, struct replayed *own, bool own_is_auto,
	const struct runs *runs, const struct runs *used, double input);

/*
 * Sets memory_bytes_limit: at least the demand, every peak of the runs and least (NaN = none), plus
 * kernel memory. sizing_explain_limit explains it.
 */
void sizing_limit_memory(struct sizing *s, const struct runs *used, double least);
void sizing_explain_limit(struct sizing *s, const struct runs *used, struct arena *arena);

double sizing_next_input(const struct sizing_options *options); /* NaN = unknown */

int baseline_size(const struct runs *runs, const struct sizing_options *options,
	struct arena *arena, struct sizing *ret, struct err *e);

#endif
