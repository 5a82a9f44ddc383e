/* Finds jobs that look like one job, because their names differ only in a date, a time, a number or
 * a hash. Such jobs do not learn from each other's runs. */
#ifndef EXPORTER_ANSWERS_DATED_NAMES_H
#define EXPORTER_ANSWERS_DATED_NAMES_H

#include "exporter/history/history.h"
#include "recommender/sizing/sizing.h"

struct dated_names {
	/* number of other jobs whose names have this `shape`; 0 if too few for a warning */
	size_t others;
	char shape[JOB_NAME_MAX]; /* the name with "*" in place of the part that differs */
};

/* Compares the job's name with the names that sort next to it in the history. Reads no names if
 * this name contains no date, time, number or hash. */
int dated_names_find(struct history *h, const char *job_name, struct dated_names *ret,
	struct err *e);

/* Adds a warning if d->others is not 0. */
void dated_names_warn(const struct dated_names *d, struct sizing *s, struct arena *arena);

#endif
