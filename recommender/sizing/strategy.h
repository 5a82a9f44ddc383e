/* Functions that the strategies share: choice of runs, rounding, wording. Private to
 * recommender/. */
#ifndef RECOMMENDER_SIZING_STRATEGY_H
#define RECOMMENDER_SIZING_STRATEGY_H

#include "collectors/base/units.h"
#include "recommender/sizing/sizing.h"
#include "recommender/sizing/rule.h"

/* Returns the newest successful runs, newest first, in `arena`, until `most` of them are measured.
 * Unmeasured runs in between are included, because their durations count. All answers about a job
 * choose its runs here. *excluded receives the number of runs that ended without success and are
 * newer than the oldest returned run; `excluded` may be NULL. */
struct runs sizing_runs_used(const struct runs *runs, size_t most, struct arena *arena,
	size_t *excluded);

/* Chooses the runs with sizing_runs_used and writes them to `used`. Writes counts, times and
 * confidence to `ret`, and explains which runs are left out. Sets every demand to unknown.
 * -ENODATA: no run succeeded. */
int sizing_start(const struct runs *runs, size_t most, struct arena *arena, struct runs *used,
	struct sizing *ret, struct err *e);

/* Adds one sentence about a topic, after the sentences of the same topic. The format begins with a
 * capital letter and ends with a full stop. Drops the sentence when `s` already has EXPLAIN_MAX
 * sentences. */
void sizing_explain(struct sizing *s, struct arena *arena, enum topic topic, const char *format,
	...) __attribute__((format(printf, 4, 5)));

/* Returns the peak memory of a run in bytes: the column memory_peak_bytes or, if it is unknown, the
 * largest sample of memory_bytes. In both cases, the unmapped files in tmpfs are added, but the sum
 * is at most the peak of the control group. NaN = unknown. */
double run_needs_memory(const struct run *r);

/* Returns the peak bytes of unmapped files in tmpfs. Returns 0 if the number is unknown: only runs
 * with their own control group have it. */
double run_needs_tmpfs(const struct run *r);
bool run_needs_tmpfs_known(const struct run *r);

/* Adds sentences to `s` about the memory of the runs in `used`: how their peaks were measured, and
 * how large their largest process, control groups and files in tmpfs were. */
void sizing_explain_source(struct sizing *s, const struct runs *used, struct arena *arena);

/* Returns MiB, rounded up to 128, 256, 512, 1024, 2048, then whole GiB. 0 = `bytes` is unknown. */
uint64_t sizing_round_memory(double bytes);

/* Returns whole MiB, rounded up: most targets accept every MiB, and a target with larger steps has
 * its own rounding (recommender/advice/). At least 16; 0 = `bytes` is unknown. */
uint64_t sizing_round_up(double bytes);

/* Returns cores rounded to the nearest integer, at least 1. A half rounds to even, as in Python. 0
 * = unknown. */
uint64_t sizing_round_cores(double cores);

/* Smallest, largest and mean result of `get` over the runs. Unknown values are ignored. */
struct run_summary {
	size_t n;
	double min, max, mean;
};
struct run_summary run_needs_summary(const struct runs *runs, double (*get)(const struct run *));

#define WORDING_MAX 40
/* Each function writes a text for sentences, such as "1.50 GiB", "812 MiB", "2.5 h", to `out` and
 * returns `out`. */
const char *wording_bytes(char out[WORDING_MAX], double bytes);
const char *wording_seconds(char out[WORDING_MAX], double seconds);
const char *wording_share(char out[WORDING_MAX], double share); /* probability: "1.3 %" */
const char *wording_cores(char out[WORDING_MAX], double cores); /* "1 core", "1.5 cores" */
/* Writes the requested memory of `s`, as the summary does. */
const char *wording_request(char out[WORDING_MAX], const struct sizing *s);

/* Writes "5 successful runs" or "1 successful run". */
const char *wording_runs(char out[WORDING_MAX], size_t n);
/* Writes "5 runs" if killed runs may be among the `n` runs, else "5 successful runs". */
const char *wording_sized_runs(char out[WORDING_MAX], const struct sizing *s, size_t n);

/* Peaks of a run. NaN = unknown. */
double run_needs_gpus(const struct run *r);      /* number of GPUs in use at the same time */
double run_needs_gpu_usage(const struct run *r); /* computing power in use, in GPUs */
double run_needs_vram(const struct run *r);      /* GPU memory, bytes */

/* Returns the bytes of disk that a run needed. NaN = unknown. */
double run_needs_disk(const struct run *r);
/* Returns true if the disk use of one of these runs can contain that of other processes. */
bool run_needs_disk_shared(const struct runs *used);
/* Adds a sentence about the disk use of other processes if run_needs_disk_shared is true. */
void sizing_explain_shared_disk(struct sizing *s, const struct runs *used, struct arena *arena);

/* Returns the limit of a run that was killed for memory, in bytes. Returns its peak if the limit is
 * unknown. NaN = both unknown. */
double run_needs_killed_at(const struct run *r);

/* Settings of a strategy. */
struct sizing_method {
	const char *because;            /* end of the sentence "The request is ..." */
	const struct sizing_rule *rule; /* NULL = auto, at the risk in the options */
	double cpu_share;     /* the cores are enough for this share of the time; 0 = use cpu_for */
	bool cpu_fades;       /* as in the VPA: older runs weigh less, and 15 % is added */
	bool uses_percentile; /* options->percentile replaces cpu_share */
};
int sizing_by_method(const struct sizing_method *m, const struct runs *runs,
	const struct sizing_options *options, struct arena *arena, struct sizing *ret,
	struct err *e);

/* sizing_rule_of returns the rule of a strategy; `risk` selects the rule of auto.
 * sizing_rule_options returns the options of a rule: its defaults, changed by `options`. */
