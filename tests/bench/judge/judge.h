/* Judges the sizing rules on traces. All jobs of a source are replayed together: round r is the
 * r-th run of every job. Before a round, a job can learn from the runs that its neighbours had in
 * earlier rounds. A run is scored if its job has an earlier run. */
#ifndef TESTS_BENCH_JUDGE_JUDGE_H
#define TESTS_BENCH_JUDGE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recommender/sizing/rule.h"
#include "recommender/sizing/sizing.h"
#include "tests/bench/trace.h"

#define JUDGE_RUNS_MIN 10 /* jobs with fewer runs are left out */

struct judge_options {
	size_t cap; /* number of runs of a job that are replayed */
	enum input_mode input;
	const char *sources; /* names of the sources, with commas between; NULL = all */
	const char *rules;   /* part of the names of the rules to judge; NULL = all rules */
	bool csv;
	bool alone; /* jobs do not learn from their neighbours */
	bool turns; /* within a round, each group of jobs knows the runs of the groups before it */
	bool late;  /* jobs join a history in which their neighbours have had all their runs */
};

struct job {
	size_t n;
	struct observation *run; /* runs of the job, oldest first */
};

struct source {
	const char *name; /* borrowed from the trace */
	size_t n, room;
	struct job *job;                     /* in random order */
	struct neighbourhood *neighbourhood; /* NULL = jobs learn from their own runs only */
};

struct sources {
	size_t n, room;
	struct source *source;
};
void sources_of(const struct trace *t, const struct judge_options *o, struct sources *ret);
void sources_done(struct sources *s);

/* A copy whose runs may be changed, without a neighbourhood. Released by source_done. */
struct source source_copy(const struct source *s);
void source_done(struct source *s);

/* ---- numbers ---- */

/* Returns a quantile of ascending values, with linear interpolation. NaN = no values. */
double judge_quantile(const double *value, size_t n, double share);
/* Returns a quantile of the peaks of the oldest `n` runs. */
double judge_peak_quantile(const struct job *job, size_t n, double share);
/* Writes the counts that bound 95 % of a binomial distribution: at most 2.5 % of it are below
 * `low`, at most 2.5 % above `high`. */
void judge_binomial(size_t n, double p, size_t *low, size_t *high);
double judge_percent(double part, double whole); /* NaN if `whole` is 0 */
/* Returns the next of a series of random numbers, the same on every machine. */
uint64_t judge_random(uint64_t *series);
size_t judge_random_below(uint64_t *series, size_t n);

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
	const char *title;    /* sentences, above the table */
	const char *row_name; /* heading of the second column */
	size_t n;
	const struct table_column *column;
};
/* CSV has no head, and one line for each cell: table,source,row,column,value. NaN = no value. */
void table_head(const struct table *t, const struct judge_options *o);
void table_row(const struct table *t, const struct judge_options *o, const char *source,
	const char *row, const double *value);

/* ---- rules ---- */

struct judged_rule {
	const char *name;
	const struct sizing_rule *rule;
	bool is_auto; /* has the functions of cost_aware.h, and learns from neighbours */
	enum risk risk;
};
#define JUDGED_RULES 9
extern const struct judged_rule judged_rules[JUDGED_RULES]; /* auto last, by ascending caution */
bool judged_chosen(const struct judged_rule *rule, const struct judge_options *o);

struct neighbours;
/* Returns a state that has learnt nothing. The caller frees it. */
void *judged_start(const struct judged_rule *rule, const struct neighbours *n);

/* ---- neighbours ---- */

/* The knowledge of a source's jobs about each other. Jobs are divided into groups, and a job learns
 * from the jobs of all other groups. */
struct neighbourhood;
/* Borrows `s`. Returns NULL where recommender/ cannot learn from neighbours. */
struct neighbourhood *neighbourhood_new(const struct source *s, const struct judge_options *o);
void neighbourhood_free(struct neighbourhood *h);
/* Learns from the runs before this round. Only some of the later rounds do, because each of them costs
 * much and changes little. The knowledge of each such round is kept. */
void neighbourhood_renew(struct neighbourhood *h, size_t round);
/* Returns the neighbours from which the job with this index learns; NULL = none. Valid until
 * neighbourhood_free. */
