/*
 * What the strategies share: which runs they look at, the rounding, the words. Private to
 * recommender/.
 */
#ifndef RECOMMENDER_STRATEGY_H
#define RECOMMENDER_STRATEGY_H

#include "recommender/recommend.h"

#define MIB 1048576.0

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
 * Peak memory of a run in bytes: the kernel's high-water mark, else the largest sample; NaN when
 * unknown or not a positive number.
 */
double run_memory_peak(const struct run *r);

/* MiB: 128, 256, 512, 1024, 2048, then whole GiB, always up; 0 when bytes is unknown. */
uint64_t round_memory(double bytes);

/* max(1, cores rounded to the nearest, a half to the even neighbour as Python does); 0 when
 * unknown. */
uint64_t round_cores(double cores);

/* Smallest, largest and mean of get over runs, unknown values left out. */
struct summary {
	size_t n;
	double min, max, mean;
};
struct summary runs_summary(const struct runs *runs, double (*get)(const struct run *));

#define WORDS_MAX 32
/* "1.50 GiB", "812 MiB", "2.5 h": for sentences; returns out. */
const char *words_bytes(char out[WORDS_MAX], double bytes);
const char *words_seconds(char out[WORDS_MAX], double seconds);

int baseline_size(const struct runs *runs, const struct sizing_options *options,
	struct arena *arena, struct sizing *ret, struct err *e);

#endif
