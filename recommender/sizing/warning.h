/* Warnings of a sizing: facts about a job that a person or a program must know before it acts on
 * the answer. Each warning has a row in `warning_rows`. The rows marked `unsafe` forbid automatic
 * tuning: `apply.safe` of an answer is false as long as one of them is present. */
#ifndef RECOMMENDER_SIZING_WARNING_H
#define RECOMMENDER_SIZING_WARNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/rule.h"

enum warning_code {
	WARNING_FEW_RUNS,
	WARNING_MEMORY_UNKNOWN,
	WARNING_CPU_UNKNOWN,
	WARNING_NEWEST_RUNS_FAILED,
	WARNING_KILLED_FOR_MEMORY,
	WARNING_KILLED_AGAIN,
	WARNING_FAILED_AT_MEMORY_LIMIT,
	WARNING_FAILS_AT_ANY_LIMIT,
	/* Automatic tuning is safe despite this warning: the request is the smallest limit that was
	 * enough, so it does not grow with each run. A lowered limit may be too small.
	 * WARNING_LIMIT_NOT_PROVEN therefore forbids automatic tuning until HELD_RUNS runs have
	 * succeeded under it without being slow. */
	WARNING_MEMORY_FOLLOWS_LIMIT,
	WARNING_LIMIT_NOT_PROVEN,
	WARNING_RECLAIMABLE_MEMORY,
	WARNING_MEMORY_SWAPPED,
	WARNING_FAILED_RUNS_USED_MORE,
	WARNING_CUT_BY_TIME_LIMIT,
	WARNING_MIXED_JOBS,
	WARNING_CHANGE_NOT_SETTLED,
	WARNING_INPUT_BEYOND_SEEN,
	WARNING_NOT_MEASURED,
	WARNING_UNCERTAIN_CPU,
	WARNING_CPU_PEAK_UNKNOWN,
	WARNING_WAITS_FOR_CPU,
	WARNING_BUSY_MACHINE,
	WARNING_TASKS_REFUSED,
	WARNING_GPU_HARDLY_USED,
	WARNING_DATED_NAMES,
	WARNING_NOT_SIZED,
	WARNING_CODES,
};

/* Runs that must succeed under a lowered limit before the warning limit_not_proven ends. The
 * warning few_runs ends after the same number of runs. */
#define HELD_RUNS RUNS_FOR_SPREAD

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL };
const char *severity_name(enum severity s); /* "info", "warning", "critical" */

struct warning_row {
	const char *code; /* in answers and labels: "few_runs" */
	enum severity severity;
	bool unsafe;      /* forbids automatic tuning */
	const char *help; /* a text that says when the warning is given */
};
extern const struct warning_row warning_rows[WARNING_CODES];

struct warning {
	enum warning_code code;
	const char *text; /* one or more sentences; owned by the arena of warnings_add */
	size_t runs;      /* runs that show the problem; 0 = not about single runs */
};

/* Warnings of a sizing, the most severe first. Each code occurs at most once. */
struct warnings {
	size_t n;
	struct warning at[WARNING_CODES];
};

/* Adds a warning, or replaces the one with the same code. The text is copied to `arena`. */
void warnings_add(struct warnings *w, struct arena *arena, enum warning_code code, size_t runs,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Convert warnings to a set of codes and back. Bit i stands for the warning with code i. The
 * warnings of warnings_from_codes have empty texts and 0 runs. */
uint32_t warnings_codes(const struct warnings *w);
struct warnings warnings_from_codes(uint32_t codes);

bool warnings_have(const struct warnings *w, enum warning_code code);

/* Returns false when one of the warnings forbids automatic tuning. */
bool warnings_allow_apply(const struct warnings *w);

#endif
