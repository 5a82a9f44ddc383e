/* Rules that size one resource (memory, GPU memory, disk) of a job's next run. A rule is given the
 * job's runs in the order of time. The caller calls these functions for each run: `allocate`, then
 * `retry` until the run fits, then `learn`. Amounts are bytes, durations are seconds. The caller
 * owns the state: `state_size` bytes, zeroed. */
#ifndef RECOMMENDER_SIZING_RULE_H
#define RECOMMENDER_SIZING_RULE_H

#include <stdbool.h>
#include <stddef.h>

/* Needs of one successful run: peak > 0, input >= 0, duration > 0, all finite. `input` and
 * `duration` can be NaN = unknown. rule_observation() changes invalid inputs and durations to
 * NaN. */
struct observation {
	double peak, input, duration;
};
struct observation rule_observation(double peak, double input, double duration);

/* Number of newest measured runs that all estimators use. Older runs would change little, because
 * their weight fades (cost_aware.c). The history keeps the same number by default
 * (--history.runs-per-job). */
#define PEAKS_SEEN_MAX 200

/* Fewest measured runs that show how much a job's peaks differ. The next peak should
 * lie in the range that is told with 80 % (memory_low, memory_high). On public traces of jobs, it
 * did in 56 to 100 % of the cases after one or two runs, and in 71 to 93 % from the third run on
 * (tests/bench/README.md). */
#define RUNS_FOR_SPREAD 3

/* The newest PEAKS_SEEN_MAX runs that a rule has learnt, oldest first. */
struct peaks_seen {
	size_t n;
	struct observation at[PEAKS_SEEN_MAX];
};
void rule_peaks_add(struct peaks_seen *p, const struct observation *o);

/* Returns the largest peak of the last `newest` runs. 0 = no runs. */
double rule_peaks_largest(const struct peaks_seen *p, size_t newest);

/* Finds a lasting change of the peaks. Returns the geometric mean of the newest five peaks of `p`,
 * divided by that of the earlier peaks; 1 = no lasting change. `measured` has the measured peaks.
 * `p` has the same runs, but after an earlier lasting change, the caller has multiplied the peaks
 * before it by that change, at most to the largest measured peak.
 *
 * A change is lasting if these conditions are true in `p` or in `measured`:
 * - There are at least 8 earlier peaks.
 * - The newest five peaks are all more than 10 % above all earlier peaks, or all more than 10 %
 *   below them. With 15 or more earlier peaks and no known input, the lowest earlier peak does not
 *   hide a fall.
 * - If inputs are known, those of the newest runs are within the range of the earlier inputs.
 *
 * If the peaks depend on the inputs or the durations, they can hide a change. If the test finds no
 * change, it is therefore repeated twice: with each peak divided by the part that its input
 * explains, then by the part that its duration explains. The result is then the change of these
 * quotients.
 *
 * Each of these changes must also show in the runs of `p` that had the same inputs
 * (SAME_INPUT_LOG): if the newest runs differ from them by less than half of the change, there is
 * none. Otherwise five large inputs in a row would look like a change. */
#define PEAKS_CHANGE_RUNS 5
#define SAME_INPUT_LOG    0.02 /* inputs are the same if their logarithms differ by less */
/* Two sizes (peaks or inputs) differ clearly if the larger is more than this many times the smaller.
 * Peaks of steady jobs differ by up to 10 %. */
#define CLEARLY 1.1
double rule_peaks_change(const struct peaks_seen *p, const struct peaks_seen *measured);

struct job_prior;
struct rule_options {
	size_t window;     /* number of newest runs to use */
	double percentile; /* percentile of the peaks to request, 0 to 1 */
	double margin;     /* added share: 0.2 = + 20 % */
	/* Typical errors of predictions, for a job with few runs (job_prior.h). NULL = built-in
	 * values. Only the rules of the strategy auto read it. */
	const struct job_prior *prior;
};

struct sizing_rule {
	size_t state_size;
	struct rule_options defaults; /* 0 = the rule ignores the option */
	bool successes_only;          /* learns nothing from killed runs */
	void (*start)(void *state, const struct rule_options *o);
	/* Returns the first allocation; NaN before the first learnt run. `input` NaN = unknown. */
	double (*allocate)(void *state, double input);
	/* Returns the next allocation after a failed attempt with `allocation`. `failures` is the
	 * number of failed attempts so far. */
	double (*retry)(void *state, double allocation, unsigned failures);
	void (*learn)(void *state, const struct observation *o);
	/* Learns a lower bound: the need of a run was above o->peak. NULL = the rule can learn no
	 * bounds. */
	void (*learn_at_least)(void *state, const struct observation *o);
};

/* A `retry` that doubles the allocation. */
double rule_retry_double(void *state, double allocation, unsigned failures);

extern const struct sizing_rule rule_baseline, rule_max, rule_percentile, rule_krr, rule_vpa;

/* Largest allocation in bytes. No machine has more memory, so retries stop here. */
#define ALLOCATION_MAX (128.0 * 1024 * 1024 * 1024 * 1024)

/* Returns the request of attempt number `attempt` if each attempt requests twice as much as the one
 * before it, but at most ALLOCATION_MAX. `first`: request of attempt 1, bytes. If it is NaN
 * (unknown), the result is NaN. `attempt` 0 counts as 1. */
double rule_doubled(double first, size_t attempt);

/* Results of a rule that sizes all runs except the first, from which it only learns. Sums are byte
 * seconds. */
struct replay_record {
	size_t runs, failures; /* failures: sized runs whose first attempt was too small */
	/* Used: peak x duration. Wasted: (failed attempts + unused part of the successful one) x
	 * duration. */
	double used, wasted;
};

/* Sizes and scores one run, then learns from it. Returns the first allocation. Returns NaN and
 * scores nothing if the rule has learnt no run yet. A failed attempt is assumed to last as long as
 * the whole run, which is the worst case. */
double rule_replay(const struct sizing_rule *rule, void *state, const struct observation *o,
	struct replay_record *r);
double rule_score(const struct sizing_rule *rule, void *state, const struct observation *o,
	struct replay_record *r); /* like rule_replay, but does not learn */

#endif
