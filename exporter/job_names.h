/*
 * How many different jobs there may be: a name that changes with each run must not flood Prometheus. A name that had no
 * run for JOB_NAME_REST_SECONDS makes room for another.
 */
#ifndef EXPORTER_JOB_NAMES_H
#define EXPORTER_JOB_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/clock.h"
#include "collectors/runs.h"

#define JOB_NAME_REST_SECONDS 86400

struct job_names {
	size_t n, room, max;
	struct {
		char name[JOB_NAME_MAX];
		struct mono used;
	} * name;
};

/* A run of this job begins or goes on; false when there are too many jobs already. */
bool job_names_admit(struct job_names *j, const char *name, struct mono now);
void job_names_done(struct job_names *j);

#endif
