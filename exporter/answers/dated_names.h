/* Finds jobs that look like one job, because their names differ in a date, a time, a number or a
 * hash only. Each of them learns alone. */
#ifndef EXPORTER_ANSWERS_DATED_NAMES_H
#define EXPORTER_ANSWERS_DATED_NAMES_H

#include "exporter/history/history.h"
#include "recommender/sizing/sizing.h"

struct dated_names {
	size_t others;            /* other jobs with this shape; 0 = too few to tell */
	char shape[JOB_NAME_MAX]; /* the name with "*" in place of what differs */
};

/* Compares the name with the names that sort next to it. Reads no names if this name has no such
 * part. */
int dated_names_find(struct history *h, const char *job_name, struct dated_names *ret,
	struct err *e);

/* Adds a warning if there are such jobs. */
void dated_names_warn(const struct dated_names *d, struct sizing *s, struct arena *arena);

#endif
