/* Counters. */
#include "exporter/core/found_count.h"

#include <stdatomic.h>

static const char *const names[FOUND_PROBLEMS] = {
	[FOUND_TOO_MANY_JOBS] = "too_many_jobs",
	[FOUND_NOT_FOLLOWED] = "not_followed",
	[FOUND_UNREADABLE] = "environment_unreadable",
	[FOUND_PATTERN_GAVE_UP] = "pattern_gave_up",
};

static atomic_uint_least64_t counts[FOUND_PROBLEMS];

const char *found_problem_name(enum found_problem p)
{
	return names[p];
}

void found_count(enum found_problem p, uint64_t n)
{
	atomic_fetch_add_explicit(&counts[p], n, memory_order_relaxed);
}

uint64_t found_counted(enum found_problem p)
{
	return atomic_load_explicit(&counts[p], memory_order_relaxed);
}
