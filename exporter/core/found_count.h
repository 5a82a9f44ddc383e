/* What went wrong when runs were looked for, counted for /metrics. Any thread. */
#ifndef EXPORTER_FOUND_COUNT_H
#define EXPORTER_FOUND_COUNT_H

#include <stdint.h>

enum found_problem {
	FOUND_TOO_MANY_JOBS,   /* runs that are not followed: more jobs than --jobs.max */
	FOUND_NOT_FOLLOWED,    /* runs that are not followed for another reason */
	FOUND_UNREADABLE,      /* processes whose environment may not be read */
	FOUND_PATTERN_GAVE_UP, /* patterns of rules that took too many steps */
	FOUND_PROBLEMS,
};

const char *found_problem_name(enum found_problem p); /* "too_many_jobs", ... */

void found_count(enum found_problem p, uint64_t n);
uint64_t found_counted(enum found_problem p);

#endif