const struct sizing_rule *sizing_rule_of(const struct sizing_method *m, enum risk risk);
struct rule_options sizing_rule_options(const struct sizing_rule *rule,
	const struct sizing_options *options);

/* Returns the options of a rule that sizes memory: the result of sizing_rule_options, and the
 * errors of predictions learnt from other jobs (job_prior.h). All memory forecasts use this
 * function, so that they agree. */
struct rule_options sizing_memory_options(const struct sizing_rule *rule,
	const struct sizing_options *options);

/* ---- parts of sizing_by_method: each fills its members of `s` and explains them ---- */

void sizing_memory(struct sizing *s, const struct sizing_method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena);
void sizing_gpus(struct sizing *s, const struct sizing_method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena);
/* Adds a sentence about s->resources.gpu. `runs` is its subject: "3 successful runs". */
void sizing_explain_gpus(struct sizing *s, const char *runs, struct arena *arena);
void sizing_disk(struct sizing *s, const struct sizing_method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena);
void sizing_cpu(struct sizing *s, const struct sizing_method *m, const struct runs *used,
	const struct sizing_options *options, struct arena *arena);
/* Reads s->endings: a run that was ended from outside gives a lower bound of the duration. */
void sizing_duration(struct sizing *s, const struct runs *used,
	const struct sizing_options *options, struct arena *arena);

/* Sets s->summary. Call it last, because it reads the results of all parts above. */
void sizing_summary(struct sizing *s, const struct sizing_options *options, struct arena *arena);

/* Returns true if a run would be faster with more cores. Reads s->at_cores. */
bool sizing_gains_by_cores(const struct sizing *s);

/* Explains the time that the runs waited for a CPU and for other resources. Reads s->at_cores. */
void sizing_explain_waits(struct sizing *s, const struct runs *used, struct arena *arena);

/* Adds a warning if different jobs seem to share this job name. `announced`: the next run's input
 * size is known. */
void mixed_jobs_warn(struct sizing *s, const struct runs *used, bool announced,
	struct arena *arena);

/* ---- replay of runs to a rule ---- */

struct replayed {
	void *state;                 /* state of the rule; released by replay_done */
	size_t learnt;               /* number of successful runs that the rule has learnt */
	struct replay_record record; /* results, with REPLAY_SCORED only */
	/* Request after the newest runs met their memory limit; 0 = they did not. */
	double after_oom;
	/* Number of failed attempts that after_oom already makes up for. A failure without a kill
	 * raises after_oom once, so such failures count as one. */
	size_t failed_attempts;
	double killed_at; /* largest limit at which one of the newest runs was killed; 0 = none */
	/* Smallest limit at which one of the newest runs failed without a kill; 0 = none did. An
	 * older failure also counts if no later run needed as much as its limit. */
	double failed_at;
	/* A streak is a series of successive runs that met their limit. The rule learns from it
	 * after a later run succeeds, but only if no later run needed as much as the limit. */
	size_t kills; /* number of learnt streaks */
	/* Number of learnt streaks in which the kernel killed a run for memory. */
	size_t kills_seen;
	double kills_at, kills_need; /* largest limit and largest assumed peak of learnt streaks */
};
/* REPLAY_SCORED also compares the allocations of the rule with the peaks. This takes twice the
 * time. It changes the results of the rules krr and vpa: they then also learn from failed
 * attempts. */
enum replay_kind { REPLAY_UNSCORED, REPLAY_SCORED };
/* Replays the newest used->n successful runs to a rule, oldest first. If `peak` is
 * run_needs_memory, also replays the runs that met their limit (evidence.h). A series of successive
 * runs at their limit is learnt as one run that needed more than the limit, but only if no later
 * run needed as much.
 *
 * A rule that cannot learn a lower bound learns an assumed peak: the larger of limit + 20 % and
 * limit + 100 MiB. The Kubernetes VPA requests the same amount after a kill. A rule with
 * `successes_only` learns nothing from runs at their limit. */
void replay_runs(struct replayed *ret, const struct sizing_rule *rule,
	const struct rule_options *options, const struct runs *runs, const struct runs *used,
	double (*peak)(const struct run *), enum replay_kind how);
void replay_done(struct replayed *f);

/* Fills the forecast for the memory in s->demand, as the strategy auto computes it. Also fills
 * s->hindsight and s->hindsight_baseline if the options ask for them. Adds no sentence. `own` is
 * the replay of the strategy that sizes the job. `own_is_auto`: this strategy is auto, so auto need
 * not be replayed again. */
void sizing_judge_memory(struct sizing *s, struct replayed *own, bool own_is_auto,
	const struct runs *runs, const struct runs *used, const struct sizing_options *options);

/* The value that a memory limit must cover. The limit is the larger of two values: the demand, and
 * this value plus 5 % and 16 MiB. */
struct limit_base {
	double bytes;
	const char *name; /* in a sentence, as "the largest peak" */
	bool for_input;   /* the value is for the next run's input size */
};

/* Sets s->memory_bytes_limit from the largest peak of the runs. sizing_explain_limit adds the
 * sentences about that limit. */
struct limit_base sizing_limit_memory(struct sizing *s, const struct runs *used);
void sizing_explain_limit(struct sizing *s, const struct limit_base *base, struct arena *arena);

double sizing_next_input(const struct sizing_options *options); /* NaN = unknown */
/* Returns the input size of a run: the announced size, or the bytes read if no run of the job
 * announced a size. NaN = unknown. */
double sizing_run_input(const struct run *r, bool announced);
bool sizing_any_announced(const struct runs *used);

int baseline_size(const struct runs *runs, const struct sizing_options *options,
	struct arena *arena, struct sizing *ret, struct err *e);

#endif
