/*
 * Rules that size one resource (memory, GPU memory, disk) of a job's next run. A rule sees the
 * job's runs in the order of time. For each run, call allocate, then retry until the run fits, then
 * learn. Amounts are bytes, durations seconds. The caller owns the state: state_size zeroed bytes.
 */
#ifndef RECOMMENDER_SIZING_RULE_H
#define RECOMMENDER_SIZING_RULE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The needs of one successful run: peak > 0, input >= 0, duration > 0, all finite; input and
 * duration may be NaN = unknown. rule_observation makes invalid inputs and durations unknown.
 */
struct observation {
	double peak, input, duration;
};
struct observation rule_observation(double peak, double input, double duration);

/* The newest runs, oldest first. */
#define PEAKS_SEEN_MAX 200
struct peaks_seen {
	size_t n;
	struct observation at[PEAKS_SEEN_MAX];
};
void rule_peaks_add(struct peaks_seen *p, const struct observation *o);

/* The largest of the newest peaks; 0 = no runs. newest: how many to look at. */
double rule_peaks_largest(const struct peaks_seen *p, size_t newest);

/* True when the newest five peaks all lie beyond all earlier ones, with usual inputs. */
#define PEAKS_CHANGE_RUNS 5
bool rule_peaks_changed(const struct peaks_seen *p);

struct rule_options {
	size_t window;     /* number of newest runs to use */
	double percentile; /* 0..1 */
	double margin;     /* added, as a share: 0.2 */
};

struct sizing_rule {
	size_t state_size;
	struct rule_options defaults; /* 0 = the rule does not use it */
	bool successes_only;          /* killed runs are scored, but not learnt */
	void (*start)(void *state, const struct rule_options *o);
	/* The first allocation; input NaN = unknown. NaN before the first learnt run. */
	double (*allocate)(void *state, double input);
	/* The next allocation. failures: attempts so far, the last one with allocation. */
	double (*retry)(void *state, double allocation, unsigned failures);
	void (*learn)(void *state, const struct observation *o);
};

/* A retry that doubles the allocation. */
double rule_retry_double(void *state, double allocation, unsigned failures);

extern const struct sizing_rule rule_baseline, rule_max, rule_percentile, rule_krr, rule_vpa,
	rule_ponder;
extern const struct sizing_rule rule_tovar;
extern const struct sizing_rule rule_caq[3]; /* by enum risk; cost_aware.h has those of auto */

/* Bytes. No machine has as much; retries end there. */
#define ALLOCATION_MAX (128.0 * 1024 * 1024 * 1024 * 1024)

/* The results of a rule that sizes all runs from the second one on. Sums are byte seconds. */
struct replay_record {
	size_t runs, failures; /* failures: runs with a first attempt that was too small */
	double used, wasted;   /* wasted: failed attempts, and the rest of the last one */
};

/*
 * Sizes and scores one run, then learns from it. Returns the first allocation; NaN = the rule had
 * none, and nothing was scored. A failed attempt counts for the whole duration: the worst case.
 */
double rule_replay(const struct sizing_rule *rule, void *state, const struct observation *o,
	struct replay_record *r);
double rule_score(const struct sizing_rule *rule, void *state, const struct observation *o,
	struct replay_record *r); /* the same without learning */

#endif
