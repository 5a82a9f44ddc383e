/* Counters for /metrics. Any thread. */
#ifndef EXPORTER_CORE_COUNTERS_H
#define EXPORTER_CORE_COUNTERS_H

#include <stdint.h>

/*
 * Requests that were answered: rightsize_http_requests_total. handler is the path of what answered, one of a few, and must live as long as
 * the program.
 */
void counters_http_add(const char *handler, int status);

/* Calls each for every pair that was counted at least once. */
void counters_http_each(void (*each)(void *context, const char *handler, const char *code,
				uint64_t n),
	void *context);

/* ---- what went wrong when runs were looked for ---- */
enum found_problem {
	FOUND_TOO_MANY_JOBS,   /* runs that are not followed: more jobs than --jobs.max */
	FOUND_NOT_FOLLOWED,    /* runs that are not followed for another reason */
	FOUND_UNREADABLE,      /* processes whose environment may not be read */
	FOUND_PATTERN_GAVE_UP, /* patterns of rules that took too many steps */
	FOUND_PROBLEMS,
};

const char *counters_found_name(enum found_problem p); /* "too_many_jobs", ... */

void counters_found_add(enum found_problem p, uint64_t n);
uint64_t counters_found(enum found_problem p);

#endif