const struct neighbours *neighbourhood_of(const struct neighbourhood *h, size_t job);
/* Gives the neighbours to the state of a rule of auto. */
void neighbourhood_tell(void *state, const struct neighbours *n);

/* ---- replay ---- */

struct asked {
	const struct judged_rule *rule;
	const struct job *job;
	size_t index;                  /* index of the job in its source */
	size_t earlier;                /* number of earlier runs of this job */
	const struct observation *run; /* the run to come, which the rule does not know */
	const struct neighbours *neighbours;
	void *state;
	double allocation; /* request of the first attempt; NaN = no answer */
};

struct replay {
	const struct source *jobs;
	/* neighbourhood of these jobs; NULL = jobs learn from their own runs only */
	struct neighbourhood *neighbourhood;
	const struct judge_options *options; /* say which rules are replayed */
	bool auto_only;
	/* Called before every run, in the order of rounds. */
	void (*ask)(void *context, const struct asked *a);
	/* Called after every run; NULL = the rule learns the run. */
	void (*learn)(void *context, const struct asked *a);
	void *context;
};
void replay_rounds(const struct replay *r);
/* Replays the jobs of a source, which learn from its neighbourhood. Reads auto_only, ask, learn and
 * context of `how`. */
void replay_source(const struct source *s, const struct judge_options *o, struct replay how);

/* ---- scores ---- */

/* A failed attempt is charged its allocation for the whole run. */
struct tally {
	size_t runs, failures; /* failures: runs whose first attempt was too small */
	/* Byte seconds. `wasted` includes `lost`, the allocations of failed attempts. */
	double used, wasted, lost;
};
/* Plays the attempts of one run, beginning with `allocation`. */
void tally_run(struct tally *t, const struct sizing_rule *rule, void *state, double allocation,
	const struct observation *run);
double tally_score(const struct tally *t); /* waste + 2.2 x work lost, in % of use */
/* Writes runs, waste, failures and lost in %, and the score: the columns of TALLY_COLUMNS. */
#define TALLY_COLUMNS                                                                              \
	{"runs", 0}, {"waste %", 2}, {"fail %", 2}, {"lost %", 2},                                 \
	{                                                                                          \
		"score", 2                                                                         \
	}
#define TALLY_N 5
void tally_cells(const struct tally *t, double ret[TALLY_N]);

/* A tally and the ratios of all runs that a rule sized. */
struct score {
	struct tally tally;
	size_t n, room;
	double *ratio; /* first allocation / peak */
};
void score_run(struct score *s, const struct asked *a); /* ignores a job's first run */
/* Plays the best constant of each job in hindsight: the one with the least score. `scored` chooses
 * jobs; NULL = all. */
void score_hindsight(struct score *s, const struct source *source, const bool *scored);
void score_head(const struct judge_options *o);
void score_print(struct score *s, const struct judge_options *o, const char *source,
	const char *rule);
void score_done(struct score *s);

/* ---- chances ---- */

/* Chances that a rule of auto stated, and the failures that happened. */
struct chance {
	size_t asked, failed;
	double told, squares; /* sums of stated chances and of their squared errors */
};
/* Gets the chance that the allocation is too small, and adds it to `c`. Does nothing if the rule
 * states none. */
void chance_ask(struct chance *c, const struct asked *a);
void chance_add(struct chance *sum, const struct chance *more);

/* Chances, ranges and levels of risk of sources. */
struct chances;
struct chances *chances_new(size_t n); /* for `n` sources; the caller frees it */
void chances_ask(struct chances *c, size_t source, const struct asked *a); /* of a rule of auto */
void chances_print(struct chances *c, const struct sources *s, const struct judge_options *o);

/* ---- subjects to judge: each function prints its tables ---- */

void judge_rules(const struct sources *s, const struct judge_options *o);
void judge_wide(const struct sources *s, const struct judge_options *o);
void judge_falls(const struct sources *s, const struct judge_options *o);
void judge_rises(const struct sources *s, const struct judge_options *o);
void judge_false_resets(const struct sources *s, const struct judge_options *o);
void judge_censored(const struct sources *s, const struct judge_options *o);
void judge_extrapolation(const struct sources *s, const struct judge_options *o);
void judge_rounding(const struct sources *s, const struct judge_options *o);

#endif
