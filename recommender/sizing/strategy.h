/*
 * What the strategies share: which runs they look at, the rounding, the words. Private to
 * recommender/.
 */
#ifndef RECOMMENDER_SIZING_STRATEGY_H
#define RECOMMENDER_SIZING_STRATEGY_H

#include "collectors/base/units.h"
#include "recommender/sizing/sizing.h"
#include "recommender/sizing/rule.h"

/*
 * The newest most successful runs (newest first, in arena) and what they have in common, in ret:
 * counts, times, confidence; every demand is unknown. -ENODATA with a sentence when no run
 * succeeded.
 */
int sizing_start(const struct runs *runs, size_t most, struct arena *arena, struct runs *used,
	struct sizing *ret, struct err *e);

/* Adds a sentence; those past EXPLAIN_MAX are dropped. */
void sizing_explain(struct sizing *s, struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Peak memory of a run in bytes: the kernel's high-water mark, else the largest sample, and the files in tmpfs that no
 * process had mapped; NaN when unknown or not a positive number.
 */
double run_needs_memory(const struct run *r);

/* Most that such files took, bytes; 0 also where they are not known, as only a control group of its own tells. */
double run_needs_tmpfs(const struct run *r);
bool run_needs_tmpfs_known(const struct run *r);

/* Says which peak memory is sized from, and what else was measured that is not it. */
void sizing_explain_source(struct sizing *s, const struct runs *used, struct arena *arena);

/* MiB: 128, 256, 512, 1024, 2048, then whole GiB, always up; 0 when bytes is unknown. */
uint64_t sizing_round_memory(double bytes);

/* MiB, up by at most 3 % (six significant bits), so that requests of similar jobs look alike, at least
 * 16; 0 when bytes is unknown. */
uint64_t sizing_round_up(double bytes);

/* max(1, cores rounded to the nearest, a half to the even neighbour as Python does); 0 when
 * unknown. */
uint64_t sizing_round_cores(double cores);

/* Smallest, largest and mean of get over runs, unknown values left out. */
struct run_summary {
	size_t n;
	double min, max, mean;
};
struct run_summary run_needs_summary(const struct runs *runs, double (*get)(const struct run *));

#define WORDING_MAX 40
/* "1.50 GiB", "812 MiB", "2.5 h": for sentences; returns out. */
const char *wording_bytes(char out[WORDING_MAX], double bytes);
const char *wording_seconds(char out[WORDING_MAX], double seconds);
const char *wording_share(char out[WORDING_MAX], double share); /* of a probability: "1.3 %" */

/* The words of a sentence about so many runs: "5 successful runs", "1 successful run". */
const char *wording_runs(char out[WORDING_MAX], size_t n);
/* The same of runs that were sized in hindsight: killed ones may be among them. */
const char *wording_sized_runs(char out[WORDING_MAX], const struct sizing *s, size_t n);

/* GPUs that a run used at the same time, and the largest amount of GPU memory; NaN when unknown. */
double run_needs_gpus(const struct run *r);
double run_needs_vram(const struct run *r);

/* Durations are predicted by rules whose constants are meant for memory: a minute is like a GiB. */
#define SECOND_IN_BYTES (16 * MIB)
double sizing_duration_as_bytes(const struct run *r); /* NaN when unknown */

/* Bytes of disk that a run needed; NaN when unknown. */
double run_needs_disk(const struct run *r);

/* Where a run that was killed for memory met its limit; NaN when nothing is known of it. */
double run_needs_killed_at(const struct run *r);

/* How a strategy sizes. */
struct sizing_method {
	const char *because;            /* what the memory follows from, in words */
	const struct sizing_rule *rule; /* or, when NULL, auto at the risk that was asked for */
	double cpu_share;     /* CPU: of the time for which it suffices; 0 = the cheapest */
	bool cpu_fades;       /* old runs count less, and 15 % are added, as the VPA does */
	bool uses_percentile; /* options->percentile is meant for cpu_share too */
};
int sizing_by_method(const struct sizing_method *m, const struct runs *runs,
	const struct sizing_options *options, struct arena *arena, struct sizing *ret,
	struct err *e);

/* The rule of a method at this risk, and what the options make of its defaults. */
const struct sizing_rule *sizing_rule_of(const struct sizing_method *m, enum risk risk);
struct rule_options sizing_rule_options(const struct sizing_rule *rule,
	const struct sizing_options *options);

/* ---- parts of sizing_by_method; each fills its numbers of s and says why ---- */

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

/* The one sentence; after everything else. */
void sizing_summary(struct sizing *s, const struct sizing_options *options, struct arena *arena);

/* What the runs waited for. */
void sizing_explain_waits(struct sizing *s, const struct runs *used, struct arena *arena);

/* Says so when the name seems to cover different jobs. */
void mixed_jobs_advise(struct sizing *s, const struct runs *used, bool announced,
	struct arena *arena);

/* ---- feeding runs to rules ---- */

struct replayed {
	void *state;                 /* of the rule; free() */
	size_t learnt;               /* successful runs */
	struct replay_record record; /* what it would have done, when it was scored */
	double after_oom; /* what to ask for after the newest runs were killed; 0 = they were not */
	double killed_at; /* the largest limit of those */
	size_t kills; /* earlier ones that no later run explains, counted as runs that needed this much at most: */
	double kills_at, kills_need; /* the largest of their limits, and what it counts as */
};
/* Scoring sizes every run before it is learnt: twice the work, but some rules learn from the attempts; auto's do not. */
enum replay_kind { REPLAY_UNSCORED, REPLAY_SCORED };
/*
 * The newest used->n successful runs, and, for memory (peak is run_needs_memory), those killed for want of it among them,
 * oldest first. A kill tells that a run needed more than its limit. Where a later success needed that much too, it says
 * how much; else the kill counts as a run that needed what the VPA would ask for after it; a row of kills as one.
 */
void replay_runs(struct replayed *ret, const struct sizing_rule *rule,
	const struct rule_options *options, const struct runs *runs, const struct runs *used,
	double (*peak)(const struct run *), enum replay_kind how);
void replay_done(struct replayed *f);

/* What auto thinks of the memory in s->demand, and hindsight on the rule it came from. Silent. */
void sizing_judge_memory(struct sizing *s, struct replayed *own, bool own_is_auto,
	const struct runs *runs, const struct runs *used, double input);

/*
 * The limit beside the demand that is there: room for every peak of these runs, for least (NaN = nothing), and for what
 * the kernel needs beside; and a sentence of it.
 */
void sizing_limit_memory(struct sizing *s, const struct runs *used, double least);
void sizing_explain_limit(struct sizing *s, const struct runs *used, struct arena *arena);

double sizing_next_input(const struct sizing_options *options); /* NaN = not announced */

int baseline_size(const struct runs *runs, const struct sizing_options *options,
	struct arena *arena, struct sizing *ret, struct err *e);

#endif
