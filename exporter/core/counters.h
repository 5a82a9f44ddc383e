/* Counters for /metrics. Any thread may call these functions. */
#ifndef EXPORTER_CORE_COUNTERS_H
#define EXPORTER_CORE_COUNTERS_H

#include <stdint.h>

/* Counts one answered request in the metric rightsize_http_requests_total. `handler` is the path of
 * the route that answered. It must be a static text. At most 64 different handlers are possible. */
void counters_http_add(const char *handler, int status);

/* Calls `each` for every pair of handler and status with a count above 0. */
void counters_http_each(void (*each)(void *context, const char *handler, const char *code,
				uint64_t n),
	void *context);

/* Adds `n` to the count of runs with an impossible number, such as more memory than the machine has
 * (recommender/plausible.h). The history stores no number of such a run. */
void counters_not_plausible_add(uint64_t n);
uint64_t counters_not_plausible(void);

/* ---- problems in the discovery of runs ---- */
enum found_problem {
	/* Runs that were ignored because there were more jobs than --jobs.max. */
	FOUND_TOO_MANY_JOBS,
	FOUND_NOT_FOLLOWED, /* runs that were ignored for another reason */
	FOUND_UNREADABLE,   /* processes whose environment may not be read */
	/* patterns of --jobs.rules that were given up because they took too many steps */
	FOUND_PATTERN_GAVE_UP,
	FOUND_PROBLEMS,
};

const char *counters_found_name(enum found_problem p); /* "too_many_jobs", ... */

void counters_found_add(enum found_problem p, uint64_t n);
uint64_t counters_found(enum found_problem p);

#endif
