/* Judges the sizing rules on traces. All jobs of a source are replayed together: round r is the r-th
 * run of every job. Before a round, a job can learn from the runs that its neighbours had in earlier
 * rounds. A run is scored if its job has an earlier run. */
#ifndef TESTS_BENCH_JUDGE_JUDGE_H
#define TESTS_BENCH_JUDGE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "recommender/sizing/rule.h"
#include "recommender/sizing/sizing.h"
#include "tests/bench/trace.h"

#define JUDGE_RUNS_MIN 10 /* jobs with fewer runs are left out */

enum input_mode { INPUT_PROXY, INPUT_ANNOUNCED, INPUT_NONE };

struct judge_options {
	size_t cap; /* number of runs of a job that are replayed */
	enum input_mode input;
	const char *sources; /* names with commas between; NULL = all */
	bool csv;
};

struct job {
	const char *label;
	size_t n;
	struct observation *run; /* oldest first */
};

struct source {
	const char *name; /* borrowed from the trace, like the labels of the jobs */
	size_t n, room;
	struct job *job;
};

struct sources {
	size_t n, room;
	struct source *source;
};
void sources_of(const struct trace *t, const struct judge_options *o, struct sources *ret);
void sources_done(struct sources *s);

/* ---- numbers ---- */

int judge_ascending(const void *a, const void *b); /* for qsort of double */
/* Returns a quantile of ascending values, with linear interpolation. NaN = no values. */
double judge_quantile(const double *value, size_t n, double share);
/* Writes the largest and the smallest count that bound 95 % of a binomial distribution: 2.5 % of it
 * are below `low`, 2.5 % above `high`. */
void judge_binomial(size_t n, double p, size_t *low, size_t *high);

/* ---- tables ---- */

#define TABLE_MARK    (-1) /* `decimals` of a column of marks */
#define MARK_SURE     1    /* printed as * */
#define MARK_DOUBTFUL 0.5  /* printed as ? */

struct table_column {
	const char *name;
	int decimals;
};
struct table {
	const char *name;     /* in CSV */
	const char *title;    /* one sentence */
	const char *row_name; /* heading of the second column */
	size_t n;
	const struct table_column *column;
};
/* Both print nothing but cells in CSV: table,source,row,column,value. NaN = no value. */
void table_head(const struct table *t, const struct judge_options *o);
void table_row(const struct table *t, const struct judge_options *o, const char *source,
	const char *row, const double *value);

/* ---- replay ---- */

struct judged_rule {
	const char *name;
	const struct sizing_rule *rule;
	bool is_auto; /* has the functions of cost_aware.h, and learns from neighbours */
	enum risk risk;
};
extern const struct judged_rule judged_rules[];
extern const size_t judged_rules_n;
const struct judged_rule *judged_auto(enum risk risk);

struct asked {
	const struct judged_rule *rule;
	const struct job *job;
	size_t earlier;                /* number of runs that the rule has learnt of this job */
	const struct observation *run; /* the run to come, which the rule does not know */
	void *state;
	double allocation; /* of the first attempt; NaN = no answer */
};
/* Calls `ask` before every run, in the order of rounds. Then the rule learns the run. */
void replay_rounds(const struct source *s, const struct judged_rule *rule, size_t cap,
	void (*ask)(void *context, const struct asked *a), void *context);

/* ---- scores ---- */

/* A failed attempt is charged its allocation for the whole run. */
struct tally {
	size_t runs, failures;     /* failures: runs whose first attempt was too small */
	double used, wasted, lost; /* byte seconds; lost: allocations of failed attempts, a part of
				      `wasted` */
};
/* Plays the attempts of one run, beginning with `allocation`. */
void tally_run(struct tally *t, const struct sizing_rule *rule, void *state, double allocation,
	const struct observation *run);
double tally_score(const struct tally *t); /* waste + 2.2 x work lost, in % of use */

void judge_scores(const struct sources *s, const struct judge_options *o);
void judge_chances(const struct sources *s, const struct judge_options *o);

#endif
