/*
 * What jobs cost: an immutable table that the thread of job_costs.c makes and the collector of costs_metrics.c shows.
 */
#ifndef EXPORTER_COSTS_TABLE_H
#define EXPORTER_COSTS_TABLE_H

#include "collectors/base/latest.h"
#include "collectors/base/mem.h"
#include "exporter/answers/job_cost.h"

struct cost_row {
	const char *job_name;
	double total,
		last; /* US dollars of all runs, and of the newest that ended; NaN = unknown */
	struct offer offer[OFFERS];
	const char *source, *as_of; /* of the prices */
};

struct cost_table {
	struct shared shared;
	struct arena memory; /* all rows and texts */
	double catalogue_at; /* when its prices were fetched or held, seconds since 1970 UTC; NaN = unknown */
	size_t n;
	struct cost_row *row;
};

/* Empty rows; released as a whole. */
struct cost_table *cost_table_new(size_t n);

void cost_table_publish(struct cost_table *take); /* NULL = there is none any more */

#endif
