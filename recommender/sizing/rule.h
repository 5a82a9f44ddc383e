/*
 * Rules that size one resource (memory, GPU memory) of a job's next run. A rule sees the job's runs
 * in the order of time: allocate, then either retry until the run fits, or learn. All amounts are
 * bytes, durations seconds. Pure: the state is the caller's, flat memory of state_size bytes,
 * zeroed before start.
 */
#ifndef RECOMMENDER_SIZING_RULE_H
#define RECOMMENDER_SIZING_RULE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What one successful run needed: peak > 0, input >= 0, duration > 0, all finite; the last two may
 * be NaN, unknown. rule_observation turns absurd inputs and durations into unknown ones.
 */
struct observation {
	double peak, input, duration;
};
struct observation rule_observation(double peak, double input, double duration);

/* The newest runs, oldest first; older ones are forgotten. */
#define PEAKS_SEEN_MAX 200
struct peaks_seen {
	size_t n;
	struct observation at[PEAKS_SEEN_MAX];
};
void rule_peaks_add(struct peaks_seen *p, const struct observation *o);

/* The largest of the newest so many peaks; 0 when there is none. */
double rule_peaks_largest(const struct peaks_seen *p, size_t newest);

/*
 * A lasting change: the newest five runs all lie beyond all earlier ones, and no unusual input
 * explains it.
 */
#define PEAKS_CHANGE_RUNS 5
bool rule_peaks_changed(const struct peaks_seen *p);

struct rule_options {
	size_t window;     /* newest runs to look at */
	double percentile; /* 0..1 */
	double margin;     /* added, as a share: 0.2 */
};

struct sizing_rule {
	size_t state_size;
	struct rule_options defaults; /* 0 = the rule does not use it */
	bool successes_only; /* its definition knows no killed runs: they are scored, but not learnt */
	void (*start)(void *state, const struct rule_options *o);
	/* For the next run, input NaN when unknown. NaN before the first run was learnt. */
	double (*allocate)(void *state, double input);
	/* The next attempt, after this allocation was the failures-th that was too small. */
	double (*retry)(void *state, double allocation, unsigned failures);
	void (*learn)(void *state, const struct observation *o);
};

double rule_retry_double(void *state, double allocation,
	unsigned failures); /* a retry of rules: twice as much */

extern const struct sizing_rule rule_baseline, rule_max, rule_percentile, rule_krr, rule_vpa,
	rule_ponder;
extern const struct sizing_rule rule_tovar;
extern const struct sizing_rule rule_caq[3]; /* by enum risk; see cost_aware.h, which has auto's */

/* An allocation no machine has; every retry ends there. */
#define ALLOCATION_MAX (128.0 * 1024 * 1024 * 1024 * 1024)

/*
 * What a rule would have done, had it sized the runs itself, from the second one on. Sums are byte
 * seconds.
 */
struct replay_record {
	size_t runs, failures; /* failures: runs whose first attempt was too small */
	double used, wasted;   /* wasted: failed attempts, and what was left over of the last one */
};

/*
 * Sizes and scores one run, then lets the rule learn from it. Returns the first allocation, NaN
 * when the rule had none; then nothing is scored. A failed attempt is charged its allocation for
 * the whole run: the worst case.
 */
double rule_replay(const struct sizing_rule *rule, void *state, const struct observation *o,
	struct replay_record *r);
double rule_score(const struct sizing_rule *rule, void *state, const struct observation *o,
	struct replay_record *r); /* the same, but nothing is learnt */

#endif
